/**
 * How the text of a flag is read, a grammar a type, with the errors of the published command line.
 * Source: the fact sheet of the 1.33 agent, flags and configuration, and the answers of a live one.
 */
import { parseDuration } from "../../../wire/durations.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import { labelValueErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import { parseQuantity } from "../../../wire/quantity.ts";
import { tryParseIp } from "../../expressions/library/ip-address.ts";
import type { FlagType } from "./flag-row.ts";

/** What a flag or a field holds. Durations are microseconds. */
export type FlagValue =
  | boolean
  | number
  | string
  | readonly string[]
  | Readonly<Record<string, string>>
  | Readonly<Record<string, boolean>>
  | readonly TaintValue[]
  | readonly ReservedMemory[]
  | readonly HeaderValue[];

export interface TaintValue {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface ReservedMemory {
  readonly numaNode: number;
  readonly limits: Readonly<Record<string, string>>;
}

export type HeaderValue = readonly [name: string, value: string];

export type ReadValue = { readonly value: FlagValue } | { readonly error: string };

/** `before` is what the same flag said earlier on the command line; undefined: this is the first. */
type Reader = (text: string, before: FlagValue | undefined) => ReadValue;

const readers: Readonly<Record<FlagType, Reader>> = {
  bool: readBool,
  help: readBool,
  version: readVersion,
  int32: (text) => readInteger(text, 2 ** 31),
  level: readLevel,
  int: (text) => readInteger(text, 2 ** 63),
  duration: readDuration,
  string: (text) => ({ value: text }),
  strings: readStrings,
  ip: readIp,
  bytes: readBytes,
  gates: readGates,
  labels: readLabels,
  pairs: (text, before) => readPairs(text, "=", before),
  thresholds: (text, before) => readPairs(text, "<", before),
  headers: readHeaders,
  taints: readTaints,
  reservedMemory: readReservedMemory,
  vmodule: readVmodule,
};

export function readFlag(type: FlagType, text: string, before?: FlagValue): ReadValue {
  return readers[type](text, before);
}

/** Without a value these are true. */
export const mayStandAlone = (type: FlagType): boolean => type === "bool" || type === "help" || type === "version";

const trueWords = ["1", "t", "T", "TRUE", "true", "True"];
const falseWords = ["0", "f", "F", "FALSE", "false", "False"];

function readBool(text: string): ReadValue {
  if (trueWords.includes(text)) return { value: true };
  if (falseWords.includes(text)) return { value: false };
  return { error: `strconv.ParseBool: parsing ${goQuote(text)}: invalid syntax` };
}

/** As a bool of Go's is read; what is none is not true. */
export const isTrue = (text: string | undefined): boolean => text !== undefined && trueWords.includes(text);

export function boolProblem(text: string): string | undefined {
  const read = readBool(text);
  return "error" in read ? read.error : undefined;
}

/** The release that the agent says it is. */
export const agentVersion = "v1.33.3";

function readVersion(text: string): ReadValue {
  if (text === "raw") return { value: text };
  if (!text.startsWith("v")) return readBool(text);
  const release = /^v\d+\.\d+\.\d+/.exec(text)?.[0];
  if (release === agentVersion) return { value: text };
  return {
    error: `version ${goQuote(text)} must match major/minor/patch of default version ${goQuote(agentVersion)}`,
  };
}

const integer = /^([+-]?)(0[xX][\da-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|[1-9][\d_]*|0)$/;

/** Of Go's literals: bases by their prefixes, and underscores between digits. */
function readInteger(text: string, limit: number): ReadValue {
  const [whole, sign, digits = ""] = integer.exec(text) ?? [];
  const failed = (why: string): ReadValue => ({ error: `strconv.ParseInt: parsing ${goQuote(text)}: ${why}` });
  if (whole === undefined || /__|_$/.test(digits)) return failed("invalid syntax");
  const plain = digits.replaceAll("_", "").replace(/^0(?=[0-7]+$)/, "0o");
  const value = BigInt(plain) * (sign === "-" ? -1n : 1n);
  if (value >= BigInt(limit) || value < -BigInt(limit)) return failed("value out of range");
  return { value: Number(value) };
}

function readDuration(text: string): ReadValue {
  const nanos = parseDuration(text);
  return typeof nanos === "bigint" ? { value: Number(nanos) / 1000 } : { error: nanos.error };
}

function readStrings(text: string, before: FlagValue | undefined): ReadValue {
  const fields = commaList(text);
  return "error" in fields ? fields : { value: [...((before as readonly string[]) ?? []), ...fields.list] };
}

/** Comma-separated values as tables are written: a field may stand in double quotes, two of which are one in it. */
function commaList(text: string): { readonly list: readonly string[] } | { readonly error: string } {
  const list: string[] = [];
  const wrong = (at: number, why: string) => ({ error: `parse error on line 1, column ${at + 1}: ${why}` });
  const [missing, bare] = ['extraneous or missing " in quoted-field', 'bare " in non-quoted field'];
  for (let at = 0; text !== "" && at <= text.length; ) {
    const isQuoted = text[at] === '"';
    const [field = ""] = (isQuoted ? quotedField : plainField).exec(text.slice(at)) ?? [];
    const end = at + field.length;
    if (isQuoted && field === "") return wrong(text.length, missing);
    if (end < text.length && text[end] !== ",") return isQuoted ? wrong(end - 1, missing) : wrong(end, bare);
    list.push(isQuoted ? field.slice(1, -1).replaceAll('""', '"') : field);
    at = end + 1;
  }
  return { list };
}

const quotedField = /^"(?:[^"]|"")*"/;
const plainField = /^[^,"]*/;

/** Numbers of an IPv4 address may begin with zeros, which count for nothing. Empty text leaves what was there. */
function readIp(text: string, before: FlagValue | undefined): ReadValue {
  if (text === "") return { value: before ?? "" };
  const plain = /^[\d.]+$/.test(text) ? text.replaceAll(/(?<=^|\.)0+(?=\d)/g, "") : text;
  return tryParseIp(plain) !== undefined ? { value: plain } : { error: `${goQuote(text)} is not a valid IP address` };
}

function readLevel(text: string): ReadValue {
  const failed = (why: string): ReadValue => ({ error: `strconv.ParseUint: parsing ${goQuote(text)}: ${why}` });
  if (!/^\d+$/.test(text)) return failed("invalid syntax");
  return Number(text) < 2 ** 31 ? { value: Number(text) } : failed("value out of range");
}

/** Addresses of --node-ip; what is none is passed over. */
export function nodeIpsIn(text: string): readonly string[] {
  return text.split(",").flatMap((item) => {
    const read = readIp(item.trim(), undefined);
    return "value" in read && read.value !== "" ? [read.value as string] : [];
  });
}

function readBytes(text: string): ReadValue {
  const quantity = parseQuantity(text);
  return "error" in quantity ? { error: quantity.error } : { value: text };
}

type Pair = readonly [key: string, value: string];

/** Empty items are skipped; an item is split at the first separator; a key that comes twice has its last value. */
function pairsIn(text: string, separator: string): readonly Pair[] | undefined {
  const items = text.split(",").filter((item) => item !== "");
  const pairs = items.map((item): Pair | undefined => {
    const at = item.indexOf(separator);
    return at < 0 ? undefined : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
  });
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

function readPairs(text: string, separator: "=" | "<", before: FlagValue | undefined): ReadValue {
  const pairs = pairsIn(text, separator);
  if (pairs === undefined) return { error: `malformed pair, expect string${separator}string` };
  return { value: { ...(before as Readonly<Record<string, string>> | undefined), ...Object.fromEntries(pairs) } };
}

function readGates(text: string, before: FlagValue | undefined): ReadValue {
  const pairs = pairsIn(text, "=");
  if (pairs === undefined) return { error: "malformed pair, expect string=bool" };
  const gates: Record<string, boolean> = { ...(before as Readonly<Record<string, boolean>> | undefined) };
  for (const [gate, word] of pairs) {
    const read = readBool(word);
    if ("error" in read) return { error: `invalid value of ${gate}: ${word}, err: ${read.error}` };
    gates[gate] = read.value as boolean;
  }
  return { value: gates };
}

/** A key without a value has an empty one. */
function readLabels(text: string, before: FlagValue | undefined): ReadValue {
  const labels = text
    .split(",")
    .filter((item) => item !== "")
    .map((item): Pair => {
      const at = item.indexOf("=");
      return at < 0 ? [item.trim(), ""] : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
    });
  return { value: { ...(before as Readonly<Record<string, string>> | undefined), ...Object.fromEntries(labels) } };
}

/** Names may come again: all of their values count, in order. */
function readHeaders(text: string, before: FlagValue | undefined): ReadValue {
  const pairs = pairsIn(text, ":");
  if (pairs === undefined) return { error: "malformed pair, expect string:string" };
  return { value: [...((before as readonly HeaderValue[] | undefined) ?? []), ...pairs] };
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function readTaints(text: string, before: FlagValue | undefined): ReadValue {
  const taints = [...((before as readonly TaintValue[] | undefined) ?? [])];
  for (const spec of text === "" ? [] : text.split(",")) {
    // With a hyphen behind it a taint is to be taken away: it is read, and nothing is there to be taken.
    const isTaken = spec.endsWith("-");
    const taint = readTaint(isTaken ? spec.slice(0, -1) : spec, isTaken);
    if ("error" in taint) return taint;
    if (isTaken) continue;
    if (taints.some(({ key, effect }) => key === taint.key && effect === taint.effect)) {
      return { error: `duplicated taints with the same key and effect: ${spec}` };
    }
    taints.push(taint);
  }
  return { value: taints };
}

function readTaint(spec: string, isTaken: boolean): TaintValue | { readonly error: string } {
  const invalid = (why = ""): { readonly error: string } => ({
    error: `invalid taint spec: ${spec}${why === "" ? "" : `, ${why}`}`,
  });
  const [named = "", effect, ...rest] = spec.split(":");
  if (rest.length > 0) return invalid();
  // Without an effect all of it is a key, and only to be taken away: nothing is.
  const [key = "", value, ...more] = effect === undefined ? [named] : named.split("=");
  if (more.length > 0) return invalid();
  if (effect !== undefined && !effects.includes(effect)) {
    return { error: `invalid taint effect: ${effect}, unsupported taint effect` };
  }
  const errors = [...qualifiedNameErrors(key), ...(value === undefined ? [] : labelValueErrors(value))];
  if (errors.length > 0) return invalid(errors.join("; "));
  if (effect === undefined && !isTaken) return invalid();
  return { key, ...(value === undefined || value === "" ? {} : { value }), effect: effect ?? "" };
}

function readReservedMemory(text: string, before: FlagValue | undefined): ReadValue {
  const read: ReservedMemory[] = [...((before as readonly ReservedMemory[] | undefined) ?? [])];
  for (const part of text === "" ? [] : text.split(";")) {
    const wrong = {
      error: `the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got ${part}`,
    };
    const [numa = "", list, ...rest] = part.split(":");
    if (list === undefined || rest.length > 0) return wrong;
    if (!/^[+-]?\d+$/.test(numa)) {
      return {
        error: `failed to convert the NUMA node ID, exiting: strconv.Atoi: parsing ${goQuote(numa)}: invalid syntax`,
      };
    }
    const pairs = pairsIn(list, "=");
    if (pairs === undefined || pairs.length === 0) return wrong;
    for (const [type, amount] of pairs) {
      if (type !== "memory" && !type.startsWith("hugepages-"))
        return { error: `memory type conversion error, unknown type: ${goQuote(type)}` };
      const quantity = parseQuantity(amount);
      if ("error" in quantity)
        return { error: `failed to parse reserved memory quantity ${goQuote(amount)}: ${quantity.error}` };
    }
    read.push({ numaNode: Number(numa), limits: Object.fromEntries(pairs) });
  }
  return { value: read };
}

function readVmodule(text: string, before: FlagValue | undefined): ReadValue {
  const levels: Record<string, string> = { ...(before as Readonly<Record<string, string>> | undefined) };
  for (const item of text.split(",").filter((each) => each !== "")) {
    const [pattern = "", level = "", ...rest] = item.split("=");
    if (pattern === "" || level === "" || rest.length > 0) {
      return { error: `${goQuote(item)} does not have the pattern=N format` };
    }
    if (!/^\d+$/.test(level) || Number(level) >= 2 ** 31) {
      const why = /^\d+$/.test(level) ? "value out of range" : "invalid syntax";
      return { error: `parsing verbosity in ${goQuote(item)}: strconv.ParseUint: parsing ${goQuote(level)}: ${why}` };
    }
    levels[pattern] = level;
  }
  return { value: levels };
}

/**
 * Values of flags, beyond what the parser library has. Each error names the value, the rule and what to do.
 */
import { defaultAddressTypes } from "../../sim/apiserver/proxy/address-types.ts";
import { type Message, message, text, value as literal } from "@optique/core/message";
import { findSimilar } from "@optique/core/suggestion";
import type { ValueParser, ValueParserResult } from "@optique/core/valueparser";
import { type ServerBugName, serverBugNames } from "../../sim/planted/server-bugs.ts";
import { authorizationModes } from "../../sim/apiserver/access/modes.ts";
import {
  defaultServiceNetwork,
  readServiceNetwork,
  type ServiceNetwork,
} from "../../sim/apiserver/verbs/service-network.ts";
import { type FeatureGates, svcProfile } from "../../sim/contract/profile.ts";
import { type TopicName, topicNames } from "../../conformance/diff/topic-names.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { parseDuration } from "../../wire/durations.ts";

type Parsed<T> = ValueParserResult<T>;
type Metavar = ValueParser["metavar"];

function valueParser<T>(
  metavar: Metavar,
  placeholder: T,
  parse: (input: string) => Parsed<T>,
  format: (value: T) => string,
  suggestions: readonly string[] = [],
): ValueParser<"sync", T> {
  return {
    mode: "sync",
    metavar,
    placeholder,
    parse,
    format,
    *suggest(prefix) {
      for (const name of suggestions) if (name.startsWith(prefix)) yield { kind: "literal", text: name };
    },
  };
}

const refuse = (error: Message): { success: false; error: Message } => ({ success: false, error });

/** A positive duration as Go writes it (`90s`, `5m`, `1h30m`), in microseconds. */
export function duration(): ValueParser<"sync", number> {
  const rule = "a duration above zero as Go writes it, such as 90s, 5m or 1h30m";
  const parse = (input: string): Parsed<number> => {
    const micros = microsOf(input);
    if (micros === undefined || micros < 1) return refuse(message`Expected ${text(rule)}, but got ${input}.`);
    return { success: true, value: micros };
  };
  return valueParser("DURATION", 1_000_000, parse, formatMicros);
}

function microsOf(input: string): number | undefined {
  const nanos = parseDuration(input);
  if (typeof nanos !== "bigint") return undefined;
  const micros = Number(nanos / 1000n);
  return Number.isSafeInteger(micros) ? micros : undefined;
}

function formatMicros(micros: number): string {
  const units = [
    ["h", 3_600_000_000],
    ["m", 60_000_000],
    ["s", 1_000_000],
    ["ms", 1000],
  ] as const;
  const [unit, size] = units.find(([, size]) => micros % size === 0) ?? ["µs", 1];
  return `${micros / size}${unit}`;
}

/** An amount of memory above zero, in bytes or as a quantity, in bytes. */
export const byteCount = (): ValueParser<"sync", number> => valueParser("BYTES", 1, parseBytes, String);

export interface TypedBytes {
  readonly bytes: number;
  /** As it was typed. */
  readonly text: string;
}

/** As `byteCount`, for what is told again in the words in which it was given. */
export function typedBytes(): ValueParser<"sync", TypedBytes> {
  const parse = (input: string): Parsed<TypedBytes> => {
    const parsed = parseBytes(input);
    return parsed.success ? { success: true, value: { bytes: parsed.value, text: input } } : parsed;
  };
  return valueParser("BYTES", { bytes: 1, text: "1" }, parse, ({ text: typed }) => typed);
}

function parseBytes(input: string): Parsed<number> {
  const rule = "an amount of memory above zero, in bytes or as 256Mi or 2Gi";
  const amount = parseQuantity(input);
  const bytes = "error" in amount ? Number.NaN : Number(quantityAt(amount, 0));
  if (!Number.isSafeInteger(bytes) || bytes < 1) return refuse(message`Expected ${text(rule)}, but got ${input}.`);
  return { success: true, value: bytes };
}

/** The block of addresses that services are given. */
export function serviceNetwork(): ValueParser<"sync", ServiceNetwork> {
  const parse = (input: string): Parsed<ServiceNetwork> => {
    const value = readServiceNetwork(input);
    return typeof value === "string"
      ? refuse(message`Expected ${text(value)}, but got ${input}.`)
      : { success: true, value };
  };
  return valueParser("CIDR", defaultServiceNetwork, parse, (network) => network.text);
}

/** The name of a planted fault of the embedded server. */
export function fault(): ValueParser<"sync", ServerBugName> {
  return valueParser("NAME", "list-null-items" as ServerBugName, parseFault, (name) => name, serverBugNames);
}

function parseFault(input: string): Parsed<ServerBugName> {
  if ((serverBugNames as readonly string[]).includes(input)) return { success: true, value: input as ServerBugName };
  if (input === "all") {
    return refuse(
      message`This flag plants one bug by its name: ${text("`conform --faults all` tries each of them in turn.")}`,
    );
  }
  if (input.includes(",")) {
    return refuse(
      message`This flag plants one bug by its name: give it once for each, ${text(`or hunt them in turn with \`conform --faults ${input}\`.`)}`,
    );
  }
  const near = findSimilar(input, serverBugNames, { maxDistance: 12, maxDistanceRatio: 0.6, maxSuggestions: 4 });
  const listed = near.length > 0 ? `Near names: ${near.join(", ")}.` : "docs/faults.md has their names.";
  return refuse(message`No planted bug is called ${input}. ${text(listed)}`);
}

/** `all`, or names of planted faults joined by commas, each once. */
export function faultList(): ValueParser<"sync", readonly ServerBugName[]> {
  const parse = (input: string): Parsed<readonly ServerBugName[]> => {
    if (input === "all") return { success: true, value: serverBugNames };
    const names = new Set<ServerBugName>();
    for (const word of input.split(",")) {
      if (word.trim() === "all") return refuse(message`all means every bug: give it alone, or names without it.`);
      const parsed = parseFault(word.trim());
      if (!parsed.success) return parsed;
      if (names.has(parsed.value)) return refuse(message`Fault ${parsed.value} is given twice: give it once.`);
      names.add(parsed.value);
    }
    return { success: true, value: [...names] };
  };
  return valueParser("all|NAMES" as Metavar, serverBugNames, parse, (names) => names.join(","), [
    "all",
    ...serverBugNames,
  ]);
}

const gateNames = Object.keys(svcProfile.featureGates) as (keyof FeatureGates)[];

/** `A=true,B=false`, as the real server takes it. */
export function featureGates(): ValueParser<"sync", Partial<FeatureGates>> {
  const parse = (input: string): Parsed<Partial<FeatureGates>> => {
    const gates: Partial<Record<keyof FeatureGates, boolean>> = {};
    for (const part of input.split(",")) {
      const [name = "", state = ""] = part.split("=", 2).map((word) => word.trim());
      const gate = gateNames.find((known) => known === name);
      if (gate === undefined)
        return refuse(message`No feature gate is called ${name}. ${text(`Gates: ${gateNames.join(", ")}.`)}`);
      if (state !== "true" && state !== "false") {
        return refuse(
          message`Feature gate ${text(gate)} must be true or false, as in ${literal(`${gate}=true`)}, but got ${part}.`,
        );
      }
      gates[gate] = state === "true";
    }
    return { success: true, value: gates };
  };
  const format = (gates: Partial<FeatureGates>): string =>
    Object.entries(gates)
      .map(([name, on]) => `${name}=${on}`)
      .join(",");
  return valueParser(
    "GATES",
    {},
    parse,
    format,
    gateNames.map((name) => `${name}=`),
  );
}

/** `RBAC,AlwaysDeny`: modes in the order in which they are asked, each once. */
/** Those that need nobody else, and the one that asks a webhook. */
const flagModes = [...authorizationModes, "Webhook"] as const;
type FlagMode = (typeof flagModes)[number];

export function authorizationModeList(): ValueParser<"sync", readonly FlagMode[]> {
  const parse = (input: string): Parsed<readonly FlagMode[]> => {
    const modes: FlagMode[] = [];
    for (const word of input.split(",")) {
      const mode = flagModes.find((known) => known === word.trim());
      if (mode === undefined)
        return refuse(message`No authorization mode is called ${word}. ${text(`Modes: ${flagModes.join(", ")}.`)}`);
      if (modes.includes(mode)) return refuse(message`Authorization mode ${text(mode)} is given twice: give it once.`);
      modes.push(mode);
    }
    return { success: true, value: modes };
  };
  return valueParser("MODES", ["AlwaysAllow"], parse, (modes) => modes.join(","), flagModes);
}

/** Types of a node's addresses, joined by commas. */
export function addressTypeList(): ValueParser<"sync", readonly string[]> {
  const parse = (input: string): Parsed<readonly string[]> => {
    const types = input.split(",").map((word) => word.trim());
    const wrong = types.find((type) => !defaultAddressTypes.includes(type));
    if (wrong === undefined) return { success: true, value: types };
    return refuse(message`No type of address is called ${wrong}. ${text(`Types: ${defaultAddressTypes.join(", ")}.`)}`);
  };
  return valueParser("TYPES", defaultAddressTypes, parse, (types) => types.join(","), defaultAddressTypes);
}

/** Words joined by commas, none of them empty. */
export function commaList(metavar: Metavar): ValueParser<"sync", readonly string[]> {
  const parse = (input: string): Parsed<readonly string[]> => {
    const words = input.split(",").map((word) => word.trim());
    if (words.includes(""))
      return refuse(message`Expected names joined by commas, none of them empty, but got ${input}.`);
    return { success: true, value: words };
  };
  return valueParser(metavar, ["x"], parse, (words) => words.join(","));
}

/** An absolute http or https URL, which may carry a path prefix, without a trailing slash. */
export function serverUrl(): ValueParser<"sync", string> {
  const parse = (input: string): Parsed<string> => {
    const url = URL.parse(input);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      return refuse(
        message`Expected the URL of a server, such as ${literal("http://127.0.0.1:8001")}, but got ${input}.`,
      );
    }
    if (url.search !== "" || url.hash !== "")
      return refuse(message`The URL of a server has no query and no fragment, but got ${input}.`);
    if (url.username !== "")
      return refuse(message`Credentials do not go into the URL: use ${literal("--token-file")} instead.`);
    return { success: true, value: url.origin + url.pathname.replace(/\/+$/, "") };
  };
  return valueParser("URL", "http://127.0.0.1:8001", parse, (url) => url);
}

/** One side of a comparison. */
export type SideAddress =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "svcconfig"; readonly file: string }
  | { readonly kind: "embedded"; readonly profile: "svc" | "kubernetes" };

/** A place that another machine can reach: a name or an address, and a port when one is given. */
export interface HostAndPort {
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number | undefined;
}

/** `HOST` or `HOST:PORT`; an IPv6 address in brackets. */
export function hostAndPort(metavar: Metavar): ValueParser<"sync", HostAndPort> {
  const parse = (input: string): Parsed<HostAndPort> => {
    const [, bracketed, plain, portText] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(input) ?? [];
    const port = portText === undefined ? undefined : Number(portText);
    const host = bracketed ?? plain;
    if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) {
      return refuse(
        message`Expected a host and perhaps a port, such as ${literal("10.0.0.7")} or ${literal("ci.example.com:8443")}, but got ${input}.`,
      );
    }
    return { success: true, value: { host, port } };
  };
  return valueParser(metavar, { host: "127.0.0.1", port: undefined }, parse, shownAddress);
}

export function shownAddress({ host, port }: HostAndPort): string {
  return `${host.includes(":") ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}`;
}

/** A URL, `svcconfig:FILE`, `embedded:svc` or `embedded:kubernetes`. */
export function sideAddress(metavar: Metavar): ValueParser<"sync", SideAddress> {
  const embedded = ["embedded:svc", "embedded:kubernetes"] as const;
  const url = serverUrl();
  const parse = (input: string): Parsed<SideAddress> => {
    const name = embedded.find((known) => known === input);
    if (name !== undefined) {
      return { success: true, value: { kind: "embedded", profile: name === "embedded:svc" ? "svc" : "kubernetes" } };
    }
    const file = /^svcconfig:(.+)$/.exec(input)?.[1];
    if (file !== undefined) return { success: true, value: { kind: "svcconfig", file } };
    if (!/^https?:/.test(input)) {
      return refuse(
        message`Expected a URL, such as ${literal("http://127.0.0.1:8001")}, ${literal("svcconfig:FILE")}, ${literal("embedded:svc")} or ${literal("embedded:kubernetes")}, but got ${input}.`,
      );
    }
    const parsed = url.parse(input);
    return parsed.success ? { success: true, value: { kind: "url", url: parsed.value } } : parsed;
  };
  return valueParser(metavar, { kind: "embedded", profile: "svc" }, parse, sideText, embedded);
}

export function sideText(side: SideAddress): string {
  if (side.kind === "url") return side.url;
  return side.kind === "svcconfig" ? `svcconfig:${side.file}` : `embedded:${side.profile}`;
}

/** Topics of a comparison, joined by commas. */
export function topicList(): ValueParser<"sync", readonly TopicName[]> {
  const parse = (input: string): Parsed<readonly TopicName[]> => {
    const topics: TopicName[] = [];
    for (const word of input.split(",")) {
      const topic = topicNames.find((known) => known === word.trim());
      if (topic === undefined)
        return refuse(message`No topic is called ${word}. ${text(`Topics: ${topicNames.join(", ")}.`)}`);
      topics.push(topic);
    }
    return { success: true, value: topics };
  };
  return valueParser("TOPICS", ["objects"], parse, (topics) => topics.join(","), topicNames);
}

/** `true` or `false`. */
export function boolean(): ValueParser<"sync", boolean> {
  const parse = (input: string): Parsed<boolean> =>
    input === "true" || input === "false"
      ? { success: true, value: input === "true" }
      : refuse(message`Expected true or false, but got ${input}.`);
  return valueParser("true|false" as Metavar, false, parse, String, ["true", "false"]);
}

/** Which program of a check: its place among those that the seed draws, then those of smaller and smaller ones, as `34:2:1`. */
export function programPath(): ValueParser<"sync", string> {
  const parse = (input: string): Parsed<string> =>
    /^\d{1,9}(:\d{1,9}){0,999}$/.test(input)
      ? { success: true, value: input }
      : refuse(message`Expected a path such as 34:2:1, as a failure names it, but got ${input}.`);
  return valueParser("PATH", "0", parse, (path) => path);
}

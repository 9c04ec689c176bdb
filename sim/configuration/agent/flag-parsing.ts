/**
 * A command line as the published agent reads it: `--a=b`, `--a b`, `--bool`, `--bool=false`, `-v 4`, `-v4`; an underscore
 * in a name is a hyphen. The first thing that cannot be read ends it.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { FlagRow } from "./flag-row.ts";
import { flagTable } from "./flag-table.ts";
import { type FlagValue, mayStandAlone, readFlag } from "./flag-values.ts";

export interface GivenFlags {
  /** By the flag's name; only those that were given. */
  readonly values: ReadonlyMap<string, FlagValue>;
  /** What is said of deprecated flags, in the order in which they were given. */
  readonly warnings: readonly string[];
}

export type ParsedFlags = GivenFlags | { readonly error: string };

const rows = new Map(flagTable.map((row) => [row.name, row]));
const shorthands = new Map(flagTable.flatMap((row) => (row.shorthand === undefined ? [] : [[row.shorthand, row]])));

export function flagRow(name: string): FlagRow | undefined {
  return rows.get(name);
}

/** `missing` are flags that this agent does not have, though the table does. */
export function parseFlags(args: readonly string[], missing: ReadonlySet<string>): ParsedFlags {
  const values = new Map<string, FlagValue>();
  const warnings: string[] = [];
  const positional: string[] = [];
  const fail = (why: string): ParsedFlags => ({ error: `failed to parse nodeagent flag: ${why}` });
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === "--") {
      for (const rest of args.slice(at + 1)) positional.push(rest);
      break;
    }
    if (!arg.startsWith("-") || arg === "-") {
      positional.push(arg);
      continue;
    }
    const split = arg.startsWith("--") ? longFlag(arg) : shortFlag(arg);
    if ("error" in split) return fail(split.error);
    const { row, shown } = split;
    if (row === undefined || missing.has(row.name)) return fail(`unknown flag: --${split.name}`);
    let { text } = split;
    if (text === undefined && mayStandAlone(row.type)) text = "true";
    if (text === undefined) {
      text = args[++at];
      if (text === undefined) return fail(`flag needs an argument: ${shown}`);
    }
    const read = readFlag(row.type, text, values.get(row.name));
    if ("error" in read)
      return fail(`invalid argument ${goQuote(text)} for ${goQuote(longName(row))} flag: ${read.error}`);
    values.set(row.name, read.value);
    if (row.deprecated !== undefined) warnings.push(deprecation(row));
  }
  const [first] = positional;
  return first === undefined ? { values, warnings } : { error: `unknown command ${first}` };
}

interface SplitFlag {
  readonly name: string;
  readonly row: FlagRow | undefined;
  readonly text: string | undefined;
  /** As the error about a missing argument names it. */
  readonly shown: string;
}

function longFlag(arg: string): SplitFlag | { readonly error: string } {
  const body = arg.slice(2);
  if (body.startsWith("=") || body.startsWith("-")) return { error: `bad flag syntax: ${arg}` };
  const at = body.indexOf("=");
  const name = (at < 0 ? body : body.slice(0, at)).replaceAll("_", "-");
  return { name, row: rows.get(name), text: at < 0 ? undefined : body.slice(at + 1), shown: `--${name}` };
}

function shortFlag(arg: string): SplitFlag | { readonly error: string } {
  const letter = arg[1] as string;
  const row = shorthands.get(letter);
  if (row === undefined) return { error: `unknown shorthand flag: '${letter}' in ${arg}` };
  const rest = arg.slice(2);
  const text = rest === "" ? undefined : rest.startsWith("=") ? rest.slice(1) : rest;
  return { name: row.name, row, text, shown: `'${letter}' in ${arg}` };
}

const longName = ({ name, shorthand }: FlagRow): string =>
  shorthand === undefined ? `--${name}` : `-${shorthand}, --${name}`;

const toFile = "This parameter should be set via the config file specified by the NodeAgent's --config flag.";

function deprecation({ name, deprecated, removal }: FlagRow): string {
  return `Flag --${name} has been deprecated, ${deprecated === "C" ? toFile : removal}`;
}

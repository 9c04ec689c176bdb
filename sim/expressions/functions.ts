/**
 * All functions by name, with their declarations read once. A function has one overload a declaration; the types of
 * arguments pick among them, when an expression is checked as far as they are known, and otherwise when it is evaluated.
 */
import { authorizers } from "./library/authorizers.ts";
import { conversions } from "./library/conversions.ts";
import type { FunctionRow } from "./library/function-row.ts";
import { kubernetes } from "./library/kubernetes.ts";
import { lists } from "./library/lists.ts";
import { operators } from "./library/operators.ts";
import { optionals } from "./library/optionals.ts";
import { regex } from "./library/regex.ts";
import { strings } from "./library/strings.ts";
import { times } from "./library/times.ts";
import { type CelType, readType } from "./types.ts";
import { isList, isMap, typeName, type Value } from "./values.ts";

export interface Overload {
  readonly row: FunctionRow;
  readonly isMember: boolean;
  /** The target first. Parameters are numbered from 0. */
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly paramCount: number;
}

/** Functions whose name has a dot, which is no member's: `sets.contains`. */
const spaces = new Set(["sets", "optional", "strings", "ip", "format"]);

export const isSpace = (name: string): boolean => spaces.has(name);

const rows = [operators, conversions, times, strings, regex, lists, optionals, kubernetes, authorizers].flat();

const overloads = new Map<string, Overload[]>();
for (const each of rows) {
  const { name, overload } = readSignature(each);
  overloads.set(name, [...(overloads.get(name) ?? []), overload]);
}

/** Overloads of a name; undefined when nothing is called so. */
export const overloadsOf = (name: string): readonly Overload[] | undefined => overloads.get(name);

function readSignature(functionRow: FunctionRow): { readonly name: string; readonly overload: Overload } {
  const { signature } = functionRow;
  const open = signature.indexOf("(");
  const close = signature.lastIndexOf(")");
  const full = signature.slice(0, open);
  const names: string[] = [];
  const parameter = (name: string): CelType => {
    if (!names.includes(name)) names.push(name);
    return { is: "param", id: names.indexOf(name) };
  };
  const dot = full.startsWith("_") || full.startsWith("@") ? -1 : full.lastIndexOf(".");
  const owner = full.slice(0, Math.max(dot, 0));
  const isMember = owner !== "" && !isSpace(owner);
  const texts = [...(isMember ? [owner] : []), ...splitParams(signature.slice(open + 1, close))];
  const params = texts.map((text) => readType(text, parameter));
  const result = readType(signature.slice(signature.indexOf(":", close) + 1), parameter);
  const overload = { row: functionRow, isMember, params, result, paramCount: names.length };
  return { name: isMember ? full.slice(dot + 1) : full, overload };
}

/** At commas that are in no brackets. */
function splitParams(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const letter = text[at];
    if (letter === "<") depth++;
    else if (letter === ">") depth--;
    else if ((letter === "," && depth === 0) || letter === undefined) {
      if (text.slice(start, at).trim() !== "") parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return parts;
}

/** Whether a value may be an argument of a type: the outermost type decides, and one element of what holds several. */
export function isOfType(value: Value, type: CelType): boolean {
  switch (type.is) {
    case "param":
      return true;
    case "list":
      return isList(value) && (value.length === 0 || isOfType(value[0] as Value, type.of));
    case "map":
      return isMap(value);
    case "object":
      return isMap(value);
    case "optional":
      return typeName(value) === "optional_type";
    case "type":
      return typeName(value) === "type";
    default:
      return type.name === "dyn" || typeName(value) === type.name || (type.name === "null" && value === null);
  }
}

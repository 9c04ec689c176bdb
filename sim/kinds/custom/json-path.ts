/**
 * The paths that a definition may use: `.spec.size`, `.spec.items[0].name`, `.status.conditions[?(@.type=="Ready")].status`,
 * `['quoted']`, `[*]`. A subset of JSONPath, as the real server takes for columns, scales and selectable fields.
 */
import type { Json } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";

type Step =
  | { readonly is: "field"; readonly name: string }
  | { readonly is: "index"; readonly index: number }
  | { readonly is: "all" }
  | {
      readonly is: "filter";
      readonly path: readonly string[];
      readonly operator: string;
      readonly value: Json | undefined;
    };

export type JsonPath = readonly Step[];

const stepPattern = new RegExp(
  [
    String.raw`\.(?<field>(?:[A-Za-z0-9_$-]|\\.)+)`,
    String.raw`\.?\[(?<index>-?\d+)\]`,
    String.raw`\.?\[\*\]|\.\*`,
    String.raw`\.?\[(?<quoted>'[^']*'|"[^"]*")\]`,
    String.raw`\.?\[\?\(\s*@(?<path>(?:\.[A-Za-z0-9_-]+)+)\s*(?:(?<operator>==|!=|<=|>=|<|>)\s*(?<value>"[^"]*"|'[^']*'|-?[\d.]+|true|false)\s*)?\)\]`,
  ].join("|"),
  "y",
);

/** Undefined for a text that is no such path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps: Step[] = [];
  stepPattern.lastIndex = 0;
  while (stepPattern.lastIndex < text.length) {
    const found = stepPattern.exec(text)?.groups;
    if (found === undefined) return undefined;
    steps.push(stepOf(found));
  }
  return steps.length === 0 ? undefined : steps;
}

function stepOf(found: Readonly<Record<string, string | undefined>>): Step {
  const { field, index, quoted, path, operator, value } = found;
  if (field !== undefined) return { is: "field", name: field.replace(/\\(.)/g, "$1") };
  if (index !== undefined) return { is: "index", index: Number(index) };
  if (quoted !== undefined) return { is: "field", name: quoted.slice(1, -1) };
  if (path === undefined) return { is: "all" };
  return { is: "filter", path: path.slice(1).split("."), operator: operator ?? "", value: value && literal(value) };
}

function literal(text: string): Json {
  if (text.startsWith("'") || text.startsWith('"')) return text.slice(1, -1);
  return text === "true" || text === "false" ? text === "true" : Number(text);
}

/** Everything that the path leads to, in order; empty when it leads nowhere. */
export function valuesAt(path: JsonPath, object: Json): readonly Json[] {
  let values: readonly Json[] = [object];
  for (const step of path) values = values.flatMap((value) => taken(step, value));
  return values;
}

function taken(step: Step, value: Json): readonly Json[] {
  switch (step.is) {
    case "field":
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] as Json] : [];
    case "index": {
      const item = Array.isArray(value) ? (value as readonly Json[]).at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "all":
      if (Array.isArray(value)) return value as readonly Json[];
      return isObject(value) ? (Object.values(value) as readonly Json[]) : [];
    default:
      return Array.isArray(value) ? (value as readonly Json[]).filter((item) => passes(step, item)) : [];
  }
}

function passes({ path, operator, value }: Step & { readonly is: "filter" }, item: Json): boolean {
  let found: Json | undefined = item;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  if (found === undefined || value === undefined) return found !== undefined;
  if (typeof found !== typeof value || found === null || typeof found === "object") return false;
  return (comparisons[operator] as (left: Json, right: Json) => boolean)(found, value);
}

const comparisons: Readonly<Record<string, (left: Json, right: Json) => boolean>> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": (left, right) => (left as number) < (right as number),
  "<=": (left, right) => (left as number) <= (right as number),
  ">": (left, right) => (left as number) > (right as number),
  ">=": (left, right) => (left as number) >= (right as number),
};

/** The names of a path of fields alone, `.spec.replicas`; undefined for any other. */
export function fieldNames(path: string): readonly string[] | undefined {
  const steps = parseJsonPath(path);
  if (steps === undefined || !steps.every((step) => step.is === "field")) return undefined;
  return steps.map((step) => (step as { readonly name: string }).name);
}

/**
 * The paths that a definition may use: `.spec.size`, `.spec.items[0].name`, `.status.conditions[?(@.type=="Ready")].status`,
 * `['quoted']`, `[*]`. A subset of JSONPath, as the real server takes for columns, scales and selectable fields.
 */
import type { Json } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";

export type Step =
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

/** What may still be looked at: a count that goes down, and is below zero when there was more. */
export interface StepsLeft {
  steps: number;
}

/**
 * The first value that the path leads to; undefined when it leads nowhere, or when there was more to look at than `left` allows.
 * Recursion goes no deeper than the object is nested, for each step leads further down.
 */
export function firstAt(path: JsonPath, object: Json, left: StepsLeft, from = 0): Json | undefined {
  let value: Json | undefined = object;
  for (let at = from; at < path.length && value !== undefined; at++) {
    if (--left.steps < 0) return undefined;
    const step = path[at] as Step;
    if (step.is === "all" || step.is === "filter") return firstOfMany(path, step, value, left, at + 1);
    value = step.is === "field" ? fieldOf(value, step.name) : itemOf(value, step.index);
  }
  return value;
}

function firstOfMany(
  path: JsonPath,
  step: Step & { readonly is: "all" | "filter" },
  value: Json,
  left: StepsLeft,
  next: number,
): Json | undefined {
  for (const item of itemsOf(step, value, left)) {
    if (--left.steps < 0) return undefined;
    if (step.is === "filter" && !passes(step, item, left)) continue;
    const found = firstAt(path, item, left, next);
    if (found !== undefined || left.steps < 0) return found;
  }
  return undefined;
}

function itemsOf({ is }: Step, value: Json, left: StepsLeft): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  if (is === "filter" || !isObject(value)) return [];
  const items = Object.values(value) as readonly Json[];
  left.steps -= items.length;
  return items;
}

const fieldOf = (value: Json, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? (value[name] as Json) : undefined;

const itemOf = (value: Json, index: number): Json | undefined =>
  Array.isArray(value) ? (value as readonly Json[]).at(index) : undefined;

function passes({ path, operator, value }: Step & { readonly is: "filter" }, item: Json, left: StepsLeft): boolean {
  let found: Json | undefined = item;
  for (let at = 0; at < path.length && found !== undefined; at++) {
    left.steps--;
    found = fieldOf(found, path[at] as string);
  }
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

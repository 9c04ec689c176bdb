/**
 * A configuration file as text: YAML or JSON, every field known, none twice. What is wrong is collected with its path,
 * and what is left is looked at all the same, so that a file's errors are all told at once.
 * Source: document 2, Configuration types; the facts, section 7 (decoding is strict).
 */
import type { z } from "zod";
import { goQuote } from "../../wire/go-strings.ts";
import { readJson } from "../../wire/json-reader.ts";
import type { Cause } from "../contract/errors.ts";
import { parseYaml } from "../objects/yaml-body.ts";

export interface Document {
  /** Absent fields and those that are null are the same. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly problems: Cause[];
}

/** Nobody writes a longer one by hand, and whoever reads it holds all of it. */
const fileBytesMax = 3 * 1024 * 1024;

/** The file's top level. A text that is no document at all has one problem, and no fields. */
export function readDocument(text: string): Document {
  if (text.length > fileBytesMax) return unreadable(`the file is longer than ${fileBytesMax} bytes`);
  const isJson = /^\s*\{/.test(text);
  const read = isJson ? readJson(text) : parseYaml(text);
  if (!read.ok) return unreadable(read.error);
  if (typeof read.value !== "object" || read.value === null || Array.isArray(read.value)) {
    return unreadable("the file must be an object with apiVersion and kind");
  }
  const problems = read.duplicates.map((place) =>
    isJson ? problem(place, `duplicate field ${goQuote(place)}`) : problem(keyOf(place), place),
  );
  return { fields: read.value as Readonly<Record<string, unknown>>, problems };
}

const problem = (field: string, message: string): Cause => ({ reason: "FieldValueInvalid", message, field });

const unreadable = (message: string): Document => ({ fields: {}, problems: [problem("", message)] });

/** Of `line 8: key "k" already set in map`. */
const keyOf = (place: string): string => /key "(.*)" already/.exec(place)?.[1] ?? "";

/**
 * `fields` as `shape` describes them. Whatever does not fit is left out after its problem is told; `shape` must call
 * every field optional.
 */
export function decode<Shape extends z.ZodType>(
  fields: Readonly<Record<string, unknown>>,
  shape: Shape,
  problems: Cause[],
): z.infer<Shape> {
  let rest: unknown = withoutNulls(fields, 0);
  for (let round = 0; round < roundsMax; round++) {
    const result = shape.safeParse(rest);
    if (result.success) return result.data;
    const wrong: Wrong = new Map();
    for (const issue of result.error.issues.slice(0, issuesMax)) {
      if (issue.code !== "unrecognized_keys") {
        problems.push(problem(pathText(issue.path), issue.message));
        mark(wrong, issue.path);
        continue;
      }
      for (const key of issue.keys.slice(0, issuesMax)) {
        const path = [...issue.path, key];
        problems.push(problem(pathText(path), `unknown field ${goQuote(pathText(path))}`));
        mark(wrong, path);
      }
    }
    if (result.error.issues.length > issuesMax) break; // nobody reads on
    rest = without(rest, wrong);
  }
  return shape.parse({});
}

/** A field of a wrong type hides nothing below it, so that the second round is the last; more would be our mistake. */
const roundsMax = 4;
/** Told of one file. */
const issuesMax = 100;

/** What does not fit: below a key what is wrong there, or nothing when it is the field itself. */
type Wrong = Map<PropertyKey, Wrong>;

function mark(wrong: Wrong, path: readonly PropertyKey[]): void {
  let at = wrong;
  for (const key of path) {
    let below = at.get(key);
    if (below === undefined) at.set(key, (below = new Map()));
    at = below;
  }
}

function without(value: unknown, wrong: Wrong): unknown {
  const kept = (field: unknown, key: PropertyKey): readonly unknown[] => {
    const below = wrong.get(key);
    if (below === undefined) return [field];
    return below.size === 0 ? [] : [without(field, below)];
  };
  if (Array.isArray(value)) return value.flatMap((item, at) => kept(item, at));
  return Object.fromEntries(
    Object.entries(value as object).flatMap(([key, field]) => kept(field, key).map((left) => [key, left])),
  );
}

/** Deeper than any field that a shape knows. */
const depthMax = 24;

function withoutNulls(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, withoutNulls(field, depth + 1)]),
  );
}

/** `jwt[0].issuer.url`. */
function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) text += typeof part === "number" ? `[${part}]` : `${text === "" ? "" : "."}${String(part)}`;
  return text;
}

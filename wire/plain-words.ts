/** Words for a value that is not of those, not of the type, or not within the bounds, that a schema wants: whoever writes files need not know how they are read. */
import type { z } from "zod";

const names: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  null: "nothing",
  number: "a number",
  object: "fields",
  record: "fields",
  string: "a text",
};

/** For `safeParse`; undefined leaves an issue its own message. */
export const inPlainWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === "invalid_value") return `${issue.input === undefined ? "is missing: " : ""}${oneOf(issue.values)}`;
  if (issue.code === "invalid_union") return Array.isArray(issue.options) ? oneOf(issue.options) : anyOf(issue);
  if (issue.code === "too_small") return bound(issue.origin, issue.minimum, issue.inclusive, "at least", "more than");
  if (issue.code === "too_big") return bound(issue.origin, issue.maximum, issue.inclusive, "at most", "less than");
  if (issue.code === "invalid_format" && issue.pattern !== undefined)
    return `expected a text that matches ${issue.pattern}`;
  if (issue.code === "invalid_key") return "a name of a field that it may not have";
  if (issue.code !== "invalid_type") return undefined;
  return wantedText(names[issue.expected] ?? issue.expected, issue.input);
};

/** The words of a rule that a value of its own breaks, for `error` of a schema: what is missing breaks none, and is told as that. */
export const ruleOrMissing =
  (rule: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    input === undefined ? `is missing: ${rule}` : rule;

const wantedText = (wanted: string, input: unknown): string =>
  input === undefined ? `is missing: expected ${wanted}` : `expected ${wanted}, not ${typeName(input)}`;

/** Of what may be of several types or words. Where one of them fits, what that says of it. */
function anyOf({
  errors,
  input,
}: {
  readonly errors: readonly (readonly z.core.$ZodIssue[])[];
  readonly input?: unknown;
}): string {
  const wanted = errors.map(wantedAsWhole);
  const fits = errors[wanted.indexOf(undefined)]?.[0];
  if (fits !== undefined) return [...fits.path.map(String), fits.message].join(": ");
  const text = [...new Set(wanted.flatMap((each) => each ?? []))].join(" or ");
  const isWord = typeof input === "string" && errors.some(([first]) => first?.code === "invalid_value");
  return isWord ? `expected ${text}` : wantedText(text, input);
}

/** What an alternative would be, which the value as a whole is not: of another type, or none of its words. Undefined: something of it is wrong, or it says so itself. */
export function wantedAsWhole([first]: readonly z.core.$ZodIssue[]): readonly string[] | undefined {
  if (first === undefined || first.path.length > 0) return undefined;
  if (first.code === "invalid_value") return first.values.map(String);
  if (first.code !== "invalid_type") return undefined;
  const type = names[first.expected] ?? first.expected;
  return first.message.includes(`expected ${type}`) ? [type] : undefined;
}

/** `3 items`, of what has a size; of numbers the bound alone. */
function bound(
  origin: string,
  limit: number | bigint,
  isInclusive: boolean | undefined,
  withLimit: string,
  without: string,
): string {
  const unit = units[origin];
  const counted = unit === undefined ? String(limit) : `${limit} ${unit}${Number(limit) === 1 ? "" : "s"}`;
  return `expected ${isInclusive === false ? without : withLimit} ${counted}`;
}

const units: Readonly<Record<string, string>> = {
  array: "item",
  map: "field",
  object: "field",
  record: "field",
  set: "item",
  string: "character",
};

const oneOf = (values: readonly unknown[]): string =>
  `expected ${values.length === 1 ? "" : "one of "}${values.map(String).join(", ")}`;

function typeName(value: unknown): string {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return names[type] ?? type;
}

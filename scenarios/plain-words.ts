/** Words for a value that is not of those, or not of the type, that a schema wants: whoever writes files need not know how they are read. */
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
  if (issue.code === "invalid_value") return oneOf(issue.values);
  if (issue.code === "invalid_union") return Array.isArray(issue.options) ? oneOf(issue.options) : undefined;
  if (issue.code !== "invalid_type") return undefined;
  const wanted = names[issue.expected] ?? issue.expected;
  return issue.input === undefined
    ? `is missing: expected ${wanted}`
    : `expected ${wanted}, not ${typeName(issue.input)}`;
};

const oneOf = (values: readonly unknown[]): string =>
  `expected ${values.length === 1 ? "" : "one of "}${values.map(String).join(", ")}`;

function typeName(value: unknown): string {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return names[type] ?? type;
}

/**
 * Expressions in configuration files: which variables they have, and what is told about one that does not compile.
 * Source: the facts, section 7, CEL variables; the published server's environments and texts.
 */
import { goQuote } from "../../wire/go-strings.ts";
import type { Cause } from "../contract/errors.ts";
import { compile, type Expression } from "../expressions/expression.ts";
import { type CelType, dyn, formatType, listOf, mapOf, type ObjectField, string } from "../expressions/types.ts";
import { invalidValue } from "../objects/causes.ts";

export type Variables = ReadonlyMap<string, CelType>;

const objectType = (name: string, fields: Readonly<Record<string, CelType>>): CelType => ({
  is: "object",
  name,
  fields: new Map(Object.entries(fields).map(([field, type]): [string, ObjectField] => [field, { name: field, type }])),
});

const extra = mapOf(string, listOf(string));

/** What a token says. */
export const claimVariables: Variables = new Map([["claims", mapOf(string, dyn)]]);

/** The user that the claims have become. */
export const userType = objectType("kubernetes.UserInfo", {
  username: string,
  uid: string,
  groups: listOf(string),
  extra,
});
export const userVariables: Variables = new Map([["user", userType]]);

const requirement = objectType("kubernetes.SelectorRequirement", {
  key: string,
  operator: string,
  values: listOf(string),
});
const selector = objectType("kubernetes.Selector", { rawSelector: string, requirements: listOf(requirement) });

/** The `spec` of a v1 access review. */
export const reviewType = objectType("kubernetes.SubjectAccessReviewSpec", {
  resourceAttributes: objectType("kubernetes.ResourceAttributes", {
    namespace: string,
    verb: string,
    group: string,
    version: string,
    resource: string,
    subresource: string,
    name: string,
    fieldSelector: selector,
    labelSelector: selector,
  }),
  nonResourceAttributes: objectType("kubernetes.NonResourceAttributes", { path: string, verb: string }),
  user: string,
  groups: listOf(string),
  extra,
  uid: string,
});
export const reviewVariables: Variables = new Map([["request", reviewType]]);

/** What may come out: anything, or a boolean and nothing that is only known later. Conditions are told what came instead. */
export type Wanted = "any" | "bool";

/** Undefined when it does not compile, or cannot give what is wanted; the problem is told with its place. */
export function compiled(
  source: string,
  field: string,
  variables: Variables,
  wanted: Wanted,
  problems: Cause[],
): Expression | undefined {
  const expression = compile(source, variables);
  if ("error" in expression) {
    const shown = goQuote(source);
    const message = `Invalid value: ${shown}: compilation failed: ${expression.error}`;
    problems.push({ reason: "FieldValueInvalid", message, field });
    return undefined;
  }
  const type = formatType(expression.type);
  if (wanted === "any" || type === "bool") return expression;
  const given = type === "dyn" || variables !== reviewVariables ? "" : ` but got ${type}`;
  problems.push(invalidValue(field, source, `must evaluate to bool${given}`));
  return undefined;
}

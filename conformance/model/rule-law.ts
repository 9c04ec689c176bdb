/**
 * What rules of a schema make of a value: each is an expression and what it means for the value now and the one before,
 * written down one beside the other, so that the suite evaluates no expression.
 * Source: the published rules of validation of custom resources: a rule that names the old value is asked of what was there before,
 * and elements of a list are told apart by their keys.
 */
import type { Violation } from "../client/findings.ts";
import type { JsonObject } from "../client/types.ts";

export interface RuledPart {
  readonly name: string;
  readonly size: number;
  readonly kind: string;
}

export interface RuledSpec {
  readonly low?: number;
  readonly high?: number;
  readonly fixed?: string;
  readonly count?: number;
  readonly list?: readonly string[];
  readonly parts?: readonly RuledPart[];
  readonly words?: Readonly<Record<string, string>>;
}

type Place = "spec" | "low" | "fixed" | "count" | "list" | "part" | "kind" | "words";

interface Rule {
  readonly at: Place;
  readonly rule: string;
  readonly holds: (now: RuledSpec, before: RuledSpec | undefined) => boolean;
}

/** By a word that the message of each begins with. */
export const rules = {
  "low-below-high": {
    at: "spec",
    rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
    holds: ({ low, high }) => low === undefined || high === undefined || low <= high,
  },
  "low-is-even": { at: "low", rule: "self % 2 == 0", holds: ({ low = 0 }) => low % 2 === 0 },
  "fixed-stays": {
    at: "fixed",
    rule: "self == oldSelf",
    holds: (now, before) => now.fixed === undefined || before?.fixed === undefined || now.fixed === before.fixed,
  },
  "fixed-is-kept": {
    at: "spec",
    rule: "!has(oldSelf.fixed) || has(self.fixed)",
    holds: (now, before) => before?.fixed === undefined || now.fixed !== undefined,
  },
  "count-only-grows": {
    at: "count",
    rule: "self >= oldSelf",
    holds: (now, before) => now.count === undefined || before?.count === undefined || now.count >= before.count,
  },
  "list-is-good": {
    at: "list",
    rule: "self.all(each, each != 'bad')",
    holds: ({ list = [] }) => !list.includes("bad"),
  },
  "list-is-short": { at: "list", rule: "size(self) <= 2", holds: ({ list = [] }) => list.length <= 2 },
  "part-is-small": {
    at: "part",
    rule: "self.size <= 2",
    holds: ({ parts = [] }) => parts.every(({ size }) => size <= 2),
  },
  "kind-of-part-stays": {
    at: "kind",
    rule: "self == oldSelf",
    holds: ({ parts = [] }, before) =>
      parts.every(({ name, kind }) => {
        const old = before?.parts?.find((part) => part.name === name);
        return old === undefined || old.kind === kind;
      }),
  },
  "words-without-x": { at: "words", rule: "!('x' in self)", holds: ({ words = {} }) => !("x" in words) },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

export const messageOfRule = (name: RuleName): string => `${name}, says the schema`;

export const brokenRules = (
  names: readonly RuleName[],
  now: RuledSpec,
  before: RuledSpec | undefined,
): readonly RuleName[] => names.filter((name) => !(rules[name] as Rule).holds(now, before));

/** The schema of a spec with these rules. Everything in it is bounded, since rules of what is not may cost too much. */
export function ruledSchema(names: readonly RuleName[], extensionPrefix: string): JsonObject {
  const ruled = (place: Place, schema: JsonObject): JsonObject => {
    const own = names.filter((name) => rules[name].at === place);
    if (own.length === 0) return schema;
    const texts = own.map((name) => ({ rule: rules[name].rule, message: messageOfRule(name) }));
    return { ...schema, [`${extensionPrefix}validations`]: texts };
  };
  const text = { type: "string", maxLength: 10 };
  const part = {
    type: "object",
    required: ["name", "size", "kind"],
    properties: { name: text, size: { type: "integer" }, kind: ruled("kind", text) },
  };
  return ruled("spec", {
    type: "object",
    properties: {
      low: ruled("low", { type: "integer" }),
      high: { type: "integer" },
      fixed: ruled("fixed", text),
      count: ruled("count", { type: "integer" }),
      list: ruled("list", { type: "array", maxItems: 5, items: text }),
      parts: {
        type: "array",
        maxItems: 5,
        items: ruled("part", part),
        [`${extensionPrefix}list-type`]: "map",
        [`${extensionPrefix}list-map-keys`]: ["name"],
      },
      words: ruled("words", { type: "object", maxProperties: 5, additionalProperties: text }),
    },
  });
}

/** A write that breaks rules is refused in the words of some of them, and of none that holds; any other is carried out. */
export function judgeRuled(broken: readonly RuleName[], status: number, text: string): Violation | undefined {
  const told = (Object.keys(rules) as RuleName[]).filter((name) => text.includes(messageOfRule(name)));
  if (broken.length === 0)
    return status < 300 ? undefined : { expected: "let in, for no rule is broken", actual: `${status} ${text}` };
  const isRight = status === 422 && told.length > 0 && told.every((name) => broken.includes(name));
  return isRight ? undefined : { expected: `422 for ${broken.join(", ")}`, actual: `${status} ${text}` };
}

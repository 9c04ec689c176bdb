/**
 * Literals that a function reads, judged when an expression is compiled: a pattern, a duration or a point in time that
 * is none would fail at every evaluation.
 * Source: the validators of the API server's published environment. Time zones are judged too, for not all are known.
 */
import { compileRegex } from "./library/regex.ts";
import { readDuration, readTimestamp, zoneOffset } from "./library/times.ts";
import type { Expr } from "./syntax.ts";
import { EvaluationError } from "./failures.ts";

interface LiteralRule {
  /** Which argument, the target counted. */
  readonly at: number;
  /** What is wrong with a literal. */
  readonly judge: (text: string) => string | undefined;
}

const pattern = (name: string) => (text: string) =>
  typeof compileRegex(text) === "string" ? `invalid ${name} argument` : undefined;

function zone(text: string): string | undefined {
  const known = reads(() => zoneOffset(text));
  return known ? undefined : `unknown time zone ${text}: this server knows UTC and fixed offsets such as +02:00`;
}

const parts = "FullYear Month Date DayOfMonth DayOfWeek DayOfYear Hours Minutes Seconds Milliseconds".split(" ");

const rules: Readonly<Record<string, LiteralRule>> = {
  matches: { at: 1, judge: pattern("matches") },
  find: { at: 1, judge: pattern("find") },
  findAll: { at: 1, judge: pattern("findAll") },
  duration: { at: 0, judge: (text) => (reads(() => readDuration(text)) ? undefined : "invalid duration argument") },
  timestamp: { at: 0, judge: (text) => (reads(() => readTimestamp(text)) ? undefined : "invalid timestamp argument") },
  ...Object.fromEntries(parts.map((part) => [`get${part}`, { at: 1, judge: zone }])),
};

/** What is wrong with a literal among the arguments of a call, the target first. */
export function literalFailure(
  name: string,
  args: readonly Expr[],
): { readonly at: number; readonly text: string } | undefined {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  const arg = rule === undefined ? undefined : args[rule.at];
  if (rule === undefined || arg?.is !== "constant" || typeof arg.value !== "string") return undefined;
  const text = rule.judge(arg.value);
  return text === undefined ? undefined : { at: arg.at, text };
}

function reads(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof EvaluationError) return false;
    throw error;
  }
}

/**
 * Regular expressions in RE2's language, whose time grows with the length of the text alone: JavaScript's own engine
 * can be kept busy for ever.
 * Source: the published language definition and the API server's extension.
 */
import { RE2JS, RE2JSException } from "re2js";
import { fail } from "../failures.ts";
import { toil } from "../labour.ts";
import { type CostRule, type FunctionRow, product, row, traversal } from "./function-row.ts";

/** A state of the automaton for every fourth character of the pattern, on every tenth of the text. */
const matching: CostRule = {
  cost: (text, pattern = 1) => product(traversal(text + 1), Math.ceil(pattern * 0.25)),
  size: (text) => text,
};

export const regex: readonly FunctionRow[] = [
  row("string.matches(string): bool", matches, matching),
  row("matches(string, string): bool", matches, matching),
  row("string.find(string): string", (text: string, pattern: string) => findAll(text, pattern, 1)[0] ?? "", matching),
  row("string.findAll(string): list<string>", (text: string, pattern: string) => findAll(text, pattern, -1), matching),
  row(
    "string.findAll(string, int): list<string>",
    (text: string, pattern: string, most: bigint) => findAll(text, pattern, Number(most)),
    matching,
  ),
];

/** Undefined for a pattern that RE2 does not take, with why in `errors`. */
export function compileRegex(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
}

const patternsMax = 200;
const patterns = new Map<string, RE2JS>();

/** Patterns are mostly literals: the last ones used are kept ready. */
function compiled(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const made = compileRegex(pattern);
  if (typeof made === "string") return fail(made);
  if (patterns.size >= patternsMax) patterns.delete(patterns.keys().next().value as string);
  patterns.set(pattern, made);
  return made;
}

function matches(text: string, pattern: string): boolean {
  return compiled(pattern).matcher(text).find();
}

/** What a match takes, in characters read; a text of nothing else has a million of them. */
const stepsPerMatch = 2;

/** A pattern that means what it says. */
const literal = /^[\w ,;:/=@"'<>#%&~!-]+$/;

function findAll(text: string, pattern: string, most: number): readonly string[] {
  const max = most < 0 ? Number.POSITIVE_INFINITY : most;
  if (literal.test(pattern)) return findLiteral(text, pattern, max);
  const found: string[] = [];
  const matcher = compiled(pattern).matcher(text);
  while (found.length < max && matcher.find()) {
    toil(stepsPerMatch);
    found.push(matcher.group() ?? "");
  }
  return found;
}

function findLiteral(text: string, pattern: string, max: number): readonly string[] {
  const found: string[] = [];
  for (let at = text.indexOf(pattern); at >= 0 && found.length < max; at = text.indexOf(pattern, at + pattern.length)) {
    found.push(pattern);
  }
  return found;
}

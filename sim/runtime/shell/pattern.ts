/**
 * Patterns of `case`, of `${x%…}` and of file names: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before what stands for itself.
 * Matching is linear in text times pattern, and takes its time in steps: a pattern and a text may both be long.
 */
import type { Step } from "../processes/box.ts";

/** A step of work; what it returns is to be waited for, if anything is. */
export type Spend = () => Step | undefined;

/** A pattern that has been read, for as many texts as there are. */
export class Pattern {
  private readonly parts: readonly One[];

  constructor(text: string) {
    const parts: One[] = [];
    for (let at = 0; at < text.length; ) {
      const one = oneAt(text, at);
      // Several stars in a row are one.
      if (one.is !== "star" || parts.at(-1)?.is !== "star") parts.push(one);
      at = one.next;
    }
    this.parts = parts;
  }

  /** Whether all of the text is matched. */
  *matches(text: string, spend: Spend): Generator<Step, boolean, undefined> {
    const { parts } = this;
    let at = 0;
    let from = 0;
    let starAt = -1;
    let starFrom = 0;
    for (let compared = 1; from < text.length; compared++) {
      if (compared % comparedInStep === 0) {
        const wait = spend();
        if (wait !== undefined) yield wait;
      }
      const one = parts[at];
      if (one?.is === "star") {
        starAt = ++at;
        starFrom = from;
      } else if (one !== undefined && accepts(one, text[from] as string)) {
        at++;
        from++;
      } else if (starAt >= 0) {
        at = starAt;
        from = ++starFrom;
      } else return false;
    }
    while (parts[at]?.is === "star") at++;
    return at === parts.length;
  }
}

/** Characters that are compared for one step. */
const comparedInStep = 512;

/** A text without a special character, as a pattern that it alone matches. */
export const quotePattern = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&");

/** Whether a pattern has anything special. */
export const isPattern = (pattern: string): boolean => /(^|[^\\])(?:\\\\)*[*?[]/.test(pattern);

export const unquotePattern = (pattern: string): string => pattern.replace(/\\([^])/g, "$1");

type One =
  | { readonly is: "star" | "any"; readonly next: number }
  | { readonly is: "char"; readonly char: string; readonly next: number }
  | { readonly is: "set"; readonly body: string; readonly negated: boolean; readonly next: number };

function oneAt(pattern: string, at: number): One {
  const char = pattern[at] as string;
  if (char === "*") return { is: "star", next: at + 1 };
  if (char === "?") return { is: "any", next: at + 1 };
  if (char === "\\" && at + 1 < pattern.length) return { is: "char", char: pattern[at + 1] as string, next: at + 2 };
  if (char === "[") {
    const negated = pattern[at + 1] === "!" || pattern[at + 1] === "^";
    const start = at + (negated ? 2 : 1);
    const end = pattern.indexOf("]", start + 1);
    if (end > 0) return { is: "set", body: pattern.slice(start, end), negated, next: end + 1 };
  }
  return { is: "char", char, next: at + 1 };
}

function accepts(one: One, char: string): boolean {
  if (one.is === "any") return true;
  if (one.is === "char") return one.char === char;
  if (one.is !== "set") return false;
  return inSet(one.body, char) !== one.negated;
}

const classes: Readonly<Record<string, RegExp>> = {
  "[:digit:": /\d/,
  "[:alpha:": /[A-Za-z]/,
  "[:alnum:": /[A-Za-z0-9]/,
  "[:space:": /\s/,
  "[:upper:": /[A-Z]/,
  "[:lower:": /[a-z]/,
};

function inSet(body: string, char: string): boolean {
  const named = classes[body];
  if (named !== undefined) return named.test(char);
  for (let at = 0; at < body.length; at++) {
    if (body[at] === "\\" && at + 1 < body.length) at++;
    if (body[at + 1] === "-" && at + 2 < body.length) {
      if (char >= (body[at] as string) && char <= (body[at + 2] as string)) return true;
      at += 2;
    } else if (body[at] === char) return true;
  }
  return false;
}

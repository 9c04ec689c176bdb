/** Semantic versions. Source: Semantic Versioning 2.0.0, grammar and precedence. */
import { EvaluationError } from "../failures.ts";

export interface Version {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly before: readonly string[];
}

/** No more digits than 64 bits have. */
const number = "(0|[1-9]\\d{0,19})";
const word = "(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)";
const grammar = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${word}(?:\\.${word})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

/** `isLoose`: a leading v, missing parts and leading zeros are put right first. Throws why not. */
export function parseVersion(text: string, isLoose = false): Version {
  const match = grammar.exec(isLoose ? normalized(text) : text);
  if (match === null)
    throw new EvaluationError(
      `semver parse error during conversion from string: ${JSON.stringify(text)} is not a version`,
    );
  const [, major = "", minor = "", patch = "", before] = match;
  return { major: BigInt(major), minor: BigInt(minor), patch: BigInt(patch), before: before?.split(".") ?? [] };
}

function normalized(text: string): string {
  const [, numbers = "", rest = ""] = /^v?([\d.]*)(.*)$/.exec(text) ?? [];
  const parts = numbers.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
  while (parts.length < 3) parts.push("0");
  return parts.join(".") + rest;
}

export function compareVersions(left: Version, right: Version): number {
  for (const part of ["major", "minor", "patch"] as const) {
    if (left[part] !== right[part]) return left[part] < right[part] ? -1 : 1;
  }
  if (left.before.length === 0 || right.before.length === 0) return right.before.length - left.before.length;
  for (let at = 0; at < Math.max(left.before.length, right.before.length); at++) {
    const order = compareWords(left.before[at], right.before[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers before words, fewer words before more. */
function compareWords(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? -1 : 1;
  const a = /^\d+$/.test(left);
  const b = /^\d+$/.test(right);
  // Without leading zeros, the longer number is the larger.
  if (a && b && left.length !== right.length) return left.length - right.length;
  if (a !== b) return a ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

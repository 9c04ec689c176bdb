/**
 * The order in which the real server's YAML encoder writes keys: letters after everything else, numbers inside a key by
 * their size, `a2` before `a10`.
 * Source: the published encoder's order, against which this one was tried.
 */
import { compareBytes } from "../../../wire/go-strings.ts";

export function naturalOrder(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  let at = 0;
  while (at < shorter && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  if (at === shorter) return left.length - right.length;
  const [x, y] = [left.charCodeAt(at), right.charCodeAt(at)];
  if (x >= 128 || y >= 128) return orderBeyondAscii(left, right);
  const [xIsLetter, yIsLetter] = [isLetter(x), isLetter(y)];
  if (xIsLetter !== yIsLetter) return xIsLetter ? 1 : -1;
  return xIsLetter ? x - y : orderOfNumbers(left, right, at) || x - y;
}

/** Keys that take no long time to be put in order. */
export const sortedAtOnce = 2_000;

/** How many keys are put in order, or merged, in one step. */
const mergedPerStep = 10_000;

/** Puts many keys in their natural order, in place. An empty piece stands for each step, after which others come in between. */
export function* sortNaturally(keys: string[]): Generator<""> {
  let from = keys;
  for (let start = 0; start < keys.length; start += sortedAtOnce) {
    const run = keys.slice(start, start + sortedAtOnce).sort(naturalOrder);
    for (let at = 0; at < run.length; at++) keys[start + at] = run[at] as string;
    yield "";
  }
  let to = new Array<string>(keys.length);
  for (let run = sortedAtOnce; run < keys.length; run *= 2) {
    let sinceYield = 0;
    for (let start = 0; start < keys.length; start += 2 * run) {
      const [middle, end] = [Math.min(start + run, keys.length), Math.min(start + 2 * run, keys.length)];
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        const isLeft =
          right === end || (left < middle && naturalOrder(from[left] as string, from[right] as string) <= 0);
        to[at] = from[isLeft ? left++ : right++] as string;
        if (++sinceYield < mergedPerStep) continue;
        sinceYield = 0;
        yield "";
      }
    }
    [from, to] = [to, from];
  }
  if (from !== keys) for (let at = 0; at < keys.length; at++) keys[at] = from[at] as string;
}

const isLetter = (unit: number): boolean => (unit | 32) >= 97 && (unit | 32) <= 122;
const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;

/** Two keys that part at `at`, with what is no letter: by the numbers that begin there, of which one may be missing. */
function orderOfNumbers(left: string, right: string, at: number): number {
  const [leftEnd, rightEnd] = [endOfNumber(left, at), endOfNumber(right, at)];
  // Zeros count but for those that a number begins with.
  const isWithin = follows(left, at);
  const leftFrom = isWithin ? at : afterZeros(left, at, leftEnd);
  const rightFrom = isWithin ? at : afterZeros(right, at, rightEnd);
  const size = leftEnd - leftFrom;
  if (size !== rightEnd - rightFrom) return size - (rightEnd - rightFrom);
  for (let digit = 0; digit < size; digit++) {
    const order = left.charCodeAt(leftFrom + digit) - right.charCodeAt(rightFrom + digit);
    if (order !== 0) return order;
  }
  return leftEnd - rightEnd;
}

function endOfNumber(key: string, from: number): number {
  let end = from;
  while (end < key.length && isDigit(key.charCodeAt(end))) end++;
  return end;
}

function afterZeros(key: string, from: number, end: number): number {
  let first = from;
  while (first < end && key.charCodeAt(first) === 48) first++;
  return first;
}

/** Whether a number that is not all zeros ends before `at`. */
function follows(key: string, at: number): boolean {
  for (let before = at - 1; before >= 0 && isDigit(key.charCodeAt(before)); before--) {
    if (key.charCodeAt(before) !== 48) return true;
  }
  return false;
}

/** Two keys that part with a character that is not ASCII, which no number has. */
function orderBeyondAscii(left: string, right: string): number {
  const a = [...left];
  const b = [...right];
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  const [x, y] = [a[at] as string, b[at] as string];
  const [xIsLetter, yIsLetter] = [letter.test(x), letter.test(y)];
  if (xIsLetter !== yIsLetter) return xIsLetter ? 1 : -1;
  if (xIsLetter) return compareBytes(x, y);
  const order = orderOfNumbers(a.slice(at).join(""), b.slice(at).join(""), 0);
  return order || compareBytes(x, y);
}

const letter = /\p{L}/u;

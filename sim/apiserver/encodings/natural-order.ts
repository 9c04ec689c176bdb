/**
 * The order in which the real server's YAML encoder writes keys: letters after everything else, numbers inside a key by
 * their size, `a2` before `a10`.
 * Source: the published encoder's order, against which this one was tried.
 */
import { compareBytes } from "../../../wire/go-strings.ts";

export function naturalOrder(left: string, right: string): number {
  if (simple.test(left) && simple.test(right)) return compareBytes(left, right);
  const a = [...left];
  const b = [...right];
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  const [x, y] = [a[at], b[at]];
  if (x === undefined || y === undefined) return a.length - b.length;
  const [xIsLetter, yIsLetter] = [letter.test(x), letter.test(y)];
  if (xIsLetter && yIsLetter) return compareBytes(x, y);
  if (xIsLetter !== yIsLetter) return xIsLetter ? 1 : -1;
  // Zeros within a number do not count as its beginning.
  const isWithin = (x === "0" || y === "0") && /[1-9]\d*$/.test(a.slice(0, at).join(""));
  const [m, n] = [digitsAt(a, at), digitsAt(b, at)];
  const [first, second] = isWithin ? [`1${m}`, `1${n}`] : [m, n];
  const [p, q] = [BigInt(first || "0"), BigInt(second || "0")];
  if (p !== q) return p < q ? -1 : 1;
  return m.length - n.length || compareBytes(x, y);
}

/** Most keys are letters alone. */
const simple = /^[A-Za-z]*$/;
const letter = /\p{L}/u;

function digitsAt(chars: readonly string[], from: number): string {
  let end = from;
  while (end < chars.length && /\d/.test(chars[end] as string)) end++;
  return chars.slice(from, end).join("");
}

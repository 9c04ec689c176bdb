/**
 * Durations as Go writes them (`1h30m`, `300ms`, `1.5s`): query parameters, flags and configuration files carry them.
 * Exact: nanoseconds as bigint. Source: the facts, section 2 (timeouts); Go's time package, whose error texts are kept.
 */
import { utf8Length } from "./go-strings.ts";

export interface DurationError {
  /** For example `time: invalid duration "x"`. */
  readonly error: string;
}

const int64Limit = 2n ** 63n;
/** Of that limit. */
const digitsMax = 19;
const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  "\u00b5s": 1_000n, // micro sign
  "\u03bcs": 1_000n, // Greek mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Nanoseconds, within 64 bits. */
export function parseDuration(text: string): bigint | DurationError {
  const invalid = (): DurationError => ({ error: `time: invalid duration ${quoteForTime(text)}` });
  const sign = text[0] === "-" || text[0] === "+" ? text[0] : "";
  let rest = text.slice(sign.length);
  if (rest === "0") return 0n;
  if (rest === "") return invalid();
  let nanos = 0n;
  while (rest !== "") {
    const [whole, digits = "", fraction = ""] = /^(\d*)(?:\.(\d*))?/.exec(rest) ?? [""];
    if (digits === "" && fraction === "") return invalid();
    rest = rest.slice(whole.length);
    const unit = /^[^.0-9]*/.exec(rest)?.[0] ?? "";
    if (unit === "") return { error: `time: missing unit in duration ${quoteForTime(text)}` };
    const scale = Object.hasOwn(unitNanos, unit) ? unitNanos[unit] : undefined;
    if (scale === undefined)
      return { error: `time: unknown unit ${quoteForTime(unit)} in duration ${quoteForTime(text)}` };
    const count = digits.replace(/^0+(?=\d)/, "");
    if (count.length > digitsMax) return invalid();
    nanos += BigInt(count === "" ? "0" : count) * scale + fractionNanos(fraction, scale);
    if (nanos > int64Limit) return invalid();
    rest = rest.slice(unit.length);
  }
  if (sign === "-") return -nanos;
  return nanos === int64Limit ? invalid() : nanos;
}

/** Digits beyond 63 bits are dropped, and the product is a double's: that is how Go rounds. */
function fractionNanos(digits: string, scale: bigint): bigint {
  let value = 0n;
  let divisor = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (next > int64Limit) break;
    value = next;
    divisor *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(scale) / divisor)));
}

/** Whole microseconds towards zero, the simulator's unit; undefined for a text that is no duration. */
export function parseGoDuration(text: string): number | undefined {
  const nanos = parseDuration(text);
  return typeof nanos === "bigint" ? Number(nanos / 1000n) : undefined;
}

/** The time package has a quote of its own: every byte beyond printable ASCII is escaped. */
export function quoteForTime(text: string): string {
  if (utf8Length(text) === text.length && !/["\\\0-\x1f]/.test(text)) return `"${text}"`;
  const bytes = new TextEncoder().encode(text);
  const quoted = new Uint8Array(4 * bytes.length + 2); // written as bytes: a text grown by a character at a time takes ten times as long
  let length = 0;
  quoted[length++] = quote;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte >= 0x80 || byte < 0x20) {
      quoted[length++] = backslash;
      quoted[length++] = letterX;
      quoted[length++] = hexDigits[byte >> 4] as number;
      quoted[length++] = hexDigits[byte & 15] as number;
    } else {
      if (byte === quote || byte === backslash) quoted[length++] = backslash;
      quoted[length++] = byte;
    }
  }
  quoted[length++] = quote;
  return new TextDecoder().decode(quoted.subarray(0, length));
}

const [quote, backslash, letterX] = [0x22, 0x5c, 0x78];
const hexDigits = new TextEncoder().encode("0123456789abcdef");

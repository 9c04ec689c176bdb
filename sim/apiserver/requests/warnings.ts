/**
 * `Warning` headers: one item each, deduplicated, cut when they would grow too long.
 * Source: document 1, field validation 3; the facts, section 4.
 */

const totalRunesMax = 4096;
const cutRunes = 256;

/** Header values for `warnings`, in order. */
export function warningHeaders(warnings: readonly string[]): string[] {
  // The real server says nothing at all where a header would break.
  const distinct = [...new Set(warnings)].filter((warning) => warning !== "" && !control.test(warning));
  const whole = distinct.map(headerValue);
  if (whole.reduce((sum, value) => sum + runeCount(value), 0) <= totalRunesMax) return whole;
  const kept: string[] = [];
  let total = 0;
  for (const warning of distinct) {
    const value = headerValue([...warning].slice(0, cutRunes).join(""));
    total += runeCount(value);
    if (total > totalRunesMax) break;
    kept.push(value);
  }
  return kept;
}

/** Other alphabets stay as they are: a header is their UTF-8, and an adapter writes it so. */
const headerValue = (warning: string): string => `299 - "${warning.replace(/[\\"]/g, "\\$&")}"`;

const control = /[\x00-\x1f\x7f-\x9f]/;

const runeCount = (text: string): number => [...text].length;

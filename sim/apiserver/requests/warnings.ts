/**
 * `Warning` headers: one item each, deduplicated, cut when they would grow too long.
 * Source: document 1, field validation 3; the facts, section 4.
 */

const totalRunesMax = 4096;
const cutRunes = 256;

/** Header values for `warnings`, in order. There may be tens of thousands, of which the first few fill what is told. */
export function warningHeaders(warnings: readonly string[]): string[] {
  const whole = withinTotal(warnings, headerValue);
  if (whole.isAll) return whole.values;
  return withinTotal(warnings, (warning) =>
    headerValue([...warning.slice(0, 2 * cutRunes)].slice(0, cutRunes).join("")),
  ).values;
}

/**
 * As many of the first different ones as could have room, and one more: headers say of these what they say of all. Webhooks and
 * policies may have a hundred thousand.
 */
export function tellable(warnings: readonly string[]): readonly string[] {
  if (warnings.length <= fewWarnings) return warnings;
  const told = new Tellable();
  for (const warning of warnings) {
    told.add(warning);
    if (told.isFull) break;
  }
  return told.list;
}

/** The same of warnings that come one by one. */
export class Tellable {
  private readonly told = new Set<string>();
  private least = 0;

  get list(): readonly string[] {
    return [...this.told];
  }

  /** No further one could be told. */
  get isFull(): boolean {
    return this.least > totalRunesMax;
  }

  add(warning: string): void {
    if (this.isFull || warning === "" || this.told.has(warning) || control.test(warning)) return;
    this.told.add(warning);
    this.least += emptyValueRunes + Math.min(cutRunes, Math.floor(warning.length / 2));
  }
}

const fewWarnings = 16;
/** Of a header without a text. */
const emptyValueRunes = 8;

/** The first different ones that have room together. */
function withinTotal(
  warnings: readonly string[],
  valueOf: (warning: string) => string,
): { readonly values: string[]; readonly isAll: boolean } {
  const values: string[] = [];
  const seen = new Set<string>();
  let total = 0;
  for (const warning of warnings) {
    // The real server says nothing at all where a header would break.
    if (warning === "" || seen.has(warning) || control.test(warning)) continue;
    seen.add(warning);
    const value = valueOf(warning);
    total += runeCount(value);
    if (total > totalRunesMax) return { values, isAll: false };
    values.push(value);
  }
  return { values, isAll: true };
}

/** Other alphabets stay as they are: a header is their UTF-8, and an adapter writes it so. */
const headerValue = (warning: string): string => `299 - "${warning.replace(/[\\"]/g, "\\$&")}"`;

const control = /[\x00-\x1f\x7f-\x9f]/;

const runeCount = (text: string): number => [...text].length;

/** Lists of any length: a call with a spread list fails beyond some hundred thousand elements. */

/** Adds `more` at the end of `list`. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const item of more) list.push(item);
}

/** The largest of `values`, and `least` when none is larger. */
export function largest(values: Iterable<number>, least: number): number {
  let found = least;
  for (const value of values) if (value > found) found = value;
  return found;
}

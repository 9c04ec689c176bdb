/** Lines for people, of which there may be any number. */

/** At most so many of them, and one more that says how many there are beside. */
export const firstLines = (lines: readonly string[], max: number): readonly string[] =>
  lines.length <= max ? lines : [...lines.slice(0, max), `and ${lines.length - max} more`];

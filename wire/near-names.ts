/** Which known name somebody probably meant: for errors about names that were written by hand. */

/** Longer input is no misspelling of anything, and would cost its square. */
const lengthMax = 100;

/**
 * The known names nearest to `name`, nearest first, at most `countMax`: those that a third of the letters, and at least
 * two, separate from it at most. A swap of two neighbours is one step.
 */
export function nearNames(name: string, known: readonly string[], countMax = 3): readonly string[] {
  if (name.length > lengthMax) return [];
  const wanted = name.toLowerCase();
  const stepsMax = Math.max(2, Math.floor(name.length / 3));
  return known
    .map((candidate, index) => ({ candidate, index, steps: stepsBetween(wanted, candidate.toLowerCase()) }))
    .filter(({ steps, candidate }) => steps <= stepsMax && steps < candidate.length)
    .sort((one, other) => one.steps - other.steps || one.index - other.index)
    .slice(0, countMax)
    .map(({ candidate }) => candidate);
}

/** ` Did you mean a, b?`, or nothing when none is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearNames(name, known);
  return near.length === 0 ? "" : `; did you mean ${near.join(", ")}?`;
}

/** Insertions, deletions, changes and swaps of neighbours that make one of the other: Damerau's distance, row by row. */
function stepsBetween(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const present = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let steps = Math.min(
        (above[column] as number) + 1,
        (present[column - 1] as number) + 1,
        (above[column - 1] as number) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) steps = Math.min(steps, (before[column - 2] as number) + 1);
      present.push(steps);
    }
    before = above;
    above = present;
  }
  return above[other.length] as number;
}

/** Sorts many texts by their code units, a part at a time. */

/** The same texts in order. Stops after about `perTurn` texts were compared, an integer ≥ 1. */
export function* sortedInSteps(texts: readonly string[], perTurn: number): Generator<void, readonly string[]> {
  if (isSorted(texts)) return texts;
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += perTurn) {
    yield;
    runs.push(texts.slice(at, at + perTurn).sort());
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* mergedInSteps(runs[at] as string[], runs[at + 1] ?? [], perTurn));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Whether texts are in the order of their code units. */
export function isSorted(texts: readonly string[]): boolean {
  for (let at = 1; at < texts.length; at++) if ((texts[at - 1] as string) > (texts[at] as string)) return false;
  return true;
}

function* mergedInSteps(left: readonly string[], right: readonly string[], perTurn: number): Generator<void, string[]> {
  const merged: string[] = [];
  for (let from = 0, other = 0; from < left.length || other < right.length; ) {
    if (merged.length % perTurn === 0) yield;
    const isLeft = other >= right.length || (from < left.length && (left[from] as string) <= (right[other] as string));
    merged.push((isLeft ? left[from++] : right[other++]) as string);
  }
  return merged;
}

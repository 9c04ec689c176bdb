/** Whose work it is that runs: an exception in what an item's work has left for later is this item's as well. */

type Failed = (error: unknown) => void;

let current: Failed | undefined;

/** Runs `work` for somebody who is told what it throws, then or in a callback that it has `kept`. */
export function within(failed: Failed, work: () => void): void {
  const outer = current;
  current = failed;
  try {
    work();
  } catch (error) {
    failed(error);
  } finally {
    current = outer;
  }
}

/** A callback that is called later, for whoever is at work now. */
export function kept<Values extends readonly unknown[]>(callback: (...values: Values) => void): typeof callback {
  const failed = current;
  return failed === undefined ? callback : (...values) => within(failed, () => callback(...values));
}

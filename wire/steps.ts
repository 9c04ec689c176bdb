/** The result of work that would stop now and then, at once. */
export function drained<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/**
 * The macrotasks of user code on virtual time. Timers that are due run one by one, each with all that follows from
 * it before the next, as in Node; and a turn lasts until no real immediate is left, however often one begets another.
 */

// The real one, kept before anybody puts something in its place.
const realSetImmediate = globalThis.setImmediate;

/** Code that polls by immediates never becomes quiet: after so many in a row time moves on all the same. */
const HOPS_MAX = 1000;

export class Macrotasks {
  readonly #due: (() => void)[] = [];
  #foreignCount = 0;
  #posting = false;

  /** Has `task` run in a macrotask of its own, in the next turn. What it throws is an uncaught exception, as a timer's is. */
  post(task: () => void): void {
    this.#due.push(task);
  }

  /** To be told of every immediate that anybody makes. */
  immediateMade(): void {
    if (!this.#posting) this.#foreignCount++;
  }

  /** Resolves when all that is due has run and no immediate is left. */
  async turn(): Promise<void> {
    for (let hops = 0; hops < HOPS_MAX; hops++) {
      const foreignBefore = this.#foreignCount;
      const task = this.#due.shift();
      if (task !== undefined) hops = 0;
      await this.#macrotask(task);
      if (this.#due.length === 0 && this.#foreignCount === foreignBefore) return;
    }
  }

  #macrotask(task: (() => void) | undefined): Promise<void> {
    return new Promise((resolve) => {
      this.#posting = true;
      realSetImmediate(() => {
        resolve(); // first: a task that throws must not stop the turn
        task?.();
      });
      this.#posting = false;
    });
  }
}

/**
 * Work in steps that several may wait for, and that is done once: each of them takes the next step when its turn comes, whoever began. What
 * nobody waits for any more stays where it is until somebody asks again.
 */
export class SharedWork<Result> {
  readonly #steps: Iterator<void, Result>;
  #result: { readonly is: Result } | undefined;
  #failure: { readonly why: unknown } | undefined;

  constructor(steps: Iterator<void, Result>) {
    this.#steps = steps;
  }

  get isDone(): boolean {
    return this.#result !== undefined;
  }

  /** Has failed once and for all: whoever asks again begins anew. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** The steps that are left. Throws for everybody what one step threw. */
  *steps(): Generator<void, Result> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.why;
      if (this.#result !== undefined) return this.#result.is;
      this.#step();
      if (this.#result === undefined) yield;
    }
  }

  #step(): void {
    try {
      const { done, value } = this.#steps.next();
      if (done === true) this.#result = { is: value };
    } catch (error) {
      this.#failure = { why: error };
    }
  }
}

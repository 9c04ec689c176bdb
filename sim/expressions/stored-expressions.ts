/**
 * Compiles expressions some at a time: a stored object may have megabytes of them. Within a judgement (`pace.ts`) compiling is
 * broken off when a turn has done enough, and goes on where it was.
 */
import { compile, type CompileFailure, compileCostOf, type Expression } from "./expression.ts";
import { paced, spend } from "./pace.ts";
import type { CelType } from "./types.ts";

export type Compiled = Expression | CompileFailure;
/** `variables` is asked for only where there is still something to compile. */
export type Compile = (source: string, variables: () => ReadonlyMap<string, CelType>) => Compiled;

/** For what is judged once: nothing is kept after the judgement. */
export const compilePaced: Compile = (source, variables) =>
  paced(
    () => compile(source, variables()),
    () => compileCostOf(source.length),
  );

/**
 * What is made of the expressions of each stored object, which is never changed. It is made once, when it is first asked for. Several
 * judgements that ask while it is being made go on with one another's work.
 */
export class StoredExpressions<Owner extends object, Made> {
  private readonly made = new WeakMap<Owner, Made>();
  /** Compiled so far, in order, of what is not complete. */
  private readonly begun = new WeakMap<Owner, Compiled[]>();

  /** `make` must ask for the same expressions in the same order each time. */
  of(owner: Owner, make: (compile: Compile) => Made): Made {
    const known = this.made.get(owner);
    if (known !== undefined) return known;
    const compiled = this.begun.get(owner) ?? [];
    this.begun.set(owner, compiled);
    let next = 0;
    const made = make((source, variables) => {
      const at = next++;
      const before = compiled[at];
      if (before !== undefined) return before;
      spend(compileCostOf(source.length));
      return (compiled[at] = compile(source, variables()));
    });
    this.made.set(owner, made);
    this.begun.delete(owner);
    return made;
  }
}

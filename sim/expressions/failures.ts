/** How an evaluation ends that has no result. */

/** An evaluation that has no result. `fatal`: the budget is spent, and nothing may swallow it. */
export class EvaluationError extends Error {
  readonly fatal: boolean;
  constructor(message: string, fatal = false) {
    super(message);
    this.fatal = fatal;
  }
}

export const fail = (message: string): never => {
  throw new EvaluationError(message);
};

/** Ends an evaluation whose budget is spent, or that would make or compare more than any budget pays for. */
export const exhausted = (): never => {
  throw new EvaluationError("operation cancelled: actual cost limit exceeded", true);
};

export const noOverload = (): never => fail("no such overload");

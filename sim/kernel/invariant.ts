/** Our own bug, never the caller's: the run says so and exits 4. */
export class InvariantError extends Error {
  readonly context: unknown;

  constructor(message: string, context?: unknown) {
    super(message);
    this.name = "InvariantError";
    this.context = context;
  }
}

/** Throws `InvariantError` unless `condition` holds. */
export function invariant(condition: boolean, message: string, context?: unknown): asserts condition {
  if (!condition) throw new InvariantError(message, context);
}

/** Of what is logged: frames of a deep stack, or a message that quotes what a client has sent, go no further. */
const charactersMax = 4000;

/** Exceptions that were caught: each is logged, and counted by whose bug it is. */
export class Exceptions {
  readonly counts = new Map<string, number>();
  private readonly log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.log = log;
  }

  tell(component: string, what: string, error: unknown): void {
    this.counts.set(component, (this.counts.get(component) ?? 0) + 1);
    this.log(`exception in ${what}: ${exceptionText(error)}`);
  }
}

/** An exception as programs log it: the stack of what was thrown, and not of what tells in which process it was. */
export function exceptionText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text.slice(0, charactersMax);
}

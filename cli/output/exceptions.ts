/** Of what is logged: frames of a deep stack, or a message that quotes what a client has sent, go no further. */
const charactersMax = 4000;

/** An exception as programs log it: the stack of what was thrown, and not of what tells in which process it was. */
export function exceptionText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text.slice(0, charactersMax);
}

/**
 * An exception as programs log it: the stack of what was thrown, and not of what tells in which process it was.
 * `charactersMax` cuts it: frames of a deep stack, or a message that quotes what a client has sent.
 */
export function exceptionText(error: unknown, charactersMax = 4000): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text.slice(0, charactersMax);
}

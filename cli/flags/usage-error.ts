/**
 * The caller's mistake: a flag or a file that cannot be used. One error, told in one place, exit code 2.
 * The message says what is wrong, where, which rule it breaks and what to do.
 */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Exit codes of every command. */
export const exitCodes = { good: 0, targetFailed: 1, usage: 2, inconclusive: 3, broke: 4 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

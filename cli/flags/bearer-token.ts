/** Tokens that flags and files hold, looked at before anything is run. */
import { UsageError } from "./usage-error.ts";

/** `where` is how errors call the place. The token itself is in no error. Source: RFC 6750, 2.1. Throws `UsageError`. */
export function requireToken(token: string, where: string): string {
  if (token === "") throw new UsageError(`${where}: it is empty, and must hold a bearer token.`);
  if (/[^\x21-\x7e]/.test(token)) {
    throw new UsageError(
      `${where}: a bearer token has only printable ASCII characters, and no white space within: give the token alone.`,
    );
  }
  return token;
}

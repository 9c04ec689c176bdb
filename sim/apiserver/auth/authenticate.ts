/**
 * Who is asking: a client certificate, a static bearer token, or nobody.
 * Source: document 1, Authentication; the facts, section 1 (401) and D1.
 */
import { unauthorized } from "../errors.ts";
import type { ApiRequest } from "../http-message.ts";

export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/** One row of a `--token-auth-file`. */
export interface TokenRow {
  readonly token: string;
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/** Throws 401 for credentials that are wrong, or absent where they are needed. */
export type Authenticator = (request: ApiRequest) => User;

const authenticatedGroup = "system:authenticated";

export const anonymousUser: User = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"] };

/** A token's user, or undefined for a token nobody has; a TokenReview asks the same. */
export type TokenLookup = (token: string) => User | undefined;

export function tokenLookup(rows: readonly TokenRow[]): TokenLookup {
  const users = new Map<string, User>();
  for (const { token, user, uid, groups } of rows) {
    users.set(token, { name: user, uid, groups: [...groups, authenticatedGroup] });
  }
  return (token) => users.get(token);
}

export function createAuthenticator(lookup: TokenLookup, anonymousAuth: boolean): Authenticator {
  return (request) => {
    const certificate = request.clientCertificate;
    if (certificate !== undefined && certificate !== "invalid") {
      return { name: certificate.commonName, uid: "", groups: [...certificate.organizations, authenticatedGroup] };
    }
    const token = bearerToken(request.headers["authorization"]);
    if (token !== undefined) {
      const user = lookup(token);
      if (user === undefined) throw unauthorized();
      return user;
    }
    // Credentials that prove nothing are no anonymity.
    if (certificate === "invalid" || !anonymousAuth) throw unauthorized();
    return anonymousUser;
  };
}

/** The token of a `Bearer` header; another scheme, or an empty token, counts as no credentials. */
function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const match = /^bearer +([^ ]+)/i.exec(header.trim());
  return match?.[1];
}

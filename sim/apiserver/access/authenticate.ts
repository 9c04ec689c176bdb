/**
 * Who is asking: a client certificate, a static bearer token, or nobody.
 * Source: document 1, Authentication; the facts, section 1 (401) and D1.
 */
import type { Cancel } from "../../kernel/types.ts";
import { ApiError, unauthorized } from "../../contract/errors.ts";
import type { ApiRequest, ClientIdentity } from "../../contract/http-message.ts";

export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Whatever else the credentials say: of service accounts the token, the pod, the node. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** One row of a `--token-auth-file`. */
export interface TokenRow {
  readonly token: string;
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/**
 * Calls `done` once: before it returns, or later where a token has to be looked up; never after the returned cancel. An
 * error is the 401 for credentials that are wrong, or absent where they are needed.
 */
export type Authenticator = (request: ApiRequest, done: (found: User | ApiError) => void) => Cancel;

const authenticatedGroup = "system:authenticated";

export const anonymousUser: User = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"] };

/** What a token proves. */
export interface Proven {
  readonly user: User;
  /** Those of the audiences asked for that the token is for; empty when it is for nobody in particular. */
  readonly audiences: readonly string[];
}

/** A token that proves nothing, and what its caller is told about it besides 401; mostly nothing. */
export interface Unproven {
  readonly message: string;
}

/**
 * Whose a token is, for one of the audiences `asked` (none: the server's own); a TokenReview asks the same. Calls `done`
 * once, before it returns or later, never after the returned cancel.
 */
export type TokenLookup = (
  token: string,
  asked: readonly string[],
  done: (proven: Proven | Unproven) => void,
) => Cancel;

const unproven: Unproven = { message: "" };

/** What is asked about tokens that no table knows. */
export interface TokenReader {
  read(token: string, done: (outcome: TokenOutcome) => void): Cancel;
}

export type TokenOutcome =
  | { readonly is: "user"; readonly user: User }
  /** Nobody here knows its issuer, or it is no such token at all. */
  | { readonly is: "foreign" }
  /** `message` is told to the caller, where the profile tells anything. */
  | { readonly is: "refused"; readonly message: string };

/** A lookup that needs nobody. */
export type TokenTable = (token: string, asked: readonly string[]) => Proven | undefined;

/** A lookup that takes its time where a token is long: `done` hears of it before it returns or later, never after the returned cancel. */
export type IssuedTokens = (
  token: string,
  asked: readonly string[],
  done: (proven: Proven | undefined) => void,
) => Cancel;

/**
 * The tables at once, in their order; then the tokens that this server has `issued` itself; then `reader`, whose tokens are for the
 * server's own `audiences`.
 */
export function tokenLookup(
  tables: readonly TokenTable[],
  reader: TokenReader | undefined,
  audiences: readonly string[],
  issued?: IssuedTokens,
): TokenLookup {
  const others: TokenLookup = (token, asked, done) => {
    const shared = sharedAudiences(asked, audiences);
    if (reader === undefined || (asked.length > 0 && shared.length === 0)) {
      done(unproven);
      return nothing;
    }
    return reader.read(token, (outcome) => {
      if (outcome.is === "user") done({ user: outcome.user, audiences: shared });
      else done(outcome.is === "refused" ? outcome : unproven);
    });
  };
  return (token, asked, done) => {
    for (const table of tables) {
      const proven = table(token, asked);
      if (proven === undefined) continue;
      done(proven);
      return nothing;
    }
    if (issued === undefined) return others(token, asked, done);
    let next: Cancel = nothing;
    const cancel = issued(token, asked, (proven) => {
      if (proven === undefined) next = others(token, asked, done);
      else done(proven);
    });
    return () => {
      cancel();
      next();
    };
  };
}

const sharedAudiences = (asked: readonly string[], audiences: readonly string[]): readonly string[] =>
  asked.length === 0 ? audiences : asked.filter((audience) => audiences.includes(audience));

const nothing: Cancel = () => {};

/** `audiences` are the server's: a static token is for them. */
export function staticTokens(rows: readonly TokenRow[], audiences: readonly string[]): TokenTable {
  const users = new Map<string, User>();
  for (const { token, user, uid, groups } of rows) {
    users.set(token, { name: user, uid, groups: [...groups, authenticatedGroup] });
  }
  return (token, asked) => {
    const user = users.get(token);
    const shared = sharedAudiences(asked, audiences);
    if (user === undefined || (asked.length > 0 && shared.length === 0)) return undefined;
    return { user, audiences: shared };
  };
}

/** Whether somebody without credentials may come in at a path, as the request has it. */
export type AnonymousRule = (path: string) => boolean;

export function createAuthenticator(lookup: TokenLookup, isOpen: AnonymousRule): Authenticator {
  const rejected = ({ message }: Unproven): ApiError =>
    message === "" ? unauthorized() : new ApiError(401, "Unauthorized", message);
  return (request, done) => {
    const token = bearerToken(request.headers["authorization"]);
    const certificate = request.clientCertificate;
    if (token !== undefined && (certificate === undefined || certificate === "invalid")) {
      return lookup(token, ownAudiences, (proven) => done("user" in proven ? proven.user : rejected(proven)));
    }
    done(withoutToken(request, isOpen));
    return nothing;
  };
}

function withoutToken({ clientCertificate: certificate, path }: ApiRequest, isOpen: AnonymousRule): User | ApiError {
  if (certificate !== undefined && certificate !== "invalid") {
    return userOf(certificate);
  }
  // Credentials that prove nothing are no anonymity.
  return certificate === "invalid" || !isOpen(path) ? unauthorized() : anonymousUser;
}

/** One for each certificate: a connection's requests show the same one. */
const users = new WeakMap<ClientIdentity, User>();

function userOf(certificate: ClientIdentity): User {
  let user = users.get(certificate);
  if (user === undefined) {
    user = { name: certificate.commonName, uid: "", groups: [...certificate.organizations, authenticatedGroup] };
    users.set(certificate, user);
  }
  return user;
}

const ownAudiences: readonly string[] = [];

/** The token of a `Bearer` header; another scheme, or an empty token, counts as no credentials. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const match = /^bearer +([^ ]+)/i.exec(header.trim());
  return match?.[1];
}

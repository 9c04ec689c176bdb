/**
 * What becomes of a token's claims under the authenticators of the suite's own file (`access-files.ts`): a user, or the
 * promises by which there is none. Source: document 2, Authentication 2, ClaimMappings; RFC 7519, 4.1.
 */
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { audiences, badgesKey, type IssuerName, ruleMessages, teamKey } from "./access-files.ts";

export interface TokenUser {
  readonly username: string;
  readonly uid: string;
  /** Those of the token: what the server adds has names that begin with `system:`. */
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** One reason that a token is not accepted. */
export interface Breach {
  readonly requirement: string;
  /** What the rule that refuses says. */
  readonly message?: string;
}

export type Fate = { readonly user: TokenUser } | { readonly breaches: readonly Breach[] };

/** Times that are past, or to come, by any clock. Seconds of 1970. */
export const longAgoSeconds = 946_684_800;
export const farFutureSeconds = 4_102_444_800;

const area = "authentication-config";
const minimum: Breach = { requirement: `${area}.minimum-claims` };

/** `issuer`: the URL of the authenticator whose name this is. Claims of times are one of the two above. */
export function fateOf(name: IssuerName, issuer: string, claims: JsonObject): Fate {
  const breaches: Breach[] = [...envelopeBreaches(name, issuer, claims)];
  const user = mapped[name](claims, (requirement, message) =>
    breaches.push({ requirement: `${area}.${requirement}`, ...(message === undefined ? {} : { message }) }),
  );
  return breaches.length > 0 ? { breaches } : { user };
}

function* envelopeBreaches(name: IssuerName, issuer: string, { iss, aud, exp, nbf }: JsonObject): Iterable<Breach> {
  if (iss === undefined) yield minimum;
  else if (iss !== issuer) yield { requirement: `${area}.issuer-match` };
  const known: readonly string[] = name === "claims" ? audiences : [audiences[0]];
  const named = Array.isArray(aud) ? aud : [aud];
  if (aud === undefined) yield minimum;
  else if (!named.some((each) => typeof each === "string" && known.includes(each))) {
    yield { requirement: `${area}.audiences` };
  }
  if (exp === undefined) yield minimum;
  else if (exp === longAgoSeconds) yield { requirement: `${area}.lifetime` };
  if (nbf === farFutureSeconds) yield { requirement: `${area}.lifetime` };
}

type Broken = (requirement: string, message?: string) => void;

const mapped: Readonly<Record<IssuerName, (claims: JsonObject, broken: Broken) => TokenUser>> = {
  claims(claims, broken) {
    if (claims["tenant"] !== "touchstone") broken("required-claim");
    if (claims["suspended"] !== "") broken("required-claim");
    return {
      ...plainUser,
      username: `claims:${nameIn(claims, "sub", broken)}`,
      groups: textsOf(claims["groups"], "groups", broken).map((group) => `claims-group:${group}`),
      uid: textIn(claims, "uid", "uid", broken),
    };
  },
  expressions(claims, broken) {
    if (claims["plan"] !== "paid") broken("claim-expression", "plan" in claims ? ruleMessages.plan : undefined);
    const username = nameIn(claims, "sub", broken);
    const groups = textsOf(claims["roles"], "groups", broken);
    if (username.startsWith("system:")) broken("user-rules", ruleMessages.name);
    if (groups.some((group) => group.startsWith("system:"))) broken("user-rules", ruleMessages.group);
    const extra: Record<string, readonly string[]> = {};
    for (const [key, claim] of [
      [teamKey, "team"],
      [badgesKey, "badges"],
    ] as const) {
      const texts = textsOf(claims[claim], "extra", broken);
      if (texts.length > 0) extra[key] = texts;
    }
    return { username, groups, uid: textIn(claims, "id", "uid", broken), extra };
  },
  email(claims, broken) {
    if (claims["email_verified"] !== true) broken("claim-expression");
    return { ...plainUser, username: `mail:${nameIn(claims, "email", broken)}` };
  },
  "email-claim"(claims, broken) {
    const verified = claims["email_verified"];
    if (verified !== undefined && verified !== true) broken("email-verified");
    return { ...plainUser, username: `address:${nameIn(claims, "email", broken)}` };
  },
  elsewhere: bySubject("elsewhere:"),
  rotating: bySubject("rotating:"),
  misnamed(_claims, broken) {
    broken("discovery-url-issuer");
    return { ...plainUser, username: "" };
  },
  untrusted(_claims, broken) {
    broken("certificate-authority");
    return { ...plainUser, username: "" };
  },
};

const plainUser = { uid: "", groups: [], extra: {} } as const;

function bySubject(prefix: string): (claims: JsonObject, broken: Broken) => TokenUser {
  return (claims, broken) => ({ ...plainUser, username: prefix + nameIn(claims, "sub", broken) });
}

function nameIn(claims: JsonObject, claim: string, broken: Broken): string {
  if (!(claim in claims)) broken("minimum-claims");
  else if (typeof claims[claim] !== "string") broken("username");
  return String(claims[claim]);
}

function textIn(claims: JsonObject, claim: string, requirement: string, broken: Broken): string {
  const value = claims[claim];
  if (typeof value !== "string") broken(requirement);
  return String(value);
}

/** A string, or several; nothing, null and the empty string are none. */
function textsOf(value: Json | undefined, requirement: string, broken: Broken): readonly string[] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value === "string") return [value];
  if (Array.isArray(value) && value.every((each) => typeof each === "string"))
    return value.filter((each) => each !== "");
  broken(requirement);
  return [];
}

/** Whom a review of itself says that the caller is. */
export function userIn(document: Json | undefined): TokenUser | undefined {
  const status = isJsonObject(document) ? document["status"] : undefined;
  const info = isJsonObject(status) ? status["userInfo"] : undefined;
  if (!isJsonObject(info) || typeof info["username"] !== "string") return undefined;
  const { username, uid = "", groups = [], extra = {} } = info;
  return {
    username,
    uid: String(uid),
    groups: Array.isArray(groups) ? groups.map(String).filter((group) => !group.startsWith("system:")) : [],
    extra: isJsonObject(extra) ? (extra as unknown as TokenUser["extra"]) : {},
  };
}

/** The first attribute that differs, with the promise that it breaks. Extra values of other keys are the server's own. */
export function judgeTokenUser(
  expected: TokenUser,
  actual: TokenUser | undefined,
): { readonly requirement: string; readonly violation: Violation } | undefined {
  const parts = [
    ["username", expected.username, actual?.username],
    ["uid", expected.uid, actual?.uid],
    ["groups", [...expected.groups].sort(), [...(actual?.groups ?? [])].sort()],
    ["extra", extraOf(expected), actual === undefined ? undefined : extraOf(actual)],
  ] as const;
  for (const [part, wanted, found] of parts) {
    if (JSON.stringify(wanted) === JSON.stringify(found)) continue;
    const violation = { expected: `${part} ${JSON.stringify(wanted)}`, actual: JSON.stringify(found) ?? "no user" };
    return { requirement: `${area}.${part}`, violation };
  }
  return undefined;
}

const extraOf = ({ extra }: TokenUser): readonly (readonly string[])[] => [
  extra[teamKey] ?? [],
  extra[badgesKey] ?? [],
];

/**
 * From the claims of a token whose signature is good to a user, or to why there is none.
 * Source: document 2, Authentication 2, ClaimMappings; the facts, section 7, runtime order, D27; RFC 7519, 4.1.
 *
 * Simplification: `nbf` has no leeway, where the observed server's library forgives five minutes.
 */
import type {
  ClaimRule,
  IssuerSettings,
  Mapping,
  TokenAuthenticatorSettings,
} from "../../../configuration/authentication.ts";
import { userType } from "../../../configuration/expressions.ts";
import type { ConfigurationRules } from "../../../configuration/rules.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import type { Expression } from "../../../expressions/expression.ts";
import { fromJson } from "../../../expressions/json-values.ts";
import { isList, type Value } from "../../../expressions/values.ts";
import type { User } from "../authenticate.ts";
import { claimsValue } from "./claims-value.ts";

export type Judgement =
  | { readonly is: "user"; readonly user: User }
  | { readonly is: "refused"; readonly refusal: Refusal };

export interface Refusal {
  /** For the log. */
  readonly why: string;
  /** The text of the rule that says no; empty when it has none, or it was no rule. */
  readonly message: string;
}

/** Ends a judgement. */
class Refused extends Error implements Refusal {
  readonly why: string;

  constructor(why: string, message = "") {
    super(message);
    this.why = why;
    this.message = message;
  }
}

const authenticatedGroup = "system:authenticated";

/** `passed` hears of every step that a token has passed, in order. */
export function judgeClaims(
  claims: JsonObject,
  settings: TokenAuthenticatorSettings,
  rules: ConfigurationRules,
  nowSeconds: number,
  passed: (step: string) => void = () => {},
): Judgement {
  try {
    requireEnvelope(claims, settings.issuer, nowSeconds);
    passed("iss, aud, exp and nbf are as they must be");
    const values = { claims: claimsValue(claims) };
    if (rules.claimRules === "before-mappings") requireClaims(claims, values, settings.claimRules, passed);
    const user = mappedUser(claims, values, settings);
    passed(`the user is ${JSON.stringify(user.name)}`);
    if (rules.claimRules === "after-mappings") requireClaims(claims, values, settings.claimRules, passed);
    requireUser(user, settings.userRules, passed);
    return { is: "user", user: { ...user, groups: [...user.groups, authenticatedGroup] } };
  } catch (error) {
    if (error instanceof Refused) return { is: "refused", refusal: { why: error.why, message: error.message } };
    throw error;
  }
}

const refuse = (why: string, message?: string): never => {
  throw new Refused(why, message);
};

function requireEnvelope(claims: JsonObject, { url, audiences }: IssuerSettings, nowSeconds: number): void {
  const { iss, aud, exp, nbf } = claims;
  if (iss !== url) refuse(`iss is ${JSON.stringify(iss)}, not ${JSON.stringify(url)}`);
  const named = typeof aud === "string" ? [aud] : Array.isArray(aud) ? (aud as readonly Json[]) : [];
  if (!named.some((each) => typeof each === "string" && audiences.includes(each))) {
    refuse(`aud is ${JSON.stringify(aud)}, without any of ${audiences.map((each) => JSON.stringify(each)).join(", ")}`);
  }
  if (typeof exp !== "number") refuse("exp is not there, or no number");
  else if (nowSeconds >= exp) refuse("the token has expired");
  if (nbf === undefined) return;
  if (typeof nbf !== "number") refuse("nbf is no number");
  else if (nowSeconds < nbf) refuse("the token is not valid yet");
}

type Values = Readonly<Record<string, Value>>;

function requireClaims(
  claims: JsonObject,
  values: Values,
  rules: readonly ClaimRule[],
  passed: (step: string) => void,
): void {
  for (const rule of rules) {
    if (rule.is === "claim") {
      const value = claimOf(claims, rule.claim);
      if (value !== rule.value) {
        refuse(`the claim ${JSON.stringify(rule.claim)} is ${shown(value)}, not ${JSON.stringify(rule.value)}`);
      }
      passed(`the claim ${JSON.stringify(rule.claim)} is ${JSON.stringify(rule.value)}`);
    } else {
      requireTrue(rule.expression, values, rule.message);
      passed(`it is true that ${rule.expression.source}`);
    }
  }
}

function requireUser(
  { name: username, uid, groups, extra = {} }: User,
  rules: TokenAuthenticatorSettings["userRules"],
  passed: (step: string) => void,
): void {
  if (rules.length === 0) return;
  const user = fromJson({ username, uid, groups, extra } as unknown as JsonObject, userType);
  for (const { expression, message } of rules) {
    requireTrue(expression, { user }, message);
    passed(`it is true that ${expression.source}`);
  }
}

function requireTrue(expression: Expression, values: Values, message: string): void {
  const value = evaluated(expression, values);
  if (value !== true) refuse(`it is not true that ${expression.source}`, message);
}

function evaluated(expression: Expression, values: Values): Value {
  const outcome = expression.evaluate(values);
  return "value" in outcome ? outcome.value : refuse(`${expression.source} cannot be evaluated: ${outcome.error}`);
}

function mappedUser(claims: JsonObject, values: Values, settings: TokenAuthenticatorSettings): User {
  const { username, groups, uid, extra } = settings;
  const name = oneText(claims, values, username, "username");
  if (username.is === "claim" && username.claim === "email") requireVerified(claims);
  return {
    name,
    groups: groups === undefined ? [] : groupsOf(claims, values, groups),
    uid: uid === undefined ? "" : oneText(claims, values, uid, "uid"),
    ...extraOf(values, extra),
  };
}

/** A user without a name would be nobody, and everybody. */
function oneText(claims: JsonObject, values: Values, mapping: Mapping, what: "username" | "uid"): string {
  const value = mapping.is === "claim" ? claimOf(claims, mapping.claim) : evaluated(mapping.expression, values);
  if (typeof value !== "string") return refuse(`the ${what} is ${shown(value)}, not one text`);
  if (value === "" && what === "username") return refuse("the username is empty");
  return mapping.is === "claim" ? mapping.prefix + value : value;
}

/** An address that nobody has verified may be anybody's. Where the token does not say, the issuer answers for it. */
function requireVerified(claims: JsonObject): void {
  const verified = claimOf(claims, "email_verified");
  if (verified !== undefined && verified !== true) refuse("the email is not verified");
}

function groupsOf(claims: JsonObject, values: Values, mapping: Mapping): readonly string[] {
  if (mapping.is === "expression") return textsOf(evaluated(mapping.expression, values), "groups");
  const value = claimOf(claims, mapping.claim);
  return textsOf(value === undefined ? null : claimsValue(value), "groups").map((group) => mapping.prefix + group);
}

function extraOf(values: Values, rows: TokenAuthenticatorSettings["extra"]): Pick<User, "extra"> {
  const extra: Record<string, readonly string[]> = {};
  for (const { key, value } of rows) {
    const texts = textsOf(evaluated(value, values), `extra ${JSON.stringify(key)}`);
    if (texts.length > 0) extra[key] = texts;
  }
  return Object.keys(extra).length === 0 ? {} : { extra };
}

/** A text, or several; nothing, null and what is empty are none. */
function textsOf(value: Value, what: string): readonly string[] {
  if (value === null || value === "") return [];
  if (typeof value === "string") return [value];
  if (!isList(value)) return refuse(`${what}: ${shown(value)} is neither a text nor a list of texts`);
  return value.flatMap((item) => {
    if (item === null || item === "") return [];
    return typeof item === "string" ? [item] : refuse(`${what}: ${shown(item)} in the list is no text`);
  });
}

const claimOf = (claims: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

const shown = (value: unknown): string =>
  value === undefined
    ? "not there"
    : typeof value === "object" && value !== null
      ? "an object or a list"
      : String(value);

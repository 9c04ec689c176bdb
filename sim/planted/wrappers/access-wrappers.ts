/** Planted bugs of who comes in and what they may, around what tells that in a server that knows nothing of them. */
import { anonymousUser, type Authenticator, bearerToken } from "../../apiserver/access/authenticate.ts";
import { alwaysAllow, type Authorizer } from "../../apiserver/access/authorize.ts";
import type { ReadClaims } from "../../apiserver/access/tokens/token-authenticators.ts";
import type { WebhookCaller } from "../../apiserver/admission/webhooks.ts";
import { ApiError } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { type Planted, type Rows, wrapped } from "./planted.ts";

const authenticators: Rows<Authenticator> = {
  "bad-token-is-anonymous": (authenticate, shows) => (request, done) =>
    authenticate(request, (found) => {
      const isBad = found instanceof ApiError && bearerToken(request.headers["authorization"]) !== undefined;
      done(isBad && shows() ? anonymousUser : found);
    }),
  "no-credentials-403": (authenticate, shows) => (request, done) => {
    const { clientCertificate: certificate, headers } = request;
    const isProven = certificate !== undefined && certificate !== "invalid";
    if (isProven || bearerToken(headers["authorization"]) !== undefined || !shows()) return authenticate(request, done);
    done(new ApiError(403, "Forbidden", "no credentials"));
    return () => {};
  },
};

const authorizers: Rows<Authorizer> = {
  "right-covers-subresources": (decide, shows) => (user, asked, done) =>
    decide(user, asked.is === "resource" && shows() ? { ...asked, subresource: "" } : asked, done),
};

/** As far away as a date is written. */
const neverSeconds = 253_402_300_799;

const claimReaders: Rows<ReadClaims> = {
  "jwt-email-unverified": changing((claims) => ({ ...claims, email_verified: true })),
  "jwt-audience-ignored": changing((claims, { issuer }) => ({ ...claims, aud: issuer.audiences })),
  "jwt-expiry-ignored": changing((claims) =>
    typeof claims["exp"] === "number" ? { ...claims, exp: neverSeconds } : claims,
  ),
  "jwt-memory-outlives-token": changing((claims, _settings, nowSeconds) =>
    typeof claims["exp"] === "number" && claims["exp"] > nowSeconds ? { ...claims, exp: neverSeconds } : claims,
  ),
};

const webhookCallers: Rows<WebhookCaller> = {
  "webhook-told-new-as-old": asking((asked) =>
    isObject(asked["object"]) && isObject(asked["oldObject"])
      ? { ...asked, oldObject: structuredClone(asked["object"]) }
      : asked,
  ),
  "webhook-dry-run-untold": asking((asked) => ({ ...asked, dryRun: false })),
};

function changing(change: ReadClaims) {
  return (inner: ReadClaims, shows: () => boolean): ReadClaims =>
    (claims, settings, nowSeconds) =>
      shows() ? change(inner(claims, settings, nowSeconds), settings, nowSeconds) : inner(claims, settings, nowSeconds);
}

function asking(change: (asked: JsonObject) => JsonObject) {
  return (call: WebhookCaller, shows: () => boolean): WebhookCaller =>
    (wanted, done) => {
      const { request } = wanted.body;
      if (!isObject(request) || !shows()) return call(wanted, done);
      return call({ ...wanted, body: { ...wanted.body, request: change(request) } }, done);
    };
}

export const authenticatorWith = (planted: Planted, authenticate: Authenticator): Authenticator =>
  wrapped(planted, authenticators, authenticate);

/** Where nobody is ever refused, nobody is. */
export const authorizerWith = (planted: Planted, decide: Authorizer): Authorizer =>
  decide === alwaysAllow ? decide : wrapped(planted, authorizers, decide);

/** Undefined when none of these bugs is planted. */
export function claimReaderWith(planted: Planted): ReadClaims | undefined {
  const read = wrapped<ReadClaims>(planted, claimReaders, asTheyAre);
  return read === asTheyAre ? undefined : read;
}

export const webhooksWith = (planted: Planted, call: WebhookCaller | undefined): WebhookCaller | undefined =>
  call && wrapped(planted, webhookCallers, call);

const asTheyAre: ReadClaims = (claims) => claims;

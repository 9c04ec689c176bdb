/** Planted bugs of who comes in and what they may, around what tells that in a server that knows nothing of them. */
import { anonymousUser, type Authenticator, bearerToken } from "../../apiserver/access/authenticate.ts";
import { alwaysAllow, type Attributes, type Authorizer, type Decision } from "../../apiserver/access/authorize.ts";
import type { AccessConfiguration } from "../../apiserver/access/access.ts";
import type { ReadClaims } from "../../apiserver/access/tokens/token-authenticators.ts";
import type { IssuerCaller } from "../../apiserver/access/tokens/issuer-keys.ts";
import type { ReviewAnswer, ReviewCaller } from "../../apiserver/access/webhooks/webhook-authorizer.ts";
import { ApiError } from "../../contract/errors.ts";
import type { Json } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { Cancel } from "../../kernel/types.ts";
import type { Run } from "../../apiserver/requests/run.ts";
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
  "collections-go-by-delete": (decide, shows) => (user, asked, done) => {
    const isOfMany = asked.is === "resource" && asked.verb === "deletecollection";
    return decide(user, isOfMany && shows() ? { ...asked, verb: "delete" } : asked, done);
  },
  "impersonation-of-groups-unasked": (decide, shows) => (user, asked, done) => {
    const isBeside = asked.is === "resource" && asked.verb === "impersonate" && !isUser.has(asked.resource.resource);
    return (isBeside && shows() ? alwaysAllow : decide)(user, asked, done);
  },
};

/** Whether a run may be carried out. */
export type Permits = (run: Run, asked: Attributes, done: (decision: Decision) => void) => Cancel;

const permits: Rows<Permits> = {
  "dry-run-needs-no-right": (inner, shows) => (run, asked, done) =>
    run.query.first("dryRun") === "All" && shows() ? alwaysAllow(run.user, asked, done) : inner(run, asked, done),
};

/** What somebody acts as; their groups and further facts come beside it. */
const isUser: ReadonlySet<string> = new Set(["users", "serviceaccounts"]);

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

/** Documents of an issuer without `keys` say where these are. */
const issuerCallers: Rows<IssuerCaller> = {
  "jwt-keys-read-once": withKeys((first, before) => before[0] ?? first),
  "jwt-old-keys-kept": withKeys((keys, before) => [...before.flat(), ...keys]),
  "jwt-keys-shared": withKeys((keys, _before, others) => [...keys, ...others.flat()]),
};

const reviewCallers: Rows<ReviewCaller> = {
  "authorizer-denial-passed-on": (call, shows) => (body, done, headers) =>
    call(body, (answer) => done(shows() ? undenied(answer) : answer), headers),
  "authorizer-answers-stay": (call, shows) => {
    const first = new Map<string, ReviewAnswer>();
    return (body, done, headers) => {
      const question = JSON.stringify(body["spec"]);
      const heard = (answer: ReviewAnswer): void => {
        if (!first.has(question) && !("error" in answer)) first.set(question, answer);
        done((shows() ? first.get(question) : undefined) ?? answer);
      };
      return call(body, heard, headers);
    };
  },
};

type Keys = readonly Json[];

/** `before`: what the same address has said earlier, the oldest first. `others`: what other addresses say now. */
function withKeys(change: (keys: Keys, before: readonly Keys[], others: readonly Keys[]) => Keys) {
  return (call: IssuerCaller, shows: () => boolean): IssuerCaller => {
    const told = new Map<string, Keys[]>();
    return (wanted, done) =>
      call(wanted, (answer) => {
        const keys = "body" in answer && isObject(answer.body) ? answer.body["keys"] : undefined;
        if (!Array.isArray(keys)) {
          done(answer);
          return;
        }
        const before = told.get(wanted.url) ?? [];
        const others = [...told].filter(([url]) => url !== wanted.url).map(([, all]) => all.at(-1) ?? []);
        told.set(wanted.url, [...before, keys]);
        done(shows() ? { status: 200, body: { keys: change(keys, before, others) } } : answer);
      });
  };
}

function undenied(answer: ReviewAnswer): ReviewAnswer {
  const status = "body" in answer && isObject(answer.body) ? answer.body["status"] : undefined;
  if (!("body" in answer) || !isObject(answer.body) || !isObject(status)) return answer;
  return { ...answer, body: { ...answer.body, status: { ...status, denied: false } } };
}

function changing(change: ReadClaims) {
  return (inner: ReadClaims, shows: () => boolean): ReadClaims =>
    (claims, settings, nowSeconds) =>
      shows() ? change(inner(claims, settings, nowSeconds), settings, nowSeconds) : inner(claims, settings, nowSeconds);
}

export const authenticatorWith = (planted: Planted, authenticate: Authenticator): Authenticator =>
  wrapped(planted, authenticators, authenticate);

/** Where nobody is ever refused, nobody is. */
export const authorizerWith = (planted: Planted, decide: Authorizer): Authorizer =>
  decide === alwaysAllow ? decide : wrapped(planted, authorizers, decide);

export const permitsWith = (planted: Planted, inner: Permits): Permits => wrapped(planted, permits, inner);

/** Undefined when none of these bugs is planted. */
export function claimReaderWith(planted: Planted): ReadClaims | undefined {
  const read = wrapped<ReadClaims>(planted, claimReaders, asTheyAre);
  return read === asTheyAre ? undefined : read;
}

/** How those that configuration files name are reached. */
export const accessWith = (planted: Planted, access: AccessConfiguration): AccessConfiguration => ({
  ...access,
  callIssuer: issuerCallerWith(planted, access.callIssuer),
  reviews: (settings) => reviewCallerWith(planted, access.reviews(settings)),
});

export const issuerCallerWith = (planted: Planted, call: IssuerCaller): IssuerCaller =>
  wrapped(planted, issuerCallers, call);

export const reviewCallerWith = (planted: Planted, call: ReviewCaller): ReviewCaller =>
  wrapped(planted, reviewCallers, call);

const asTheyAre: ReadClaims = (claims) => claims;

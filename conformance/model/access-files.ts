/**
 * The configuration files with which a target lets the suite judge how it reads tokens and asks authorizers: the suite is
 * the issuer and the webhook that they name. Plain data, in the shape of document 2, Configuration types.
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { JsonObject } from "../client/types.ts";

export interface IssuerAddress {
  /** `https://host:port`. */
  readonly url: string;
  /** PEM of the certificate that the suite shows there; undefined where nothing is encrypted. */
  readonly certificate: string | undefined;
  /** PEM of a certificate that it does not show. */
  readonly otherCertificate: string | undefined;
}

/** Paths at which the anonymous may come in, and nowhere else. */
export const openPaths = ["/livez", "/readyz"] as const;

export const audiences = ["touchstone", "touchstone-too"] as const;

/** Authenticators of the file, by the last part of their issuer's URL. */
export const issuerNames = [
  "claims",
  "expressions",
  "email",
  "email-claim",
  "elsewhere",
  "rotating",
  "misnamed",
  "untrusted",
] as const;
export type IssuerName = (typeof issuerNames)[number];

export const issuerUrl = (url: string, name: IssuerName): string => `${url}/${name}`;

/** Where discovery of an issuer is served, if not below its URL. */
export const discoveryPaths: Readonly<Partial<Record<IssuerName, string>>> = {
  elsewhere: "/configurations/elsewhere",
  misnamed: "/configurations/misnamed",
};

export const teamKey = "touchstone.example/team";
export const badgesKey = "touchstone.example/badges";

/** What a rule says when it refuses. */
export const ruleMessages = {
  plan: "the plan is not paid",
  name: "reserved names are not taken",
  group: "the group is banned",
} as const;

export function authenticationFile(dialect: Dialect, address: IssuerAddress): JsonObject {
  return {
    apiVersion: `${configurationGroup(dialect)}/v1beta1`,
    kind: "AuthenticationConfiguration",
    jwt: issuerNames.map((name) => ({ issuer: issuerOf(name, address), ...authenticators[name] })),
    anonymous: { enabled: true, conditions: openPaths.map((path) => ({ path })) },
  };
}

const configurationGroup = ({ name }: Dialect): string =>
  name === "svc" ? "apiserver.svc.io" : "apiserver.config.k8s.io";

function issuerOf(name: IssuerName, { url, certificate, otherCertificate }: IssuerAddress): JsonObject {
  const trusted = name === "untrusted" ? otherCertificate : certificate;
  const discovery = discoveryPaths[name];
  return {
    url: issuerUrl(url, name),
    ...(discovery === undefined ? {} : { discoveryURL: `${url}${discovery}` }),
    ...(trusted === undefined ? {} : { certificateAuthority: trusted }),
    audiences: name === "claims" ? [...audiences] : [audiences[0]],
    audienceMatchPolicy: "MatchAny",
  };
}

/** A user's name as the claim `sub` has it. */
const bySubject = (prefix: string): JsonObject => ({ claimMappings: { username: { claim: "sub", prefix } } });

const authenticators: Readonly<Record<IssuerName, JsonObject>> = {
  claims: {
    claimValidationRules: [{ claim: "tenant", requiredValue: "touchstone" }, { claim: "suspended" }],
    claimMappings: {
      username: { claim: "sub", prefix: "claims:" },
      groups: { claim: "groups", prefix: "claims-group:" },
      uid: { claim: "uid" },
    },
  },
  expressions: {
    claimValidationRules: [{ expression: "claims.plan == 'paid'", message: ruleMessages.plan }],
    claimMappings: {
      username: { expression: "claims.sub" },
      groups: { expression: "has(claims.roles) ? claims.roles : ''" },
      uid: { expression: "claims.id" },
      extra: [
        { key: teamKey, valueExpression: "has(claims.team) ? claims.team : ''" },
        { key: badgesKey, valueExpression: "has(claims.badges) ? claims.badges : ''" },
      ],
    },
    userValidationRules: [
      { expression: "!user.username.startsWith('system:')", message: ruleMessages.name },
      { expression: "user.groups.all(g, !g.startsWith('system:'))", message: ruleMessages.group },
    ],
  },
  email: {
    claimValidationRules: [{ expression: "claims.email_verified == true" }],
    claimMappings: { username: { expression: "'mail:' + claims.email" } },
  },
  "email-claim": { claimMappings: { username: { claim: "email", prefix: "address:" } } },
  elsewhere: bySubject("elsewhere:"),
  rotating: bySubject("rotating:"),
  misnamed: bySubject("misnamed:"),
  untrusted: bySubject("untrusted:"),
};

/** Webhooks of the file, in its order. */
export const authorizerNames = ["first", "second"] as const;
export type AuthorizerName = (typeof authorizerNames)[number];

/** Name of the service accounts that the webhooks are asked about; all others are left to the target's own authorizers. */
export const gatedAccount = "gated";

/** The first webhook is not asked about objects whose names begin like this. */
export const pastPrefix = "past-";
/** A condition of both webhooks cannot be evaluated for them. */
export const oddPrefix = "odd-";

export interface WebhookTimes {
  readonly authorizedSeconds: number;
  readonly unauthorizedSeconds: number;
  readonly timeoutSeconds: number;
  readonly version: "v1" | "v1beta1";
  readonly failurePolicy: "NoOpinion" | "Deny";
}

export const webhooks: Readonly<Record<AuthorizerName, WebhookTimes>> = {
  first: { authorizedSeconds: 2, unauthorizedSeconds: 1, timeoutSeconds: 1, version: "v1", failurePolicy: "NoOpinion" },
  second: {
    authorizedSeconds: 1,
    unauthorizedSeconds: 2,
    timeoutSeconds: 1,
    version: "v1beta1",
    failurePolicy: "Deny",
  },
};

const isGated = `request.user.startsWith('system:serviceaccount:') && request.user.endsWith(':${gatedAccount}')`;
const isNamed = "has(request.resourceAttributes) && has(request.resourceAttributes.name)";
const isEvaluated = `!request.resourceAttributes.name.startsWith('${oddPrefix}') || int(request.resourceAttributes.name) > 0`;

const conditions: Readonly<Record<AuthorizerName, readonly string[]>> = {
  first: [isGated, isNamed, `!request.resourceAttributes.name.startsWith('${pastPrefix}')`, isEvaluated],
  second: [isGated, isNamed, "'system:authenticated' in request.groups", isEvaluated],
};

/** `connectionFiles` are where the target reads how the webhooks are reached; the last authorizer is what it has itself. */
export function authorizationFile(
  dialect: Dialect,
  connectionFiles: Readonly<Record<AuthorizerName, string>>,
): JsonObject {
  const field = dialect.name === "svc" ? "svcConfigFile" : "kubeConfigFile";
  const type = dialect.name === "svc" ? "SvcConfigFile" : "KubeConfigFile";
  return {
    apiVersion: `${configurationGroup(dialect)}/v1beta1`,
    kind: "AuthorizationConfiguration",
    authorizers: [
      ...authorizerNames.map((name) => {
        const { authorizedSeconds, unauthorizedSeconds, timeoutSeconds, version, failurePolicy } = webhooks[name];
        return {
          type: "Webhook",
          name: `touchstone-${name}`,
          webhook: {
            authorizedTTL: `${authorizedSeconds}s`,
            unauthorizedTTL: `${unauthorizedSeconds}s`,
            timeout: `${timeoutSeconds}s`,
            subjectAccessReviewVersion: version,
            matchConditionSubjectAccessReviewVersion: "v1",
            failurePolicy,
            connectionInfo: { type, [field]: connectionFiles[name] },
            matchConditions: conditions[name].map((expression) => ({ expression })),
          },
        };
      }),
      { type: "RBAC", name: "roles" },
    ],
  };
}

/** A connection file for one webhook. */
export function connectionFile(url: string, name: AuthorizerName, certificate: string | undefined): JsonObject {
  const trust = certificate === undefined ? {} : { "certificate-authority-data": btoa(certificate) };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "touchstone", cluster: { server: `${url}/${name}`, ...trust } }],
    users: [{ name: "target", user: {} }],
    contexts: [{ name: "touchstone", context: { cluster: "touchstone", user: "target" } }],
    "current-context": "touchstone",
  };
}

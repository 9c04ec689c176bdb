/** What a file means, in sentences for whoever has to decide whether it is the right one. */
import type { Expression } from "../expressions/expression.ts";
import { formatType } from "../expressions/types.ts";
import type { AuthenticationSettings, Mapping, TokenAuthenticatorSettings } from "./authentication.ts";
import type { AuthorizerSettings, AuthorizerWebhookSettings } from "./authorization.ts";
import type { EgressConnection, EgressName, EgressSettings } from "./egress.ts";
import { egressNames } from "./egress.ts";
import type { ConfigurationRules } from "./rules.ts";
import { defaultEndpoint, type TracingSettings } from "./tracing.ts";

export interface Sentence {
  readonly text: string;
  /** What it is made of, in order. */
  readonly below?: readonly Sentence[];
  /** It is allowed, and hardly meant. */
  readonly isWarning?: true;
}

const say = (text: string, below?: readonly Sentence[]): Sentence => (below === undefined ? { text } : { text, below });
const warn = (text: string): Sentence => ({ text, isWarning: true });
const code = (text: string): string => JSON.stringify(text);
const listed = (items: readonly string[]): string => items.map(code).join(", ");

export function explainAuthentication(
  { authenticators, anonymous }: AuthenticationSettings,
  rules: ConfigurationRules,
): readonly Sentence[] {
  const count = authenticators.length;
  const issuers =
    count === 0
      ? say("No issuer of tokens is trusted.")
      : say(
          `${count === 1 ? "One issuer of tokens is" : `${count} issuers of tokens are`} trusted; a token goes to the one that its iss names.`,
        );
  return [issuers, ...authenticators.map((row) => explainAuthenticator(row, rules)), explainAnonymous(anonymous)];
}

function explainAnonymous(anonymous: AuthenticationSettings["anonymous"]): Sentence {
  if (anonymous === undefined)
    return say("Whether callers without credentials are let in is left to --anonymous-auth.");
  if (!anonymous.enabled) return say("Callers without credentials get 401.");
  if (anonymous.paths === undefined) return say("Callers without credentials are system:anonymous, at every path.");
  return say(
    `Callers without credentials are system:anonymous at exactly ${listed(anonymous.paths)}, and get 401 elsewhere.`,
  );
}

function explainAuthenticator(row: TokenAuthenticatorSettings, rules: ConfigurationRules): Sentence {
  const { issuer, claimRules, userRules } = row;
  const wellKnown = `${issuer.url.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const trust = issuer.certificateAuthority === undefined ? "the machine's authorities" : "the authorities in the file";
  const claimSteps = claimRules.map((rule) =>
    rule.is === "claim"
      ? say(
          `The claim ${code(rule.claim)} must be ${rule.value === "" ? "there, with the empty string" : code(rule.value)}.`,
        )
      : say(`It must be true of the claims that ${rule.expression.source}.`),
  );
  const mappings = explainMappings(row);
  return say(`Tokens of ${issuer.url}:`, [
    say(
      `Keys come from the discovery document at ${issuer.discoveryUrl ?? wellKnown}, over TLS by ${trust}, past any egress selection.`,
    ),
    say(`aud must have one of ${listed(issuer.audiences)}; exp must be to come; nbf, if there, must be past.`),
    ...(rules.claimRules === "before-mappings" ? [...claimSteps, ...mappings] : [...mappings, ...claimSteps]),
    ...userRules.map(({ expression }) => say(`It must be true of the user that ${expression.source}.`)),
    say(
      rules.refusalsSayWhy
        ? "Whatever fails is 401, with the message of the rule that it failed."
        : "Whatever fails is 401; why is only told in the server's log.",
    ),
  ]);
}

function explainMappings(row: TokenAuthenticatorSettings): readonly Sentence[] {
  const { username, groups, uid, extra } = row;
  const email = username.is === "claim" && username.claim === "email";
  return [
    say(`The username is ${mapped(username)}.`),
    ...(email ? [say("Where the token says email_verified, it must be true.")] : []),
    ...neverText(username),
    ...unverifiedEmail(row),
    ...(groups === undefined ? [] : [say(`The groups are ${mapped(groups)}, and system:authenticated.`)]),
    ...(uid === undefined ? [] : [say(`The uid is ${mapped(uid)}.`)]),
    ...extra.map(({ key, value }) => say(`Extra ${code(key)} is ${value.source}.`)),
  ];
}

const mapped = (mapping: Mapping): string =>
  mapping.is === "expression"
    ? `what ${mapping.expression.source} yields`
    : `the claim ${code(mapping.claim)}${mapping.prefix === "" ? "" : ` with ${code(mapping.prefix)} in front`}`;

/** It compiles, and no token will ever be taken. */
function neverText(mapping: Mapping): readonly Sentence[] {
  if (mapping.is === "claim") return [];
  const type = formatType(mapping.expression.type);
  return type === "string" || type === "dyn"
    ? []
    : [warn(`The expression of the username yields ${type} and never a string: no token will be accepted.`)];
}

/** A server that minds `claims.email` alone takes `claims["email"]` unseen. */
function unverifiedEmail({ username, extra, claimRules }: TokenAuthenticatorSettings): readonly Sentence[] {
  const reads = (expression: Expression, claim: string): boolean =>
    expression.selects("claims", claim, "dots-and-brackets");
  if (username.is === "claim" || !reads(username.expression, "email")) return [];
  const rules = claimRules.flatMap((rule) => (rule.is === "expression" ? [rule.expression] : []));
  const lookedAt = [username.expression, ...extra.map(({ value }) => value), ...rules];
  return lookedAt.some((expression) => reads(expression, "email_verified"))
    ? []
    : [warn("The username may be an email address that nobody has verified: no expression reads email_verified.")];
}

export function explainAuthorization(authorizers: readonly AuthorizerSettings[]): readonly Sentence[] {
  const open = authorizers.findIndex(({ type }) => type === "AlwaysAllow");
  return [
    say("The first of these with an opinion decides; members of system:masters are not asked about."),
    ...authorizers.map(({ type, name, webhook }) =>
      say(`${name} (${type}): ${authorizerTexts[type]}`, webhook === undefined ? undefined : explainWebhook(webhook)),
    ),
    ...(open < 0 || open === authorizers.length - 1
      ? []
      : [warn(`${authorizers[open]?.name} allows everything that is still open: those after it are never asked.`)]),
  ];
}

const authorizerTexts: Readonly<Record<AuthorizerSettings["type"], string>> = {
  ABAC: "attributes in a policy file decide.",
  AlwaysAllow: "allows everything.",
  AlwaysDeny: "has no opinion but that everything is forbidden.",
  Node: "decides for node agents.",
  RBAC: "stored roles and bindings allow; what they do not allow is left to the next.",
  Webhook: "a webhook is asked over HTTPS.",
};

const seconds = (micros: number): string => `${micros / 1_000_000} s`;

function explainWebhook(webhook: AuthorizerWebhookSettings): readonly Sentence[] {
  const { conditions, connectionFile, failurePolicy, reviewVersion } = webhook;
  const fallback = failurePolicy === "Deny" ? "the request is refused" : "the next authorizer decides";
  return [
    say(
      connectionFile === undefined
        ? "It is reached as a pod reaches its cluster's server."
        : `The connection file ${connectionFile} says how it is reached.`,
    ),
    say(`It gets a SubjectAccessReview of ${reviewVersion}, and has ${seconds(webhook.timeoutMicros)} to answer.`),
    say(`Its yes is kept for ${seconds(webhook.authorizedMicros)}, its no for ${seconds(webhook.unauthorizedMicros)}.`),
    conditions.length === 0
      ? say("It is asked about every request that is still open.")
      : say(
          "It is only asked when all of these are true:",
          conditions.map(({ source }) => say(source)),
        ),
    say(`When it cannot be asked, its answer makes no sense or a condition cannot be evaluated, ${fallback}.`),
  ];
}

const reached: Readonly<Record<EgressName, string>> = {
  controlplane: "Webhooks that have a URL of their own (controlplane)",
  cluster: "Nodes, pods and services (cluster)",
  etcd: "The store (etcd)",
};

export function explainEgress(settings: EgressSettings): readonly Sentence[] {
  return [
    ...egressNames.flatMap((name) => {
      const connection = settings.get(name);
      if (connection === undefined) return [say(`${reached[name]}: called directly, since no selection names them.`)];
      if (name === "etcd")
        return [
          say(
            `${reached.etcd}: ${way(connection)}. This server's store is in its own memory: nothing is called, so nothing leaves that way.`,
          ),
        ];
      return [say(`${reached[name]}: ${way(connection)}.`)];
    }),
    say("Issuers of tokens are always called directly."),
  ];
}

function way(connection: EgressConnection): string {
  if (connection.is === "direct") return "called directly";
  if (connection.is === "grpc") return `through a gRPC tunnel at the socket ${connection.socket}`;
  const { to } = connection;
  if (to.is === "socket") return `through an HTTP CONNECT proxy at the socket ${to.path}`;
  return `through the HTTP CONNECT proxy ${to.url}${to.tls === undefined ? "" : ", over TLS with a client certificate"}`;
}

export function explainTracing({ endpoint, samplesPerMillion }: TracingSettings): readonly Sentence[] {
  const isDefault = endpoint === defaultEndpoint ? ", the default" : "";
  return [
    say(`Spans go to ${endpoint}${isDefault}, over gRPC without TLS.`),
    say("A request whose caller samples its trace is sampled too."),
    samplesPerMillion === undefined || samplesPerMillion === 0
      ? say("No other request is.")
      : say(`Of the others ${samplesPerMillion} in a million are.`),
  ];
}

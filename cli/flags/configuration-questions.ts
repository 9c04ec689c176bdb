/** What a token, or a request, would come to by configuration files: asked of the same code that a server runs, and of nobody else. */
import { parseToken } from "../../sim/apiserver/access/tokens/compact-token.ts";
import { judgeClaims } from "../../sim/apiserver/access/tokens/judge-claims.ts";
import { reviewBody, reviewSpec } from "../../sim/apiserver/access/webhooks/access-review.ts";
import { conditionsOf } from "../../sim/apiserver/access/webhooks/webhook-authorizer.ts";
import type { User } from "../../sim/apiserver/access/authenticate.ts";
import type { Attributes } from "../../sim/apiserver/access/authorize.ts";
import type { AuthorizerSettings } from "../../sim/configuration/authorization.ts";
import { readConfiguration, type Settings } from "../../sim/configuration/read.ts";
import type { ServerKind } from "../../sim/configuration/rules.ts";
import type { Sentence } from "../../sim/configuration/sentences.ts";
import type { Setting } from "../../sim/configuration/setting.ts";
import type { ConfigOptions } from "../command-line.ts";
import { UsageError } from "./usage-error.ts";
import { fileText } from "./file-text.ts";

type CheckOptions = Extract<ConfigOptions, { readonly action: "check" }>;

const say = (text: string, below?: readonly Sentence[]): Sentence => (below === undefined ? { text } : { text, below });

/** Answers to the questions that the flags ask. Throws `UsageError` where no good file could answer. */
export function answersTo(options: CheckOptions, texts: readonly string[], setting: Setting): readonly Sentence[] {
  const { token, as: user, asGroup, verb, resource, namespace, name, urlPath } = options;
  const answers: Sentence[] = [];
  if (token !== undefined) {
    const settings = settingsIn("AuthenticationConfiguration", "--token", texts, setting);
    answers.push(tokenAnswer(fileText(token).trim(), settings, setting));
  }
  if (user !== undefined) {
    const settings = settingsIn("AuthorizationConfiguration", "--as", texts, setting);
    answers.push(requestAnswer({ name: user, uid: "", groups: [...asGroup] }, askedBy(options), settings, setting));
  } else if ([verb, resource, namespace, name, urlPath].some((each) => each !== undefined) || asGroup.length > 0) {
    throw new UsageError("--verb, --resource and the like ask about a request of a user: name the user with --as.");
  }
  return answers;
}

function settingsIn<Kind extends ServerKind>(
  kind: Kind,
  flag: string,
  texts: readonly string[],
  setting: Setting,
): Settings[Kind] {
  for (const text of texts) {
    const read = readConfiguration(kind, text, setting);
    if (read.ok) return read.value;
  }
  throw new UsageError(`${flag} is answered by a valid ${kind}: none is among the files.`);
}

function tokenAnswer(text: string, settings: Settings["AuthenticationConfiguration"], { rules }: Setting): Sentence {
  const token = parseToken(text);
  if ("error" in token) return say(`The token is 401: ${token.error}.`);
  const { iss } = token.claims;
  const row = settings.authenticators.find(({ issuer }) => issuer.url === iss);
  if (row === undefined)
    return say(
      `The token is 401: no authenticator is for its issuer, ${JSON.stringify(iss) ?? "which it does not name"}.`,
    );
  const steps: Sentence[] = [say(`It goes to the authenticator of ${row.issuer.url}.`)];
  const key =
    token.keyId === undefined ? "any of the issuer's keys" : `the issuer's key ${JSON.stringify(token.keyId)}`;
  steps.push(
    say(`A server verifies its signature (${token.algorithm}) by ${key}; nobody was called here, so this is open.`),
  );
  const judgement = judgeClaims(token.claims, row, rules, Date.now() / 1_000, (step) => steps.push(say(`${step}.`)));
  if (judgement.is === "refused") {
    const { why, message } = judgement.refusal;
    const told = rules.refusalsSayWhy && message !== "" ? `, and the caller is told ${JSON.stringify(message)}` : "";
    return say(`The token is 401: ${why}${told}.`, steps);
  }
  const { name, uid, groups, extra } = judgement.user;
  const user = JSON.stringify({ username: name, ...(uid === "" ? {} : { uid }), groups, ...(extra && { extra }) });
  return say(`The token is good if its signature is, and its holder is ${user}.`, steps);
}

function askedBy({ verb, resource, namespace = "", name = "", urlPath }: CheckOptions): Attributes {
  if (verb === undefined || (resource === undefined) === (urlPath === undefined)) {
    throw new UsageError("--as asks about a request: give --verb, and either --resource or --path.");
  }
  if (urlPath !== undefined) return { is: "path", verb, path: urlPath };
  const [full = "", subresource = ""] = (resource ?? "").split("/", 2);
  const dot = full.indexOf(".");
  const group = dot < 0 ? "" : full.slice(dot + 1);
  const plural = dot < 0 ? full : full.slice(0, dot);
  return { is: "resource", verb, resource: { group, resource: plural }, version: "v1", subresource, namespace, name };
}

const superuserGroup = "system:masters";

function requestAnswer(
  user: User,
  asked: Attributes,
  authorizers: readonly AuthorizerSettings[],
  setting: Setting,
): Sentence {
  if (user.groups.includes(superuserGroup)) return say(`It is allowed: ${superuserGroup} may do everything.`);
  const steps: Sentence[] = [];
  for (const row of authorizers) {
    const step = (text: string, below?: readonly Sentence[]): number => steps.push(say(`${row.name}: ${text}`, below));
    if (row.type === "AlwaysAllow") {
      step("allows it.");
      return say("It is allowed, unless one of those before says no:", steps);
    }
    if (row.webhook !== undefined) webhookStep(row.webhook, reviewSpec(user, asked), setting, step);
    else if (row.type === "AlwaysDeny") step("has no opinion.");
    else step(`is asked; what it says depends on what is stored (${row.type}).`);
  }
  return say("It is asked in this order, and refused where nobody allows it:", steps);
}

function webhookStep(
  webhook: NonNullable<AuthorizerSettings["webhook"]>,
  spec: ReturnType<typeof reviewSpec>,
  { rules }: Setting,
  step: (text: string, below?: readonly Sentence[]) => void,
): void {
  const match = conditionsOf(webhook.conditions, spec);
  if (match === "no") step("is not asked: a match condition is false.");
  else if (match === "yes") {
    const body = JSON.stringify(reviewBody(spec, webhook.reviewVersion, rules.dialect));
    step("is asked, unless its answer is kept from before. It is sent:", [say(body)]);
  } else if (webhook.failurePolicy === "Deny") step(`is not asked, and the request is refused: ${match.error}.`);
  else step(`is not asked, and the next decides: ${match.error}.`);
}

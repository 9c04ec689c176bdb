/**
 * Authorization modes and their union: the first that has an opinion decides, and members of `system:masters` are
 * never asked. Source: document 1, Authorization; the published server's modes.
 */
import type { AuthorizerSettings, AuthorizerWebhookSettings } from "../../configuration/authorization.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Cancel, Clock } from "../../kernel/types.ts";
import type { User } from "./authenticate.ts";
import { alwaysAllow, type Authorizer, decidedAtOnce, type Decision } from "./authorize.ts";
import { namespaceOf, type RbacPolicy } from "./rbac/policy.ts";
import type { PolicyRule } from "./rbac/rules.ts";

export const authorizationModes = ["AlwaysAllow", "AlwaysDeny", "RBAC"] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

/** All that a user may do in a namespace, for reviews. `problem` is empty when the list is whole. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  readonly problem: string;
}

export type RulesOf = (user: User, namespace: string) => HeldRules;

export interface Authorization {
  readonly decide: Authorizer;
  readonly rulesOf: RulesOf;
}

export const superuserGroup = "system:masters";

/** May do everything; what `AlwaysAllow` and `cluster-admin` say. */
export const everyRule: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

const deniedToAll: Decision = { allowed: false, denied: false, reason: "Everything is forbidden." };
const nothing: HeldRules = { rules: [], problem: "" };
const everything: HeldRules = { rules: everyRule, problem: "" };

/** What decides by modes alone, under the names that the observed server gives them. */
export const authorizersOf = (modes: readonly AuthorizationMode[]): readonly AuthorizerSettings[] =>
  modes.map((type) => ({ type, name: type.toLowerCase(), webhook: undefined }));

/** A webhook cannot tell all that it would allow. */
const untold: HeldRules = { rules: [], problem: "webhook authorizer does not support user rule resolution" };

/** Types that this server does not have, and why. */
export const absentAuthorizers: Readonly<Partial<Record<AuthorizerSettings["type"], string>>> = {
  ABAC: "policy files are not read: say the same with roles (RBAC) or a webhook",
  Node: "rights of node agents are not derived from their pods: give them roles (RBAC)",
};

export interface AuthorizationParts {
  readonly clock: Clock;
  readonly policy: RbacPolicy;
  /** Makes the authorizer of a webhook. */
  readonly webhook: (name: string, settings: AuthorizerWebhookSettings) => Authorizer;
  /** An authorizer has decided. */
  readonly decided: (authorizer: AuthorizerSettings, decision: "allowed" | "denied") => void;
}

/** Throws for a type that is not there. */
export function authorizationBy(rows: readonly AuthorizerSettings[], parts: AuthorizationParts): Authorization {
  const { policy, clock } = parts;
  const members = rows.map((row): Authorization => {
    const counted = (member: Authorization): Authorization => ({
      ...member,
      decide: counting(row, member.decide, parts),
    });
    if (row.type === "AlwaysAllow") return counted({ decide: alwaysAllow, rulesOf: () => everything });
    if (row.type === "AlwaysDeny") return { decide: decidedAtOnce(() => deniedToAll), rulesOf: () => nothing };
    if (row.type === "RBAC") {
      return counted({
        decide: (user, asked, done) =>
          policy.prepare(clock, namespaceOf(asked), () => done(policy.decide(user, asked))),
        rulesOf: (user, namespace) => policy.rulesFor(user, namespace),
      });
    }
    invariant(row.webhook !== undefined, "an authorizer that this server has", row.type);
    return counted({ decide: parts.webhook(row.name, row.webhook), rulesOf: () => untold });
  });
  return {
    decide: exceptSuperusers(inTurn(members.map(({ decide }) => decide))),
    rulesOf(user, namespace) {
      const held = members.map(({ rulesOf }) => rulesOf(user, namespace));
      return {
        rules: held.flatMap(({ rules }) => rules),
        problem: held.flatMap(({ problem }) => (problem === "" ? [] : [problem])).join(", "),
      };
    },
  };
}

function counting(row: AuthorizerSettings, decide: Authorizer, { decided }: AuthorizationParts): Authorizer {
  return (user, asked, done) =>
    decide(user, asked, (decision) => {
      if (decision.allowed) decided(row, "allowed");
      else if (decision.denied) decided(row, "denied");
      done(decision);
    });
}

function exceptSuperusers(decide: Authorizer): Authorizer {
  return (user, asked, done) => (user.groups.includes(superuserGroup) ? alwaysAllow : decide)(user, asked, done);
}

/** The first that has an opinion decides. Where none has, the reasons of all are given, and what went wrong. */
function inTurn(members: readonly Authorizer[]): Authorizer {
  return (user, asked, done) => {
    const reasons: string[] = [];
    const errors: string[] = [];
    let cancel: Cancel = () => {};
    const isSettledBy = (decision: Decision): boolean => {
      if (decision.allowed || decision.denied) return true;
      if (decision.reason !== "") reasons.push(decision.reason);
      if (decision.error !== undefined) errors.push(decision.error);
      return false;
    };
    // One that answers at once is taken in this loop, so that a long list does not grow the stack.
    const askFrom = (start: number): void => {
      for (let index = start; index < members.length; index++) {
        let atOnce: Decision | undefined;
        let isWaiting = false;
        cancel = (members[index] as Authorizer)(user, asked, (decision) => {
          if (!isWaiting) atOnce = decision;
          else if (isSettledBy(decision)) done(decision);
          else askFrom(index + 1);
        });
        if (atOnce === undefined) {
          isWaiting = true;
          return;
        }
        if (isSettledBy(atOnce)) {
          done(atOnce);
          return;
        }
      }
      const reason = reasons.join("\n");
      done({ allowed: false, denied: false, reason, ...(errors.length === 0 ? {} : { error: errors.join(", ") }) });
    };
    askFrom(0);
    return () => cancel();
  };
}

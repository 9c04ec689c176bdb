/**
 * Authorization modes and their union: the first that has an opinion decides, and members of `system:masters` are
 * never asked. Source: document 1, Authorization; the published server's modes.
 */
import type { User } from "./authenticate.ts";
import type { Authorizer, Decision } from "./authorize.ts";
import type { RbacPolicy } from "./rbac/policy.ts";
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

const allowed: Decision = { allowed: true, reason: "" };
const deniedToAll: Decision = { allowed: false, denied: false, reason: "Everything is forbidden." };
const nothing: HeldRules = { rules: [], problem: "" };
const everything: HeldRules = { rules: everyRule, problem: "" };

export function authorizationBy(modes: readonly AuthorizationMode[], policy: RbacPolicy): Authorization {
  const table: Readonly<Record<AuthorizationMode, Authorization>> = {
    AlwaysAllow: { decide: () => allowed, rulesOf: () => everything },
    AlwaysDeny: { decide: () => deniedToAll, rulesOf: () => nothing },
    RBAC: {
      decide: (user, asked) => policy.decide(user, asked),
      rulesOf: (user, namespace) => policy.rulesFor(user, namespace),
    },
  };
  const members = modes.map((mode) => table[mode]);
  return {
    decide(user, asked) {
      if (user.groups.includes(superuserGroup)) return allowed;
      const reasons: string[] = [];
      for (const { decide } of members) {
        const decision = decide(user, asked);
        if (decision.allowed || decision.denied) return decision;
        if (decision.reason !== "") reasons.push(decision.reason);
      }
      return { allowed: false, denied: false, reason: reasons.join("\n") };
    },
    rulesOf(user, namespace) {
      const held = members.map(({ rulesOf }) => rulesOf(user, namespace));
      return {
        rules: held.flatMap(({ rules }) => rules),
        problem: held.flatMap(({ problem }) => (problem === "" ? [] : [problem])).join(", "),
      };
    },
  };
}

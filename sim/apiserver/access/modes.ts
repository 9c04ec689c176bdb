/**
 * Authorization modes and their union: the first that has an opinion decides, and members of `system:masters` are
 * never asked. Source: document 1, Authorization; the published server's modes.
 */
import type { Cancel } from "../../kernel/types.ts";
import type { User } from "./authenticate.ts";
import { alwaysAllow, type Authorizer, decidedAtOnce, type Decision } from "./authorize.ts";
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

const deniedToAll: Decision = { allowed: false, denied: false, reason: "Everything is forbidden." };
const nothing: HeldRules = { rules: [], problem: "" };
const everything: HeldRules = { rules: everyRule, problem: "" };

export function authorizationBy(modes: readonly AuthorizationMode[], policy: RbacPolicy): Authorization {
  const table: Readonly<Record<AuthorizationMode, Authorization>> = {
    AlwaysAllow: { decide: alwaysAllow, rulesOf: () => everything },
    AlwaysDeny: { decide: decidedAtOnce(() => deniedToAll), rulesOf: () => nothing },
    RBAC: {
      decide: decidedAtOnce((user, asked) => policy.decide(user, asked)),
      rulesOf: (user, namespace) => policy.rulesFor(user, namespace),
    },
  };
  const members = modes.map((mode) => table[mode]);
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

function exceptSuperusers(decide: Authorizer): Authorizer {
  return (user, asked, done) => (user.groups.includes(superuserGroup) ? alwaysAllow : decide)(user, asked, done);
}

/** The first that has an opinion decides. Where none has, the reasons of all are given. */
function inTurn(members: readonly Authorizer[]): Authorizer {
  return (user, asked, done) => {
    const reasons: string[] = [];
    let cancel: Cancel = () => {};
    const isSettledBy = (decision: Decision): boolean => {
      if (decision.allowed || decision.denied) return true;
      if (decision.reason !== "") reasons.push(decision.reason);
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
      done({ allowed: false, denied: false, reason: reasons.join("\n") });
    };
    askFrom(0);
    return () => cancel();
  };
}

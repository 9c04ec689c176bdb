/**
 * Who may do what by the stored roles and bindings. They are read through the server's own caches, so that a grant
 * holds as late as the caches' lag says; bindings are indexed by subject, and an index lasts until one of them changes.
 * Source: document 1, Authorization; the published server's role-based authorizer, its reasons among it.
 */
import { type Dialect, groupInDialect } from "../../../../wire/dialect.ts";
import { goQuote } from "../../../../wire/go-strings.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import type { User } from "../authenticate.ts";
import type { Attributes, Decision } from "../authorize.ts";
import { type PolicyRule, ruleAllows, rulesOf } from "./rules.ts";

/** The stored objects. A list is the same array again while none of its objects changed. */
export interface RbacObjects {
  /** Undefined when there is none. An empty namespace asks for a ClusterRole. */
  role(namespace: string, name: string): JsonObject | undefined;
  /** The RoleBindings of a namespace; the ClusterRoleBindings for an empty one. */
  bindings(namespace: string): readonly JsonObject[];
}

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Grant {
  readonly binding: JsonObject;
  readonly subject: Subject;
}

/** A rule that a user has, or why a role's rules cannot be had. */
export type Holding =
  | { readonly rule: PolicyRule; readonly grant: Grant; readonly problem?: undefined }
  | { readonly problem: string };

/** More are not told of one user: the published server's own field says that an answer is incomplete. */
const rulesMax = 20_000;

type GrantsBySubject = ReadonlyMap<string, readonly Grant[]>;

export class RbacPolicy {
  private readonly objects: () => RbacObjects;
  private readonly group: string;
  private readonly indexes = new WeakMap<readonly JsonObject[], GrantsBySubject>();

  /** `objects` is asked at each decision: an authorizer is made before the caches that it reads. */
  constructor(dialect: Dialect, objects: () => RbacObjects) {
    this.objects = objects;
    this.group = groupInDialect(dialect, "rbac.authorization.svc.io");
  }

  decide(user: User, asked: Attributes): Decision {
    const problems: string[] = [];
    for (const holding of this.holdings(user, asked.is === "resource" ? asked.namespace : "")) {
      if (holding.problem !== undefined) problems.push(holding.problem);
      else if (ruleAllows(holding.rule, asked)) {
        return { allowed: true, reason: `RBAC: allowed by ${describeGrant(holding.grant)}` };
      }
    }
    return { allowed: false, denied: false, reason: problems.length === 0 ? "" : `RBAC: ${joinProblems(problems)}` };
  }

  /** All rules that a user has in a namespace, those of the whole cluster first. */
  rulesFor(user: User, namespace: string): { readonly rules: readonly PolicyRule[]; readonly problem: string } {
    const rules: PolicyRule[] = [];
    const problems: string[] = [];
    for (const holding of this.holdings(user, namespace)) {
      if (holding.problem !== undefined) problems.push(holding.problem);
      else if (rules.length < rulesMax) rules.push(holding.rule);
      else {
        problems.push(`only the first ${rulesMax} rules are told`);
        break;
      }
    }
    return { rules, problem: problems.length === 0 ? "" : joinProblems(problems) };
  }

  /** The rules of the role that a binding in `namespace` names; undefined when there is no such role. */
  referenced({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role = this.objects().role(kind === "ClusterRole" ? "" : namespace, name);
    return role === undefined ? undefined : rulesOf(role);
  }

  private *holdings(user: User, namespace: string): Generator<Holding> {
    for (const scope of namespace === "" ? [""] : ["", namespace]) {
      const index = this.indexOf(this.objects().bindings(scope), scope);
      const met = new Set<string>(); // many bindings may name one role
      for (const key of [`User ${user.name}`, ...user.groups.map((group) => `Group ${group}`)]) {
        for (const grant of index.get(key) ?? []) {
          const { kind, name } = grant.binding["roleRef"] as unknown as RoleRef;
          if (met.has(`${kind} ${name}`)) continue;
          met.add(`${kind} ${name}`);
          yield* this.holdingsOf(grant, scope);
        }
      }
    }
  }

  private *holdingsOf(grant: Grant, namespace: string): Generator<Holding> {
    const ref = grant.binding["roleRef"] as unknown as RoleRef;
    const rules = this.referenced(ref, namespace);
    if (rules === undefined) {
      yield { problem: `${ref.kind.toLowerCase()}.${this.group} ${goQuote(ref.name)} not found` };
      return;
    }
    for (const rule of rules) yield { rule, grant };
  }

  private indexOf(bindings: readonly JsonObject[], namespace: string): GrantsBySubject {
    const known = this.indexes.get(bindings);
    if (known !== undefined) return known;
    const index = new Map<string, Grant[]>();
    for (const binding of bindings) {
      for (const subject of (binding["subjects"] ?? []) as unknown as readonly Subject[]) {
        const key = subjectKey(subject, namespace);
        const grants = index.get(key);
        if (grants === undefined) index.set(key, [{ binding, subject }]);
        else grants.push({ binding, subject });
      }
    }
    this.indexes.set(bindings, index);
    return index;
  }
}

/** A service account is the user that its name makes; it lives in the binding's namespace unless it says another. */
function subjectKey({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== "ServiceAccount") return `${kind} ${name}`;
  return `User system:serviceaccount:${namespace ?? bindingNamespace}:${name}`;
}

function describeGrant({ binding, subject }: Grant): string {
  const { name, namespace } = binding["metadata"] as { readonly name: string; readonly namespace?: string };
  const { kind, name: role } = binding["roleRef"] as unknown as RoleRef;
  const what =
    namespace === undefined ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
  const whom =
    subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace ?? namespace ?? ""}` : subject.name;
  return `${what} of ${kind} ${goQuote(role)} to ${subject.kind} ${goQuote(whom)}`;
}

/** One stands plain, several in brackets, each once. */
function joinProblems(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(", ")}]`;
}

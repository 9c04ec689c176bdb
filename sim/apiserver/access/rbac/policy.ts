/**
 * Who may do what by the stored roles and bindings. They are read through the server's own caches, so that a grant
 * holds as late as the caches' lag says; bindings are indexed by subject, and an index lasts until one of them changes.
 * Source: document 1, Authorization; the published server's role-based authorizer, its reasons among it.
 */
import { toldCharactersMax } from "../../../contract/errors.ts";
import { type Dialect, groupInDialect } from "../../../../wire/dialect.ts";
import { append } from "../../../../wire/lists.ts";
import { goQuote } from "../../../../wire/go-strings.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { InvariantError } from "../../../kernel/invariant.ts";
import type { Cancel, Clock } from "../../../kernel/types.ts";
import type { User } from "../authenticate.ts";
import type { Attributes, Decision } from "../authorize.ts";
import { type Grant, Grants, type Readying } from "./grants.ts";
import { type Labour, RoleRules } from "./role-rules.ts";
import { type NamedRole, RoleNames, type RoleRef } from "./role-names.ts";
import { type PolicyRule, rulesOf } from "./rules.ts";

/** The stored objects. A list is the same array again while none of its objects changed. */
export interface RbacObjects {
  /** Where a role is, or would be. An empty namespace asks for a ClusterRole. */
  roleAt(namespace: string, name: string): RolePlace;
  /** The RoleBindings of a namespace; the ClusterRoleBindings for an empty one. */
  bindings(namespace: string): readonly JsonObject[];
}

interface RolePlace {
  /** Undefined when there is none. */
  role(): JsonObject | undefined;
}

/** A binding, with what is asked of it again and again: its names may be long. */
interface Bound {
  readonly ref: RoleRef;
  readonly place: RolePlace;
  /** While it is in the index. */
  named: NamedRole | undefined;
  readonly namespace: string | undefined;
  /** What it is, and to which role it binds; made when it is first told. */
  readonly described: () => string;
  /** That its role is absent; likewise. */
  readonly absent: () => string;
}

type BoundGrant = Grant<Bound>;

/** More are not told of one user: the published server's own field says that an answer is incomplete. */
const rulesMax = 20_000;

/** Of a decision that has taken more, what remains is searched as it is. */
const preparingMax = 50_000;
/** To look at one subject, or at one role. */
const lookUpCost = 10;

const noGrants: readonly BoundGrant[] = [];
/** Of scopes that have none. */
const nobody = new Grants<Bound>(
  "",
  () => {
    throw new InvariantError("nobody is bound");
  },
  { put: () => 0, taken: () => 0 },
);

/** Characters of a name that take as long as a subject. */
const charactersPerSubject = 100;

/** A long name is read once before it is asked for, so that no decision reads many of them at once. */
function readying(names: RoleNames): Readying<Bound> {
  const cost = ({ name }: RoleRef): number => name.length / charactersPerSubject;
  return {
    put: (bound) => {
      bound.named = names.take(bound.ref);
      if (bound.ref.name.length >= charactersPerSubject) bound.place.role();
      return cost(bound.ref);
    },
    taken: (bound) => {
      if (bound.named !== undefined) names.leave(bound.ref, bound.named);
      bound.named = undefined;
      return cost(bound.ref);
    },
  };
}

export class RbacPolicy {
  /** What all decisions have taken together. */
  readonly labour: Labour = { count: 0 };
  private readonly objects: () => RbacObjects;
  private readonly group: string;
  /** Of each scope that has bindings. */
  private readonly scopes = new Map<string, Grants<Bound>>();
  private readonly bounds = new WeakMap<JsonObject, Bound>();
  private readonly roles = new WeakMap<JsonObject, RoleRules>();

  /** `objects` is asked at each decision: an authorizer is made before the caches that it reads. */
  constructor(dialect: Dialect, objects: () => RbacObjects) {
    this.objects = objects;
    this.group = groupInDialect(dialect, "rbac.authorization.svc.io");
  }

  /** Calls `ready` once questions about a namespace, empty for none, take no long preparing: at once, unless bindings of many subjects were written. */
  prepare(clock: Clock, namespace: string, ready: () => void): Cancel {
    const scopes = scopesOf(namespace);
    let cancel: Cancel = () => {};
    const goOn = (): void => {
      for (const scope of scopes) {
        if (this.advanced(scope) !== undefined) continue;
        cancel = clock.after(0, goOn);
        return;
      }
      ready();
    };
    goOn();
    return () => cancel();
  }

  decide(user: User, asked: Attributes): Decision {
    const { labour } = this;
    const end = labour.count + preparingMax;
    const problems = new Problems();
    for (const grant of this.grantsOf(user, namespaceOf(asked))) {
      const role = this.rulesIn(grant);
      if (role === undefined) problems.add(grant.bound.absent);
      else if (role.allows(asked, labour.count < end)) {
        return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant)}` };
      }
    }
    return { allowed: false, denied: false, reason: problems.isNone ? "" : `RBAC: ${problems.told()}` };
  }

  /** All rules that a user has in a namespace, those of the whole cluster first. */
  rulesFor(user: User, namespace: string): { readonly rules: readonly PolicyRule[]; readonly problem: string } {
    const rules: PolicyRule[] = [];
    const problems = new Problems();
    for (const grant of this.grantsOf(user, namespace)) {
      const role = this.rulesIn(grant);
      if (role === undefined) problems.add(grant.bound.absent);
      else if (role.rules.length <= rulesMax - rules.length) append(rules, role.rules);
      else {
        append(rules, role.rules.slice(0, rulesMax - rules.length));
        problems.add(() => `only the first ${rulesMax} rules are told`);
        break;
      }
    }
    return { rules, problem: problems.told() };
  }

  /** The rules of the role that a binding in `namespace` names; undefined when there is no such role. */
  referenced({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role = this.objects()
      .roleAt(kind === "ClusterRole" ? "" : namespace, name)
      .role();
    return role === undefined ? undefined : rulesOf(role);
  }

  /** What binds a user, each role once in a scope. */
  private *grantsOf(user: User, namespace: string): Generator<BoundGrant> {
    for (const scope of scopesOf(namespace)) {
      const grants = this.grantsIn(scope);
      const met = new Set<NamedRole>(); // many bindings may name one role
      this.labour.count += lookUpCost * (1 + user.groups.length);
      yield* unmet(grants.ofUser(user.name) ?? noGrants, met);
      for (const group of user.groups) {
        const ofGroup = grants.ofGroup(group);
        if (ofGroup !== undefined) yield* unmet(ofGroup, met);
      }
    }
  }

  /** As the bindings are now, whatever that takes. */
  private grantsIn(scope: string): Grants<Bound> {
    for (;;) {
      const grants = this.advanced(scope);
      if (grants !== undefined) return grants;
    }
  }

  /** The bindings of a scope, or undefined where only a part of what was left to do is done. */
  private advanced(scope: string): Grants<Bound> | undefined {
    const bindings = this.objects().bindings(scope);
    let grants = this.scopes.get(scope);
    if (grants === undefined) {
      if (bindings.length === 0) return nobody;
      this.scopes.set(
        scope,
        (grants = new Grants<Bound>(scope, (binding) => this.boundBy(binding, scope), readying(new RoleNames()))),
      );
    }
    if (!grants.advance(bindings)) return undefined;
    if (bindings.length === 0) this.scopes.delete(scope);
    return grants;
  }

  private rulesIn({ bound }: BoundGrant): RoleRules | undefined {
    this.labour.count += lookUpCost;
    const role = bound.place.role();
    if (role === undefined) return undefined;
    let rules = this.roles.get(role);
    if (rules === undefined) this.roles.set(role, (rules = new RoleRules(role, this.labour)));
    return rules;
  }

  private boundBy(binding: JsonObject, scope: string): Bound {
    let bound = this.bounds.get(binding);
    if (bound === undefined) {
      const ref = binding["roleRef"] as unknown as RoleRef;
      const { name, namespace } = binding["metadata"] as { readonly name: string; readonly namespace?: string };
      let described: string | undefined;
      let absent: string | undefined;
      bound = {
        ref,
        place: this.objects().roleAt(ref.kind === "ClusterRole" ? "" : scope, ref.name),
        named: undefined,
        namespace,
        absent: () => (absent ??= `${ref.kind.toLowerCase()}.${this.group} ${goQuote(ref.name)} not found`),
        described: () => (described ??= describeBound(ref, name, namespace)),
      };
      this.bounds.set(binding, bound);
    }
    return bound;
  }
}

export const namespaceOf = (asked: Attributes): string => (asked.is === "resource" ? asked.namespace : "");

const ofCluster: readonly string[] = [""];
const scopesOf = (namespace: string): readonly string[] => (namespace === "" ? ofCluster : ["", namespace]);

function* unmet(grants: readonly BoundGrant[], met: Set<NamedRole>): Generator<BoundGrant> {
  for (const grant of grants) {
    const named = grant.bound.named as NamedRole;
    if (met.has(named)) continue;
    met.add(named);
    yield grant;
  }
}

function describeBound({ kind, name: role }: RoleRef, name: string, namespace: string | undefined): string {
  const what =
    namespace === undefined ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
  return `${what} of ${kind} ${goQuote(role)}`;
}

function describeGrant({ bound, subject }: BoundGrant): string {
  const whom =
    subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace ?? bound.namespace ?? ""}` : subject.name;
  return `${bound.described()} to ${subject.kind} ${goQuote(whom)}`;
}

/** What went wrong, each once, as much as may be told. */
class Problems {
  private readonly texts = new Set<string>();
  private charactersLeft = toldCharactersMax;

  get isNone(): boolean {
    return this.texts.size === 0;
  }

  add(describe: () => string): void {
    if (this.charactersLeft < 0) return;
    const text = describe();
    if (this.texts.has(text)) return;
    this.texts.add(text);
    this.charactersLeft -= text.length;
  }

  /** One stands plain, several in brackets; empty when there is none. */
  told(): string {
    const texts = Array.from(this.texts);
    return texts.length > 1 ? `[${texts.join(", ")}]` : (texts[0] ?? "");
  }
}

/**
 * Nobody may grant what they do not hold: judged whenever a role or a binding is written. Free to do so are
 * superusers, who may `escalate` the role, and who may `bind` the role that a binding names.
 * Source: the published server's policy storage for roles and bindings.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { encodeJson, goQuote } from "../../../wire/go-strings.ts";
import type { AdmissionReview, AdmissionStep, AdmissionVerdict } from "./admission.ts";
import { ApiError, forbidden, notFound, toldOf } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Attributes, Authorizer } from "../access/authorize.ts";
import { type Ask, judged } from "../access/judgement.ts";
import { everyRule, type RulesOf, superuserGroup } from "../access/modes.ts";
import type { RbacPolicy } from "../access/rbac/policy.ts";
import type { RoleRef } from "../access/rbac/role-names.ts";
import { rulesMissing } from "../access/rbac/coverage.ts";
import { describeRule, type PolicyRule, quoteList, rulesOf } from "../access/rbac/rules.ts";
import { inEvents } from "../../kernel/in-events.ts";
import type { Cancel, Clock } from "../../kernel/types.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { ResourcePlace } from "../requests/route.ts";

export interface EscalationPorts {
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly policy: RbacPolicy;
  readonly decide: Authorizer;
  readonly rulesOf: RulesOf;
}

const written = new Set(["roles", "clusterroles", "rolebindings", "clusterrolebindings"]);

export function escalationCheck(ports: EscalationPorts): AdmissionStep {
  const group = groupInDialect(ports.dialect, "rbac.authorization.svc.io");
  return {
    name: "rbac escalation",
    sideEffects: false,
    handles: ({ operation, place, user, object, oldObject }) =>
      (operation === "CREATE" || operation === "UPDATE") &&
      place.resourceName.group === group &&
      written.has(place.resourceName.resource) &&
      !user.groups.includes(superuserGroup) &&
      !(oldObject !== undefined && object !== undefined && touchesOnlyOwnership(object, oldObject)),
    admit(review, done) {
      let judging: Cancel = () => {};
      const asking = judged(
        ports.decide,
        (ask) => isFree(ask, review),
        (judgement) => {
          if (judgement()) done({});
          else judging = inEvents(ports.clock, judge(ports, review), (outcome) => done(verdictOf(outcome)));
        },
      );
      return () => {
        judging();
        asking();
      };
    },
  };
}

/** Whether they may grant even what they do not hold. */
function isFree(ask: Ask, review: AdmissionReview): boolean {
  const { place, object = {} } = review;
  if (!isBinding(place)) return isAllowed(ask, review, "escalate", place.resourceName.resource, review.name);
  const ref = object["roleRef"] as unknown as RoleRef;
  return isAllowed(ask, review, "bind", resourceOf(ref), ref.name);
}

const isBinding = (place: ResourcePlace): boolean => place.resourceName.resource.endsWith("bindings");

const resourceOf = ({ kind }: RoleRef): string => (kind === "ClusterRole" ? "clusterroles" : "roles");

function verdictOf(outcome: () => ApiError | undefined): AdmissionVerdict {
  try {
    return outcome() ?? {};
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function* judge(ports: EscalationPorts, review: AdmissionReview): Generator<void, ApiError | undefined> {
  const { place, object = {}, namespace } = review;
  if (isBinding(place)) {
    return yield* judgeBinding(ports, review, object["roleRef"] as unknown as RoleRef, namespace);
  }
  const refused = yield* judgeRules(ports, review, rulesOf(object));
  if (refused !== undefined || object["aggregationRule"] === undefined) return refused;
  // Whoever lets rules be collected may be given any.
  return (yield* judgeRules(ports, review, everyRule)) === undefined
    ? undefined
    : forbidden(place.resourceName, review.name, "must have cluster-admin privileges to use the aggregationRule");
}

function* judgeBinding(
  ports: EscalationPorts,
  review: AdmissionReview,
  ref: RoleRef,
  namespace: string,
): Generator<void, ApiError | undefined> {
  const rules = ports.policy.referenced(ref, namespace);
  if (rules !== undefined) return yield* judgeRules(ports, review, rules);
  return notFound({ group: review.place.resourceName.group, resource: resourceOf(ref) }, ref.name);
}

function isAllowed(ask: Ask, review: AdmissionReview, verb: string, resource: string, name: string) {
  const { group } = review.place.resourceName;
  const asked: Attributes = {
    is: "resource",
    verb,
    resource: { group, resource },
    version: "v1",
    subresource: "",
    namespace: review.namespace,
    name,
  };
  return ask(review.user, asked).allowed;
}

function* judgeRules(
  { rulesOf: held }: EscalationPorts,
  { user, namespace, place, name }: AdmissionReview,
  wanted: readonly PolicyRule[],
): Generator<void, ApiError | undefined> {
  const { rules, problem } = held(user, namespace);
  const missing = yield* rulesMissing(rules, wanted);
  if (missing.length === 0) return undefined;
  const list = [...new Set(missing.map(describeRule))].sort().join("\n");
  const who = `user ${goQuote(user.name)} (groups=${quoteList(toldOf(user.groups))})`;
  const why = problem === "" ? "" : `; resolution errors: [${problem}]`;
  return forbidden(
    place.resourceName,
    name,
    `${who} is attempting to grant RBAC permissions not currently held:\n${list}${why}`,
  );
}

/** Garbage collection takes finalizers and owners out of objects whose rules it does not hold. */
function touchesOnlyOwnership(object: JsonObject, old: JsonObject): boolean {
  const [now, before] = [withoutOwnership(object), withoutOwnership(old)];
  return jsonEqual(now, before) && encodeJson(now) === encodeJson(before); // nearly none need be written out
}

function withoutOwnership(object: JsonObject): JsonObject {
  const { finalizers: _f, ownerReferences: _o, managedFields: _m, ...metadata } = object["metadata"] as JsonObject;
  return { ...object, metadata };
}

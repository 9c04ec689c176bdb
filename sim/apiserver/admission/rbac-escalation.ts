/**
 * Nobody may grant what they do not hold: judged whenever a role or a binding is written. Free to do so are
 * superusers, who may `escalate` the role, and who may `bind` the role that a binding names.
 * Source: the published server's policy storage for roles and bindings.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { encodeJson, goQuote } from "../../../wire/go-strings.ts";
import type { AdmissionReview, AdmissionStep, AdmissionVerdict } from "./admission.ts";
import { type ApiError, forbidden, notFound } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Attributes, Authorizer } from "../access/authorize.ts";
import { type Ask, judged } from "../access/judgement.ts";
import { everyRule, type RulesOf, superuserGroup } from "../access/modes.ts";
import type { RbacPolicy, RoleRef } from "../access/rbac/policy.ts";
import { describeRule, type PolicyRule, quoteList, rulesMissing, rulesOf } from "../access/rbac/rules.ts";

export interface EscalationPorts {
  readonly dialect: Dialect;
  readonly policy: RbacPolicy;
  readonly decide: Authorizer;
  readonly rulesOf: RulesOf;
}

const written = new Set(["roles", "clusterroles", "rolebindings", "clusterrolebindings"]);

/** The ports within one judgement. */
interface Asking extends EscalationPorts {
  readonly ask: Ask;
}

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
    admit: (review, done) =>
      judged(
        ports.decide,
        (ask) => judge({ ...ports, ask }, review) ?? {},
        (judgement) => done(judgement()),
      ),
  };
}

function judge(ports: Asking, review: AdmissionReview): AdmissionVerdict | undefined {
  const { place, object = {}, namespace } = review;
  if (place.resourceName.resource.endsWith("bindings")) {
    return judgeBinding(ports, review, object["roleRef"] as unknown as RoleRef, namespace);
  }
  if (isAllowed(ports, review, "escalate", place.resourceName.resource, review.name)) return undefined;
  const refused = judgeRules(ports, review, rulesOf(object));
  if (refused !== undefined || object["aggregationRule"] === undefined) return refused;
  // Whoever lets rules be collected may be given any.
  return judgeRules(ports, review, everyRule) === undefined
    ? undefined
    : forbidden(place.resourceName, review.name, "must have cluster-admin privileges to use the aggregationRule");
}

function judgeBinding(ports: Asking, review: AdmissionReview, ref: RoleRef, namespace: string): ApiError | undefined {
  const resource = ref.kind === "ClusterRole" ? "clusterroles" : "roles";
  if (isAllowed(ports, review, "bind", resource, ref.name)) return undefined;
  const rules = ports.policy.referenced(ref, namespace);
  if (rules === undefined) return notFound({ group: review.place.resourceName.group, resource }, ref.name);
  return judgeRules(ports, review, rules);
}

function isAllowed(ports: Asking, review: AdmissionReview, verb: string, resource: string, name: string) {
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
  return ports.ask(review.user, asked).allowed;
}

function judgeRules(
  { rulesOf: held }: EscalationPorts,
  { user, namespace, place, name }: AdmissionReview,
  wanted: readonly PolicyRule[],
): ApiError | undefined {
  const { rules, problem } = held(user, namespace);
  const missing = rulesMissing(rules, wanted);
  if (missing.length === 0) return undefined;
  const list = [...new Set(missing.map(describeRule))].sort().join("\n");
  const who = `user ${goQuote(user.name)} (groups=${quoteList(user.groups)})`;
  const why = problem === "" ? "" : `; resolution errors: [${problem}]`;
  return forbidden(
    place.resourceName,
    name,
    `${who} is attempting to grant RBAC permissions not currently held:\n${list}${why}`,
  );
}

/** Garbage collection takes finalizers and owners out of objects whose rules it does not hold. */
function touchesOnlyOwnership(object: JsonObject, old: JsonObject): boolean {
  return encodeJson(withoutOwnership(object)) === encodeJson(withoutOwnership(old));
}

function withoutOwnership(object: JsonObject): JsonObject {
  const { finalizers: _f, ownerReferences: _o, managedFields: _m, ...metadata } = object["metadata"] as JsonObject;
  return { ...object, metadata };
}

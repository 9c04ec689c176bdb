/**
 * ValidatingAdmissionPolicies: expressions that judge a write, put in force by bindings, which say for what, with which
 * parameters, and what becomes of a failure: refusal, a warning, or a note for the audit log.
 *
 * Simplifications: there is no audit log, so that `Audit` and audit annotations leave no trace, though an annotation
 * that cannot be evaluated counts; expressions are not checked against the types of what a policy matches, so that
 * `status.typeChecking` stays empty.
 * Source: the published admission policies, their order and texts.
 */
import type { LabelSelector } from "../../../wire/selectors.ts";
import { utf8Length } from "../../../wire/go-strings.ts";
import type { Clock } from "../../kernel/types.ts";
import { ApiError, forbidden } from "../../contract/errors.ts";
import { callCostMax, type Outcome } from "../../expressions/expression.ts";
import { noCost, paced } from "../../expressions/pace.ts";
import { fromJson } from "../../expressions/json-values.ts";
import type { Value } from "../../expressions/values.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Authorizer } from "../access/authorize.ts";
import { type Ask, judged } from "../access/judgement.ts";
import type { AdmissionReview, AdmissionStep, AdmissionVerdict } from "./admission.ts";
import { namespaceValue, requestValues } from "./expression-variables.ts";
import { matchConditions } from "../../kinds/admission/match-conditions.ts";
import {
  compiledPolicy,
  type CompiledPolicy,
  itemsOf,
  PolicyVariables,
  textOf,
} from "../../kinds/admission/policy-expressions.ts";
import type { Compiled } from "../../expressions/stored-expressions.ts";
import { type Equivalent, shownAs } from "./equivalents.ts";
import { Tellable } from "../requests/warnings.ts";
import {
  type Lookups,
  lookedUpOnce,
  once,
  selectorOf,
  type Wants,
  wantedForm,
  type WebhookRule,
} from "./webhooks-match.ts";

export interface PolicyPorts extends Lookups {
  readonly clock: Clock;
  readonly dialect: Dialect;
  readonly authorizer: Authorizer;
  /** Stored, in the order of their names. */
  readonly policies: () => readonly JsonObject[];
  readonly bindings: () => readonly JsonObject[];
  /** Objects that may be parameters; undefined when no such kind is served. */
  readonly params: (apiVersion: string, kind: string) => Params | undefined;
}

export interface Params {
  readonly namespaced: boolean;
  /** In a namespace, "" for those that lie in none. */
  readonly objects: (namespace: string) => readonly JsonObject[];
  /** One, or none. */
  readonly named: (namespace: string, name: string) => readonly JsonObject[];
}

/** What all validations of a policy may cost for one request. */
const policyCostMax = 10_000_000;
const messageBytesMax = 5120;

export function validatingPolicies(ports: PolicyPorts): AdmissionStep {
  return {
    name: "validating policies",
    sideEffects: false,
    handles: (review) => ports.policies().length > 0 && !isAdmissionsOwn(review) && !isQuestion(review),
    admit(review, done) {
      const now = asOfNow(ports);
      return judged(
        ports.authorizer,
        (ask) => judge(now, ask, review),
        (judgement) => done(judgement()),
        { clock: ports.clock, budget: review.turn.budget },
      );
    },
  };
}

/** What is written while a judgement goes on changes nothing of it. */
function asOfNow(ports: PolicyPorts): PolicyPorts {
  const [policies, bindings] = [ports.policies(), ports.bindings()];
  const params = (apiVersion: string, kind: string): Params | undefined => {
    const found = ports.params(apiVersion, kind);
    return (
      found && {
        ...found,
        objects: once(found.objects, (namespace) => namespace),
        named: once(found.named, (namespace, name) => `${namespace}/${name}`),
      }
    );
  };
  return {
    ...ports,
    ...lookedUpOnce(ports),
    policies: () => policies,
    bindings: () => bindings,
    params: once(params, (apiVersion, kind) => `${apiVersion} ${kind}`),
  };
}

/** Nothing may keep a policy from being mended. */
const isAdmissionsOwn = ({ place }: AdmissionReview): boolean => place.row.group === "admissionregistration.svc.io";

/** What is asked and answered, and never stored, is none of theirs. */
const isQuestion = ({ place }: AdmissionReview): boolean => !place.row.verbs.includes("get");

function judge(ports: PolicyPorts, ask: Ask, review: AdmissionReview): AdmissionVerdict {
  const found = new Findings();
  const bindings = bindingsByPolicy(ports.bindings());
  const valuesIn = valuesByForm(ports, ask, review);
  for (const policy of ports.policies()) {
    const inForce = bindings.get(metadataOf(policy).name ?? "");
    if (inForce === undefined) continue;
    const form = matchingForm(specOf(policy)["matchConstraints"], review, ports, false);
    if (form === undefined) continue;
    const values = valuesIn(form);
    for (const binding of inForce) {
      if (matchingForm(specOf(binding)["matchResources"], review, ports, true) === undefined) continue;
      const { isFull } = found.warnings;
      found.add(paced(() => foundBy(ports, policy, binding, review, values, isFull), noCost));
      if (found.refused !== undefined) return found.refused;
    }
  }
  return { warnings: found.warnings.list };
}

/** What becomes of failures: the first refusal, and as many of the warnings as can be told. */
class Findings {
  refused: ApiError | undefined;
  readonly warnings = new Tellable();

  add({ refused, warnings }: Findings): void {
    this.refused ??= refused;
    for (const warning of warnings.list) this.warnings.add(warning);
  }
}

/** What a policy that a binding puts in force says, until it refuses. `isFull`: no warning could be told. */
function foundBy(
  ports: PolicyPorts,
  policy: JsonObject,
  binding: JsonObject,
  review: AdmissionReview,
  shared: Values,
  isFull: boolean,
): Findings {
  const [spec, bound] = [specOf(policy), specOf(binding)];
  const of = `ValidatingAdmissionPolicy '${metadataOf(policy).name ?? ""}' with binding '${metadataOf(binding).name ?? ""}'`;
  const actions = (bound["validationActions"] ?? []) as readonly string[];
  const told = (failures: Iterable<Failure>, isSilent: boolean): Findings => {
    const found = new Findings();
    for (const { message, reason } of failures) {
      if (actions.includes("Deny")) {
        found.refused = refusal(review, `${of} denied request: ${message}`, reason);
        break;
      }
      if (!isSilent && actions.includes("Warn")) found.warnings.add(`Validation failed for ${of}: ${message}`);
    }
    return found;
  };
  const params = paramsOf(ports, spec, bound, review);
  if (typeof params === "string")
    return told(isStrict(spec) ? [{ message: `failed to configure binding: ${params}`, reason: "" }] : [], isFull);
  const compiled = compiledPolicy(spec);
  const found = new Findings();
  for (const param of params) {
    const isSilent = isFull || found.warnings.isFull;
    found.add(paced(() => told(failuresOf(spec, compiled, shared, param), isSilent), noCost));
    if (found.refused !== undefined) break;
  }
  return found;
}

const isStrict = (spec: JsonObject): boolean => (spec["failurePolicy"] ?? "Fail") === "Fail";

const nothing: JsonObject = {};
const specOf = (object: JsonObject): JsonObject => (isObject(object["spec"]) ? object["spec"] : nothing);

/** What expressions see of a request, in each version made once. */
function valuesByForm(ports: PolicyPorts, ask: Ask, review: AdmissionReview): (form: Form) => Values {
  const made = new Map<string, Values>();
  return (form) => {
    const shown = form === "as asked" ? review : shownAs(form, review);
    const { row } = shown.place;
    const key = `${row.group}/${row.version}/${row.resource}`;
    let values = made.get(key);
    if (values === undefined) {
      const namespace = review.namespace === "" ? undefined : ports.namespaceOf(review.namespace);
      made.set(
        key,
        (values = { ...requestValues(ports.dialect, ask, shown), namespaceObject: namespaceValue(namespace) }),
      );
    }
    return values;
  };
}

type Form = "as asked" | Equivalent;
type Values = Readonly<Record<string, Value>>;

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 };

function refusal({ place, name }: AdmissionReview, text: string, reason: string): ApiError {
  const { message } = forbidden(place.resourceName, name, text);
  const { group, resource } = place.resourceName;
  return new ApiError(codes[reason] ?? 422, reason === "" ? "Invalid" : reason, message, {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind: resource,
    causes: [{ message: text }],
  });
}

/**
 * In which version a policy is for the request: by rules, less exceptions, and selectors; undefined for none. A binding
 * without rules is for all that its policy is for.
 */
function matchingForm(
  match: Json | undefined,
  review: AdmissionReview,
  ports: PolicyPorts,
  isBinding: boolean,
): Form | undefined {
  if (!isObject(match)) return isBinding ? "as asked" : undefined;
  const { excluded, included } = scopeOf(match, isBinding);
  if (excluded !== undefined && formOf(excluded, review, ports) !== undefined) return undefined;
  return formOf(included, review, ports);
}

const formOf = (wants: Wants, review: AdmissionReview, ports: PolicyPorts): Form | undefined =>
  wantedForm(wants, review, ports.namespaceOf, ports.equivalentsOf);

/** What a `matchConstraints` or a `matchResources` is for. */
interface Scope {
  /** Undefined where nothing is. */
  readonly excluded: Wants | undefined;
  readonly included: Wants;
}

/** Of what is stored, and so never changes: every write asks for that of every policy. */
const scopes = new WeakMap<JsonObject, Scope>();

function scopeOf(match: JsonObject, isBinding: boolean): Scope {
  let scope = scopes.get(match);
  if (scope === undefined) {
    const rules = (field: string): readonly WebhookRule[] => itemsOf(match, field) as unknown as readonly WebhookRule[];
    const policy = pick(match, ["matchPolicy"]);
    const [named, exceptions] = [rules("resourceRules"), rules("excludeResourceRules")];
    const selectors = pick(match, ["namespaceSelector", "objectSelector"]);
    scope = {
      excluded: exceptions.length === 0 ? undefined : { ...policy, rules: exceptions },
      included: { ...policy, ...selectors, rules: isBinding && named.length === 0 ? everything : named },
    };
    scopes.set(match, scope);
  }
  return scope;
}

const everything: readonly WebhookRule[] = [
  { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] },
];

const pick = (object: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(
    fields.flatMap((field) => (object[field] === undefined ? [] : [[field, object[field]]])),
  ) as JsonObject;

/** Which bindings put a policy in force, in the order of their names. For as long as no binding changes. */
const bindingsOf = new WeakMap<readonly JsonObject[], ReadonlyMap<string, readonly JsonObject[]>>();

function bindingsByPolicy(bindings: readonly JsonObject[]): ReadonlyMap<string, readonly JsonObject[]> {
  let found = bindingsOf.get(bindings);
  if (found === undefined) {
    found = Map.groupBy(bindings, (binding) => String(specOf(binding)["policyName"] ?? ""));
    bindingsOf.set(bindings, found);
  }
  return found;
}

interface Failure {
  readonly message: string;
  /** "" where the policy names none. */
  readonly reason: string;
}

/** What a policy in force holds against a request, with one of its parameters. */
function* failuresOf(
  spec: JsonObject,
  compiled: CompiledPolicy,
  shared: Values,
  param: JsonObject | undefined,
): Generator<Failure> {
  const values = param === undefined ? shared : { ...shared, params: fromJson(param) };
  const found = matchConditions(itemsOf(spec, "matchConditions"), compiled.conditionVariables, () => values);
  if (found === "matches") yield* validationFailures(compiled, values, isStrict(spec));
  else if (found !== "differs" && isStrict(spec)) yield { message: found.error, reason: "" };
}

function* validationFailures(
  { variables, validations, auditAnnotations }: CompiledPolicy,
  values: Values,
  isStrict: boolean,
): Generator<Failure> {
  const pool = { left: policyCostMax };
  const given = { ...values, variables: new PolicyVariables(variables, values, pool) };
  const evaluate = (expression: Compiled): Outcome | undefined => {
    if ("error" in expression) return { error: expression.error, isExhausted: false, cost: 0 };
    return pool.left <= 0 ? undefined : expression.evaluate(given, callCostMax, pool);
  };
  const exhausted = { message: outOfBudget, reason: "" };
  for (const validation of validations) {
    const outcome = evaluate(validation.expression);
    if (outcome === undefined) {
      if (isStrict) yield exhausted;
      return;
    }
    if ("error" in outcome) {
      if (isStrict)
        yield { message: `expression '${validation.source}' resulted in error: ${outcome.error}`, reason: "" };
    } else if (outcome.value !== true) {
      const { message, messageExpression, reason, source } = validation;
      const made = messageExpression && paced(() => textFrom(evaluate(messageExpression)), noCost, pool);
      const fixed = message === "" ? `failed expression: ${source}` : message;
      yield { message: made ?? fixed, reason };
    }
  }
  for (const annotation of auditAnnotations) {
    const outcome = evaluate(annotation);
    if (!isStrict || (outcome !== undefined && !("error" in outcome))) continue;
    yield outcome === undefined ? exhausted : { message: outcome.error, reason: "" };
  }
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";

/** A message that was made; undefined for what is no fit text. */
function textFrom(outcome: Outcome | undefined): string | undefined {
  if (outcome === undefined || "error" in outcome || typeof outcome.value !== "string") return undefined;
  const text = outcome.value.trim();
  return text === "" || text.includes("\n") || utf8Length(text) > messageBytesMax ? undefined : text;
}

/** Parameters to judge with, one after the other; undefined for a policy without any; or why there are none. */
function paramsOf(
  ports: PolicyPorts,
  spec: JsonObject,
  binding: JsonObject,
  review: AdmissionReview,
): readonly (JsonObject | undefined)[] | string {
  const kind = spec["paramKind"];
  const ref = binding["paramRef"];
  if (!isObject(kind)) return [undefined];
  if (!isObject(ref)) return [undefined];
  const found = ports.params(textOf(kind, "apiVersion"), textOf(kind, "kind"));
  if (found === undefined) {
    return `failed to find resource referenced by paramKind: '${textOf(kind, "apiVersion")}, Kind=${textOf(kind, "kind")}'`;
  }
  const wanted = textOf(ref, "namespace");
  if (!found.namespaced && wanted !== "")
    return "paramRef.namespace must not be provided for a cluster-scoped `paramKind`";
  const namespace = found.namespaced ? wanted || review.namespace : "";
  if (found.namespaced && namespace === "")
    return "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
  const name = textOf(ref, "name");
  const selector = isObject(ref["selector"]) ? selectorOf(ref["selector"]) : undefined;
  const params = name === "" ? selected(found.objects(namespace), selector) : found.named(namespace, name);
  if (params.length > 0) return params;
  return ref["parameterNotFoundAction"] === "Deny"
    ? "no params found for policy binding with `Deny` parameterNotFoundAction"
    : [];
}

/** Looking at one object costs about as much as a step of an expression does. */
function selected(objects: readonly JsonObject[], selector: LabelSelector | undefined): readonly JsonObject[] {
  if (selector === undefined) return [];
  return paced(
    () => objects.filter((object) => selector.matches(metadataOf(object).labels)),
    () => objects.length,
  );
}

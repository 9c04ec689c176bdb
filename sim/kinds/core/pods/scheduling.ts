/**
 * Where a pod may run: affinity, tolerations, spreading, gates.
 * Source: the published validation of pod specs.
 */
import { goQuote } from "../../../../wire/go-strings.ts";
import { labelValueErrors } from "../../../../wire/names.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import { inParts, type Place } from "../../../objects/place.ts";
import {
  all,
  always,
  anyText,
  atLeast,
  between,
  called,
  distinct,
  each,
  eachUnnumbered,
  fields,
  oneOf,
  required,
  struct,
  unlessEmpty,
} from "../../../objects/rules.ts";
import { listOf } from "../../shared/fields.ts";
import { label, qualifiedName } from "../../shared/formats.ts";
import { labelSelector } from "../../shared/label-selector.ts";
import { preferredNodes, requiredNodes } from "../../shared/node-selector.ts";

const demanded = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

const weight = always(between(1, 100, "must be in the range 1-100"));
const keys = each(qualifiedName);
const someKey = required(anyText, "can not be empty");

/** Keys whose values are the pod's own narrow a selector; none does both ways. */
function matchedKeys(term: JsonObject, at: Place): void {
  const [matched, mismatched] = ["matchLabelKeys", "mismatchLabelKeys"].map((field) => {
    const list = (term[field] ?? []) as readonly string[];
    if (list.length > 0 && !isObject(term["labelSelector"])) {
      at.of(field).forbidden("must not be specified when labelSelector is not set");
    } else at.judge(field, list, keys);
    return list;
  }) as [readonly string[], readonly string[]];
  if (matched.length === 0) return;
  const others = new Set(mismatched);
  matched.forEach((key, index) => {
    if (!others.has(key)) return;
    at.of("matchLabelKeys", index).invalid(key, "exists in both matchLabelKeys and mismatchLabelKeys");
  });
}

const podTerm = struct(
  {
    labelSelector,
    namespaceSelector: labelSelector,
    namespaces: called("namespace", eachUnnumbered(label)),
  },
  matchedKeys,
  { topologyKey: { ...all(someKey, qualifiedName), absent: "" } },
);

const podTerms = struct({
  [demanded]: each(podTerm),
  [preferred]: each(struct({ weight, podAffinityTerm: always(podTerm) })),
});

export const affinity = struct({
  nodeAffinity: struct({
    [demanded]: requiredNodes,
    [preferred]: each(struct({ weight, preference: preferredNodes })),
  }),
  podAffinity: podTerms,
  podAntiAffinity: podTerms,
});

export const taintEffect = oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"]);

export const toleration = struct(
  { key: unlessEmpty(qualifiedName) },
  (it: JsonObject, at) => {
    const { key = "", operator = "", value = "", effect = "" } = it as Readonly<Record<string, string>>;
    if (key === "" && operator !== "Exists") {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      at.of("operator").invalid(operator, detail);
    }
    if (it["tolerationSeconds"] !== undefined && effect !== "NoExecute") {
      at.of("effect").invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === "Equal" || operator === "") {
      const errors = labelValueErrors(value);
      if (errors.length > 0) at.of("operator").invalid(value, errors.join(";"));
    } else if (operator !== "Exists") at.of("operator").unsupported(operator, ["Equal", "Exists"]);
    else if (value !== "") {
      at.of("operator").invalidText(goToleration(it), "value must be empty when `operator` is 'Exists'");
    }
  },
  { effect: unlessEmpty(taintEffect) },
);

/** A toleration in Go's manner. Simplification: seconds are a pointer, whose address no two servers share. */
function goToleration(toleration: JsonObject): string {
  const { key = "", operator = "", value = "", effect = "" } = toleration as Readonly<Record<string, string>>;
  const fields = [`Key:${goQuote(key)}`, `Operator:${goQuote(operator)}`, `Value:${goQuote(value)}`];
  return `core.Toleration{${fields.join(", ")}, Effect:${goQuote(effect)}, TolerationSeconds:(*int64)(nil)}`;
}

const positive = atLeast(1, "must be greater than zero");

const spread = struct({
  maxSkew: always(positive),
  topologyKey: someKey,
  whenUnsatisfiable: always(oneOf(["DoNotSchedule", "ScheduleAnyway"])),
});

const spreadFurther = struct(
  { minDomains: positive },
  ({ minDomains, whenUnsatisfiable: action = "" }: JsonObject, at) => {
    if (minDomains === undefined || action === "DoNotSchedule") return;
    const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action as string}`;
    at.of("minDomains").invalid(minDomains, detail);
  },
  fields(["nodeAffinityPolicy", "nodeTaintsPolicy"], oneOf(["Honor", "Ignore"])),
  spreadKeys,
  { labelSelector },
);

/** Of those that spread pods alike all but the last are one too many. */
export function spreadConstraints(constraints: readonly JsonObject[], at: Place): void {
  const pairOf = ({ topologyKey = "", whenUnsatisfiable = "" }: JsonObject): string =>
    `{${topologyKey as string}, ${whenUnsatisfiable as string}}`;
  const lastOf = new Map(constraints.map((constraint, index) => [pairOf(constraint), index]));
  const judge = (constraint: JsonObject, index: number): void => {
    at.enter(index);
    spread.judge(constraint as never, at);
    const pair = pairOf(constraint);
    if (lastOf.get(pair) !== index) at.of("{topologyKey, whenUnsatisfiable}").duplicate(pair);
    spreadFurther.judge(constraint as never, at);
    at.leave();
  };
  inParts(at.causes, constraints.length, constraintCost, (from, end) => {
    for (let index = from; index < end; index++) judge(constraints[index] as JsonObject, index);
  });
}

/** Of one that is judged, by the measure of expressions (`pace.ts`). */
const constraintCost = 20;

function spreadKeys({ matchLabelKeys = [], labelSelector: selector }: JsonObject, at: Place): void {
  const list = matchLabelKeys as readonly string[];
  if (list.length === 0) return;
  const selected = new Set<string>();
  if (isObject(selector)) {
    for (const key of Object.keys((selector["matchLabels"] ?? {}) as JsonObject)) selected.add(key);
    for (const { key = "" } of listOf(selector, "matchExpressions")) selected.add(key as string);
  } else at.of("matchLabelKeys").forbidden("must not be specified when labelSelector is not set");
  const known = (key: string, here: Place): void => {
    if (selected.has(key)) here.invalid(key, "exists in both matchLabelKeys and labelSelector");
  };
  at.judge("matchLabelKeys", list, each(all(qualifiedName, known)));
}

/** Conditions that must be true before the pod is ready, each a qualified name. */
export const readinessGate = struct({ conditionType: always(qualifiedName) });

/** What keeps a pod from being scheduled: qualified names, each once. */
export const schedulingGate = struct({ name: called("", always(all(qualifiedName, distinct))) });

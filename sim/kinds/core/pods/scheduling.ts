/**
 * Where a pod may run: node selector, affinity, tolerations, spreading, gates.
 * Source: the published validation of pod specs.
 */
import { goQuote } from "../../../../wire/go-strings.ts";
import { dns1123LabelErrors, labelValueErrors, qualifiedNameErrors } from "../../../../wire/names.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
  unsupportedValue,
} from "../../../objects/causes.ts";
import { labelCauses } from "../../../objects/metadata.ts";
import { isObject } from "../../../contract/objects.ts";
import { enumCauses, listOf } from "../../shared/fields.ts";
import { selectorCauses } from "../../shared/label-selector.ts";
import { nodeTermCauses, requiredNodesCauses } from "../../shared/node-selector.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

export function affinityCauses(affinity: JsonObject, path: string, causes: Cause[]): void {
  if (isObject(affinity["nodeAffinity"])) {
    nodeAffinityCauses(affinity["nodeAffinity"], `${path}.nodeAffinity`, causes);
  }
  for (const field of ["podAffinity", "podAntiAffinity"]) {
    const rules = affinity[field];
    if (!isObject(rules)) continue;
    const here = `${path}.${field}`;
    listOf(rules, required).forEach((term, at) => podTermCauses(term, `${here}.${required}[${at}]`, causes));
    listOf(rules, preferred).forEach((wish, at) => {
      weightCauses(wish, `${here}.${preferred}[${at}]`, causes);
      const term = (wish["podAffinityTerm"] ?? {}) as JsonObject;
      podTermCauses(term, `${here}.${preferred}[${at}].podAffinityTerm`, causes);
    });
  }
}

function nodeAffinityCauses(affinity: JsonObject, path: string, causes: Cause[]): void {
  const selector = affinity[required];
  if (isObject(selector)) requiredNodesCauses(selector, `${path}.${required}`, causes);
  listOf(affinity, preferred).forEach((wish, at) => {
    const here = `${path}.${preferred}[${at}]`;
    weightCauses(wish, here, causes);
    nodeTermCauses((wish["preference"] ?? {}) as JsonObject, false, `${here}.preference`, causes);
  });
}

function weightCauses(wish: JsonObject, path: string, causes: Cause[]): void {
  const weight = (wish["weight"] ?? 0) as number;
  if (weight > 0 && weight <= 100) return;
  causes.push(invalidValue(`${path}.weight`, weight, "must be in the range 1-100"));
}

function podTermCauses(term: JsonObject, path: string, causes: Cause[]): void {
  for (const field of ["labelSelector", "namespaceSelector"]) {
    if (isObject(term[field])) selectorCauses(term[field], `${path}.${field}`, causes);
  }
  for (const name of (term["namespaces"] ?? []) as readonly string[]) {
    pushInvalid(`${path}.namespace`, name, dns1123LabelErrors(name), causes);
  }
  matchedKeysCauses(term, path, causes);
  const key = (term["topologyKey"] ?? "") as string;
  if (key === "") causes.push(requiredValue(`${path}.topologyKey`, "can not be empty"));
  pushInvalid(`${path}.topologyKey`, key, qualifiedNameErrors(key), causes);
}

/** Keys whose values are the pod's own narrow a selector; none does both ways. */
function matchedKeysCauses(term: JsonObject, path: string, causes: Cause[]): void {
  for (const field of ["matchLabelKeys", "mismatchLabelKeys"]) {
    const keys = (term[field] ?? []) as readonly string[];
    if (keys.length > 0 && !isObject(term["labelSelector"])) {
      causes.push(forbiddenField(`${path}.${field}`, "must not be specified when labelSelector is not set"));
      continue;
    }
    keyListCauses(keys, `${path}.${field}`, causes);
  }
  const mismatched = new Set((term["mismatchLabelKeys"] ?? []) as readonly string[]);
  ((term["matchLabelKeys"] ?? []) as readonly string[]).forEach((key, at) => {
    if (!mismatched.has(key)) return;
    const detail = "exists in both matchLabelKeys and mismatchLabelKeys";
    causes.push(invalidValue(`${path}.matchLabelKeys[${at}]`, key, detail));
  });
}

function keyListCauses(keys: readonly string[], path: string, causes: Cause[]): void {
  keys.forEach((key, at) => {
    pushInvalid(`${path}[${at}]`, key, qualifiedNameErrors(key), causes);
  });
}

export function nodeSelectorCauses(selector: JsonObject, path: string, causes: Cause[]): void {
  labelCauses(selector as Readonly<Record<string, string>>, path, causes);
}

export const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function tolerationCauses(tolerations: readonly JsonObject[], path: string, causes: Cause[]): void {
  tolerations.forEach((toleration, at) => {
    const here = `${path}[${at}]`;
    const { key = "", operator = "", value = "", effect = "" } = toleration as Readonly<Record<string, string>>;
    if (key !== "") pushInvalid(`${here}.key`, key, qualifiedNameErrors(key), causes);
    else if (operator !== "Exists") {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      causes.push(invalidValue(`${here}.operator`, operator, detail));
    }
    if (toleration["tolerationSeconds"] !== undefined && effect !== "NoExecute") {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      causes.push(invalidValue(`${here}.effect`, effect, detail));
    }
    if (operator === "Equal" || operator === "") {
      const errors = labelValueErrors(value);
      if (errors.length > 0) causes.push(invalidValue(`${here}.operator`, value, errors.join(";")));
    } else if (operator !== "Exists") {
      causes.push(unsupportedValue(`${here}.operator`, operator, ["Equal", "Exists"]));
    } else if (value !== "") {
      const detail = "value must be empty when `operator` is 'Exists'";
      causes.push(invalidText(`${here}.operator`, goToleration(toleration), detail));
    }
    if (effect !== "") enumCauses(effect, taintEffects, `${here}.effect`, causes);
  });
}

/** A toleration in Go's manner. Simplification: seconds are a pointer, whose address no two servers share. */
function goToleration(toleration: JsonObject): string {
  const { key = "", operator = "", value = "", effect = "" } = toleration as Readonly<Record<string, string>>;
  const fields = [`Key:${goQuote(key)}`, `Operator:${goQuote(operator)}`, `Value:${goQuote(value)}`];
  return `core.Toleration{${fields.join(", ")}, Effect:${goQuote(effect)}, TolerationSeconds:(*int64)(nil)}`;
}

const actions = ["DoNotSchedule", "ScheduleAnyway"];
const inclusions = ["Honor", "Ignore"];

export function spreadCauses(constraints: readonly JsonObject[], path: string, causes: Cause[]): void {
  const pairOf = ({ topologyKey = "", whenUnsatisfiable = "" }: JsonObject): string =>
    `{${topologyKey as string}, ${whenUnsatisfiable as string}}`;
  const lastOf = new Map(constraints.map((constraint, at) => [pairOf(constraint), at]));
  constraints.forEach((constraint, at) => {
    const here = `${path}[${at}]`;
    const { topologyKey = "", whenUnsatisfiable: action = "" } = constraint as Readonly<Record<string, string>>;
    const maxSkew = (constraint["maxSkew"] ?? 0) as number;
    if (maxSkew <= 0) causes.push(invalidValue(`${here}.maxSkew`, maxSkew, "must be greater than zero"));
    if (topologyKey === "") causes.push(requiredValue(`${here}.topologyKey`, "can not be empty"));
    if (!actions.includes(action)) causes.push(unsupportedValue(`${here}.whenUnsatisfiable`, action, actions));
    const pair = pairOf(constraint);
    if (lastOf.get(pair) !== at) causes.push(duplicateValue(`${here}.{topologyKey, whenUnsatisfiable}`, pair));
    domainCauses(constraint["minDomains"] as number | undefined, action, `${here}.minDomains`, causes);
    for (const field of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      const policy = constraint[field];
      if (policy !== undefined && !inclusions.includes(policy as string)) {
        causes.push(unsupportedValue(`${here}.${field}`, policy, inclusions));
      }
    }
    spreadKeysCauses(constraint, `${here}.matchLabelKeys`, causes);
    if (isObject(constraint["labelSelector"])) {
      selectorCauses(constraint["labelSelector"], `${here}.labelSelector`, causes);
    }
  });
}

function domainCauses(count: number | undefined, action: string, path: string, causes: Cause[]): void {
  if (count === undefined) return;
  if (count <= 0) causes.push(invalidValue(path, count, "must be greater than zero"));
  if (action === "DoNotSchedule") return;
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
  causes.push(invalidValue(path, count, detail));
}

function spreadKeysCauses(constraint: JsonObject, path: string, causes: Cause[]): void {
  const keys = (constraint["matchLabelKeys"] ?? []) as readonly string[];
  if (keys.length === 0) return;
  const selector = constraint["labelSelector"];
  const selected = new Set<string>();
  if (isObject(selector)) {
    for (const key of Object.keys((selector["matchLabels"] ?? {}) as JsonObject)) selected.add(key);
    for (const { key = "" } of listOf(selector, "matchExpressions")) selected.add(key as string);
  } else causes.push(forbiddenField(path, "must not be specified when labelSelector is not set"));
  keys.forEach((key, at) => {
    pushInvalid(`${path}[${at}]`, key, qualifiedNameErrors(key), causes);
    if (!selected.has(key)) return;
    causes.push(invalidValue(`${path}[${at}]`, key, "exists in both matchLabelKeys and labelSelector"));
  });
}

/** Conditions that must be true before the pod is ready, each a qualified name. */
export function readinessGateCauses(gates: readonly JsonObject[], path: string, causes: Cause[]): void {
  gates.forEach(({ conditionType = "" }, at) => {
    pushInvalid(`${path}[${at}].conditionType`, conditionType, qualifiedNameErrors(conditionType as string), causes);
  });
}

/** What keeps a pod from being scheduled: qualified names, each once. */
export function schedulingGateCauses(gates: readonly JsonObject[], path: string, causes: Cause[]): void {
  const seen = new Set<string>();
  gates.forEach((gate, at) => {
    const name = (gate["name"] ?? "") as string;
    pushInvalid(`${path}[${at}]`, name, qualifiedNameErrors(name), causes);
    if (seen.has(name)) causes.push(duplicateValue(`${path}[${at}]`, name));
    seen.add(name);
  });
}

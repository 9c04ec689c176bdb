/**
 * Where a pod may run: node selector, affinity, tolerations, spreading, gates.
 * Source: the published validation of pod specs. Simplification: preferred terms and their weights are not judged.
 */
import { goQuote } from "../../../../../wire/go-strings.ts";
import { labelValueErrors, qualifiedNameErrors } from "../../../../../wire/names.ts";
import type { Cause } from "../../../errors.ts";
import type { JsonObject } from "../../../http-message.ts";
import { duplicateValue, invalidText, invalidValue, requiredValue, unsupportedValue } from "../../causes.ts";
import { labelCauses } from "../../metadata.ts";
import { isObject } from "../../types.ts";
import { enumCauses, listOf } from "../fields.ts";
import { selectorCauses } from "../label-selector.ts";

const required = "requiredDuringSchedulingIgnoredDuringExecution";

export function affinityCauses(affinity: JsonObject, path: string, causes: Cause[]): void {
  const node = affinity["nodeAffinity"];
  const terms = isObject(node) ? node[required] : undefined;
  if (isObject(terms) && listOf(terms, "nodeSelectorTerms").length === 0) {
    const at = `${path}.nodeAffinity.${required}.nodeSelectorTerms`;
    causes.push(requiredValue(at, "must have at least one node selector term"));
  }
  for (const field of ["podAffinity", "podAntiAffinity"]) {
    const rules = affinity[field];
    if (!isObject(rules)) continue;
    listOf(rules, required).forEach((term, at) => podTermCauses(term, `${path}.${field}.${required}[${at}]`, causes));
  }
}

function podTermCauses(term: JsonObject, path: string, causes: Cause[]): void {
  if (isObject(term["labelSelector"])) selectorCauses(term["labelSelector"], `${path}.labelSelector`, causes);
  const key = (term["topologyKey"] ?? "") as string;
  if (key === "") causes.push(requiredValue(`${path}.topologyKey`, "can not be empty"));
  for (const text of qualifiedNameErrors(key)) causes.push(invalidValue(`${path}.topologyKey`, key, text));
}

export function nodeSelectorCauses(selector: JsonObject, path: string, causes: Cause[]): void {
  labelCauses(selector as Readonly<Record<string, string>>, path, causes);
}

export const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function tolerationCauses(tolerations: readonly JsonObject[], path: string, causes: Cause[]): void {
  tolerations.forEach((toleration, at) => {
    const here = `${path}[${at}]`;
    const { key = "", operator = "", value = "", effect = "" } = toleration as Readonly<Record<string, string>>;
    if (key !== "") for (const text of qualifiedNameErrors(key)) causes.push(invalidValue(`${here}.key`, key, text));
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

export function spreadCauses(constraints: readonly JsonObject[], path: string, causes: Cause[]): void {
  constraints.forEach((constraint, at) => {
    const here = `${path}[${at}]`;
    const maxSkew = (constraint["maxSkew"] ?? 0) as number;
    if (maxSkew <= 0) causes.push(invalidValue(`${here}.maxSkew`, maxSkew, "must be greater than zero"));
    if ((constraint["topologyKey"] ?? "") === "") {
      causes.push(requiredValue(`${here}.topologyKey`, "can not be empty"));
    }
    const action = (constraint["whenUnsatisfiable"] ?? "") as string;
    const actions = ["DoNotSchedule", "ScheduleAnyway"];
    if (!actions.includes(action)) causes.push(unsupportedValue(`${here}.whenUnsatisfiable`, action, actions));
    const selector = constraint["labelSelector"];
    if (isObject(selector)) selectorCauses(selector, `${here}.labelSelector`, causes);
  });
}

/** Conditions that must be true before the pod is ready, each a qualified name. */
export function readinessGateCauses(gates: readonly JsonObject[], path: string, causes: Cause[]): void {
  gates.forEach(({ conditionType = "" }, at) => {
    for (const text of qualifiedNameErrors(conditionType as string)) {
      causes.push(invalidValue(`${path}[${at}].conditionType`, conditionType, text));
    }
  });
}

/** What keeps a pod from being scheduled: qualified names, each once. */
export function schedulingGateCauses(gates: readonly JsonObject[], path: string, causes: Cause[]): void {
  const seen = new Set<string>();
  gates.forEach((gate, at) => {
    const name = (gate["name"] ?? "") as string;
    for (const text of qualifiedNameErrors(name)) causes.push(invalidValue(`${path}[${at}]`, name, text));
    if (seen.has(name)) causes.push(duplicateValue(`${path}[${at}]`, name));
    seen.add(name);
  });
}

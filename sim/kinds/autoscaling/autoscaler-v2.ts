/** Autoscalers of version 2, by any metric. Source: the published defaults and validation. */
import { pathSegmentErrors } from "../../../wire/names.ts";
import { parseQuantity } from "../../../wire/quantity.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import { forbiddenField, invalidValue, pushInvalid, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { KindRow } from "../kind-row.ts";
import { listOf, specToDefault } from "../shared/fields.ts";
import { selectorCauses } from "../shared/label-selector.ts";
import { autoscalerColumns, scaleTargetCauses, sizeCauses } from "./autoscaler.ts";

/** What a metric's type calls the field that says more. */
const sources: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};

/** Used where nothing is said: up by doubling or four pods each 15 s, down at once after five quiet minutes. */
const usualRules = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    policies: [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 },
    ],
  },
  scaleDown: { policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] },
} as const;

const autoscalerRules: KindRules = {
  defaults(draft) {
    const spec = specToDefault(draft, "minReplicas");
    if (spec === undefined) return;
    spec["minReplicas"] ??= 1;
    if (((spec["metrics"] ?? []) as readonly Json[]).length === 0) {
      const target = { type: "Utilization", averageUtilization: 80 };
      spec["metrics"] = [{ type: "Resource", resource: { name: "cpu", target } }];
    }
    if (!isObject(spec["behavior"])) return;
    const behavior = ownChild(spec, "behavior");
    for (const [direction, usual] of Object.entries(usualRules)) rulesDefaults(behavior, direction, usual);
  },
  validate(autoscaler, causes) {
    const spec = (autoscaler["spec"] ?? {}) as JsonObject;
    sizeCauses(spec, causes);
    scaleTargetCauses(spec, causes);
    listOf(spec, "metrics").forEach((metric, at) => metricCauses(metric, `spec.metrics[${at}]`, causes));
    const { behavior } = spec;
    if (!isObject(behavior)) return;
    for (const direction of ["scaleUp", "scaleDown"]) {
      const rules = behavior[direction];
      if (isObject(rules)) scalingCauses(rules, `spec.behavior.${direction}`, causes);
    }
  },
};

function rulesDefaults(behavior: Draft, direction: string, usual: JsonObject): void {
  const rules = ownChild(behavior, direction);
  rules["selectPolicy"] ??= "Max";
  for (const [field, value] of Object.entries(usual)) rules[field] ??= value;
}

function metricCauses(metric: JsonObject, path: string, causes: Cause[]): void {
  const type = (metric["type"] ?? "") as string;
  if (type === "") causes.push(requiredValue(`${path}.type`, "must specify a metric source type"));
  else if (!Object.hasOwn(sources, type)) {
    causes.push(unsupportedValue(`${path}.type`, type, Object.keys(sources)));
  }
  const wanted = Object.hasOwn(sources, type) ? sources[type] : undefined;
  for (const field of Object.values(sources).sort()) {
    const source = metric[field];
    if (isObject(source)) {
      sourceCauses(field, source, `${path}.${field}`, causes);
      if (wanted !== undefined && field !== wanted) {
        causes.push(forbiddenField(`${path}.${field}`, "must populate the given metric source only"));
      }
    }
  }
  if (wanted !== undefined && !isObject(metric[wanted])) {
    causes.push(requiredValue(`${path}.${wanted}`, "must populate information for the given metric source"));
  }
}

/** How much is wanted: the ways to say it, and what is told when none is used, or two are. */
interface Amounts {
  readonly ways: readonly string[];
  /** The field that is named as missing. */
  readonly missing: string;
  readonly none: string;
  readonly both: string;
}

const ofResources: Amounts = {
  ways: ["averageUtilization", "averageValue"],
  missing: "averageUtilization",
  none: "must set either a target raw value or a target utilization",
  both: "may not set both a target raw value and a target utilization",
};
const amounts: Readonly<Record<string, Amounts>> = {
  resource: ofResources,
  containerResource: ofResources,
  pods: {
    ways: ["averageValue"],
    missing: "averageValue",
    none: "must specify a positive target averageValue",
    both: "",
  },
  object: {
    ways: ["value", "averageValue"],
    missing: "averageValue",
    none: "must set either a target value or averageValue",
    both: "may not set both a target value and averageValue",
  },
  external: {
    ways: ["value", "averageValue"],
    missing: "averageValue",
    none: "must set either a target value for metric or a per-pod target",
    both: "may not set both a target value for metric and a per-pod target",
  },
};

function sourceCauses(kind: string, source: JsonObject, path: string, causes: Cause[]): void {
  const isResource = kind === "resource" || kind === "containerResource";
  if (kind === "containerResource" && (source["container"] ?? "") === "") {
    causes.push(requiredValue(`${path}.container`, "must specify a container"));
  }
  if (!isResource) metricNameCauses((source["metric"] ?? {}) as JsonObject, `${path}.metric`, causes);
  else if ((source["name"] ?? "") === "") causes.push(requiredValue(`${path}.name`, "must specify a resource name"));
  targetCauses((source["target"] ?? {}) as JsonObject, amounts[kind] as Amounts, `${path}.target`, causes);
}

function metricNameCauses(metric: JsonObject, path: string, causes: Cause[]): void {
  const name = (metric["name"] ?? "") as string;
  if (name === "") causes.push(requiredValue(`${path}.name`, "must specify a metric name"));
  else pushInvalid(`${path}.name`, name, pathSegmentErrors(name), causes);
  if (isObject(metric["selector"])) selectorCauses(metric["selector"], `${path}.selector`, causes);
}

const targetTypes = ["AverageValue", "Utilization", "Value"];

function targetCauses(target: JsonObject, wanted: Amounts, path: string, causes: Cause[]): void {
  const { type = "" } = target;
  if (type === "") causes.push(requiredValue(`${path}.type`, "must specify a metric target type"));
  else if (!targetTypes.includes(type as string)) {
    causes.push(invalidValue(`${path}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  const share = target["averageUtilization"] as number | undefined;
  if (share !== undefined && share < 1) {
    causes.push(invalidValue(`${path}.averageUtilization`, share, "must be greater than 0"));
  }
  for (const field of ["value", "averageValue"]) {
    const amount = target[field];
    if (amount !== undefined && !isPositive(String(amount as string))) {
      causes.push(invalidValue(`${path}.${field}`, amount, "must be positive"));
    }
  }
  const given = wanted.ways.filter((way) => target[way] !== undefined);
  if (given.length === 0) causes.push(requiredValue(`${path}.${wanted.missing}`, wanted.none));
  if (given.length > 1) causes.push(forbiddenField(`${path}.averageValue`, wanted.both));
}

function isPositive(text: string): boolean {
  const quantity = parseQuantity(text);
  return !("error" in quantity) && quantity.digits > 0n;
}

const windowMaxSeconds = 3600;
const periodMaxSeconds = 1800;

function scalingCauses(rules: JsonObject, path: string, causes: Cause[]): void {
  const window = (rules["stabilizationWindowSeconds"] ?? 0) as number;
  const here = `${path}.stabilizationWindowSeconds`;
  if (window < 0) causes.push(invalidValue(here, window, "must be greater than or equal to zero"));
  if (window > windowMaxSeconds) {
    causes.push(invalidValue(here, window, `must be less than or equal to ${windowMaxSeconds}`));
  }
  const choice = rules["selectPolicy"];
  const choices = ["Disabled", "Max", "Min"];
  if (choice !== undefined && !choices.includes(choice as string)) {
    causes.push(unsupportedValue(`${path}.selectPolicy`, choice, choices));
  }
  const policies = listOf(rules, "policies");
  if (policies.length === 0) causes.push(requiredValue(`${path}.policies`, "must specify at least one Policy"));
  policies.forEach((policy, at) => policyCauses(policy, `${path}.policies[${at}]`, causes));
}

function policyCauses(policy: JsonObject, path: string, causes: Cause[]): void {
  const { type = "" } = policy;
  if (type !== "Pods" && type !== "Percent") {
    causes.push(unsupportedValue(`${path}.type`, type, ["Percent", "Pods"]));
  }
  for (const [field, most] of [
    ["value", Infinity],
    ["periodSeconds", periodMaxSeconds],
  ] as const) {
    const amount = (policy[field] ?? 0) as number;
    const here = `${path}.${field}`;
    if (amount <= 0) causes.push(invalidValue(here, amount, "must be greater than zero"));
    if (amount > most) causes.push(invalidValue(here, amount, `must be less than or equal to ${most}`));
  }
}

export const horizontalPodAutoscalerV2Kind: KindRow = {
  resource: "autoscaling/v2/horizontalpodautoscalers",
  rules: autoscalerRules,
  columns: autoscalerColumns,
};

/**
 * Deployments and their kin: replicas, strategies, a selector that must match the template and never changes.
 * Source: recorded deployments; the published defaults.
 */
import type { Cause } from "../../errors.ts";
import type { Json, JsonObject } from "../../http-message.ts";
import { invalidText, invalidValue, requiredValue } from "../causes.ts";
import { jsonEqual } from "../equality.ts";
import { type Draft, isObject, metadataOf, ownChild } from "../types.ts";
import type { KindRules } from "./kind-rules.ts";
import { podSpecCauses, templateDefaults } from "./pod-template.ts";

function specOf(draft: Draft): Draft | undefined {
  return isObject(draft["spec"]) && !Object.isFrozen(draft["spec"]) ? ownChild(draft, "spec") : undefined;
}

function rules(defaults: (spec: Draft) => void): KindRules {
  return {
    defaults(draft) {
      const spec = specOf(draft);
      if (spec === undefined) return;
      defaults(spec);
      templateDefaults(spec, "template");
    },
    validate: workloadCauses,
    validateUpdate: selectorCauses,
  };
}

export const deploymentRules = rules((spec) => {
  spec["replicas"] ??= 1;
  rollingUpdate(spec, "strategy", { maxUnavailable: "25%", maxSurge: "25%" });
  spec["revisionHistoryLimit"] ??= 10;
  spec["progressDeadlineSeconds"] ??= 600;
});

export const replicaSetRules = rules((spec) => {
  spec["replicas"] ??= 1;
});

export const statefulSetRules = rules((spec) => {
  spec["replicas"] ??= 1;
  spec["podManagementPolicy"] ??= "OrderedReady";
  rollingUpdate(spec, "updateStrategy", { partition: 0 });
  spec["revisionHistoryLimit"] ??= 10;
  spec["persistentVolumeClaimRetentionPolicy"] ??= { whenDeleted: "Retain", whenScaled: "Retain" };
});

export const daemonSetRules = rules((spec) => {
  rollingUpdate(spec, "updateStrategy", { maxUnavailable: 1, maxSurge: 0 });
  spec["revisionHistoryLimit"] ??= 10;
});

/** Labels and selector default to each other's: a controller of this old kind is found by its template. */
export const replicationControllerRules: KindRules = {
  defaults(draft) {
    const spec = specOf(draft);
    if (spec === undefined) return;
    spec["replicas"] ??= 1;
    templateDefaults(spec, "template");
    const labels = metadataOf((spec["template"] ?? {}) as JsonObject).labels;
    if (labels !== undefined) spec["selector"] ??= labels as Json;
  },
  validate(object, causes) {
    const template = (object["spec"] as JsonObject | undefined)?.["template"];
    if (!isObject(template)) causes.push(requiredValue("spec.template"));
    else podSpecCauses((template["spec"] ?? {}) as JsonObject, "spec.template.spec", causes);
  },
};

function rollingUpdate(spec: Draft, field: string, amounts: JsonObject): void {
  const strategy = ownChild(spec, field);
  strategy["type"] ??= "RollingUpdate";
  if (strategy["type"] !== "RollingUpdate") return;
  const rolling = ownChild(strategy, "rollingUpdate");
  for (const key of Object.keys(amounts)) rolling[key] ??= amounts[key] as Json;
}

function workloadCauses(object: JsonObject, causes: Cause[]): void {
  const spec = (object["spec"] ?? {}) as JsonObject;
  const replicas = spec["replicas"] as number | undefined;
  if (replicas !== undefined && replicas < 0) {
    causes.push(invalidValue("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  const template = (spec["template"] ?? {}) as JsonObject;
  const selector = spec["selector"];
  if (!isObject(selector)) causes.push(requiredValue("spec.selector"));
  else selectorMatchCauses(selector, template, causes);
  podSpecCauses((template["spec"] ?? {}) as JsonObject, "spec.template.spec", causes);
}

function selectorMatchCauses(selector: JsonObject, template: JsonObject, causes: Cause[]): void {
  const wanted = (selector["matchLabels"] ?? {}) as Readonly<Record<string, string>>;
  const expressions = (selector["matchExpressions"] ?? []) as readonly JsonObject[];
  if (Object.keys(wanted).length === 0 && expressions.length === 0) {
    causes.push(invalidText("spec.selector", goSelector(wanted), "empty selector is invalid for deployment"));
    return;
  }
  const labels = metadataOf(template).labels ?? {};
  if (Object.keys(wanted).every((key) => labels[key] === wanted[key])) return;
  const text = `map[string]string{${Object.keys(labels)
    .map((key) => `"${key}":"${labels[key]}"`)
    .join(", ")}}`;
  causes.push(invalidText("spec.template.metadata.labels", text, "`selector` does not match template `labels`"));
}

function selectorCauses(object: JsonObject, live: JsonObject, causes: Cause[]): void {
  const after = (object["spec"] as JsonObject | undefined)?.["selector"];
  const before = (live["spec"] as JsonObject | undefined)?.["selector"];
  if (jsonEqual(after, before)) return;
  const wanted = (isObject(after) ? (after["matchLabels"] ?? {}) : {}) as Readonly<Record<string, string>>;
  causes.push(invalidText("spec.selector", goSelector(wanted), "field is immutable"));
}

function goSelector(matchLabels: Readonly<Record<string, string>>): string {
  const labels = Object.keys(matchLabels).map((key) => `"${key}":"${matchLabels[key]}"`);
  const map = labels.length === 0 ? "map[string]string(nil)" : `map[string]string{${labels.join(", ")}}`;
  return `v1.LabelSelector{MatchLabels:${map}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}`;
}

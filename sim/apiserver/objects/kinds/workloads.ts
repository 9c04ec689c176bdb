/**
 * Deployments and their kin: replicas, strategies, a selector that must match the template and never changes.
 * Source: recorded deployments; the published defaults.
 */
import type { Cause } from "../../errors.ts";
import type { Json, JsonObject } from "../../http-message.ts";
import { forbiddenField, invalidText, invalidValue, requiredValue, unsupportedValue } from "../causes.ts";
import { jsonEqual } from "../equality.ts";
import { type Draft, isObject, metadataOf, ownChild } from "../types.ts";
import { isSelectorError, parseLabelSelector } from "../../../../wire/selectors.ts";
import { selectorText } from "../../representations/selector-text.ts";
import { amountCauses, goAmount, isNothing, wholeCauses } from "./amounts.ts";
import { nonNegativeCauses } from "./fields.ts";
import type { KindRules } from "./kind-rules.ts";
import { selectorCauses as labelSelectorCauses } from "./label-selector.ts";
import { templateCauses, templateDefaults } from "./pod-template.ts";

function specOf(draft: Draft): Draft | undefined {
  return isObject(draft["spec"]) && !Object.isFrozen(draft["spec"]) ? ownChild(draft, "spec") : undefined;
}

/** `what` is how refusals call the kind. */
function rules(what: string, defaults: (spec: Draft) => void, judge: Judge = () => {}): KindRules {
  return {
    defaults(draft) {
      const spec = specOf(draft);
      if (spec === undefined) return;
      defaults(spec);
      templateDefaults(spec, "template");
    },
    validate(object, causes) {
      const spec = (object["spec"] ?? {}) as JsonObject;
      workloadCauses(spec, what, causes);
      judge(spec, causes);
    },
    validateUpdate: selectorCauses,
  };
}

export const deploymentRules = rules(
  "ReplicaSet",
  (spec) => {
    spec["replicas"] ??= 1;
    rollingUpdate(spec, "strategy", { maxUnavailable: "25%", maxSurge: "25%" });
    spec["revisionHistoryLimit"] ??= 10;
    spec["progressDeadlineSeconds"] ??= 600;
  },
  deploymentCauses,
);

export const replicaSetRules = rules("ReplicaSet", (spec) => {
  spec["replicas"] ??= 1;
});

export const statefulSetRules = rules("StatefulSet", (spec) => {
  spec["replicas"] ??= 1;
  spec["podManagementPolicy"] ??= "OrderedReady";
  rollingUpdate(spec, "updateStrategy", { partition: 0 });
  spec["revisionHistoryLimit"] ??= 10;
  spec["persistentVolumeClaimRetentionPolicy"] ??= { whenDeleted: "Retain", whenScaled: "Retain" };
});

export const daemonSetRules = rules("DaemonSet", (spec) => {
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
    else templateCauses(template, "spec.template", causes);
  },
};

function rollingUpdate(spec: Draft, field: string, amounts: JsonObject): void {
  const strategy = ownChild(spec, field);
  strategy["type"] ??= "RollingUpdate";
  if (strategy["type"] !== "RollingUpdate") return;
  const rolling = ownChild(strategy, "rollingUpdate");
  for (const key of Object.keys(amounts)) rolling[key] ??= amounts[key] as Json;
}

type Judge = (spec: JsonObject, causes: Cause[]) => void;

/** What holds for all of them: a selector that finds the template's pods, which are started again for ever. */
function workloadCauses(spec: JsonObject, what: string, causes: Cause[]): void {
  nonNegativeCauses(spec, ["replicas", "minReadySeconds", "revisionHistoryLimit"], "spec", causes);
  const template = (spec["template"] ?? {}) as JsonObject;
  const selector = spec["selector"];
  if (!isObject(selector)) causes.push(requiredValue("spec.selector"));
  else selectorMatchCauses(selector, template, what, causes);
  const pod = (template["spec"] ?? {}) as JsonObject;
  templateCauses(template, "spec.template", causes);
  const restart = (pod["restartPolicy"] ?? "Always") as string;
  if (restart === "OnFailure" || restart === "Never") {
    causes.push(unsupportedValue("spec.template.spec.restartPolicy", restart, ["Always"]));
  }
  if (pod["activeDeadlineSeconds"] !== undefined) {
    const detail = `activeDeadlineSeconds in ${what} is not Supported`;
    causes.push(forbiddenField("spec.template.spec.activeDeadlineSeconds", detail));
  }
}

function deploymentCauses(spec: JsonObject, causes: Cause[]): void {
  strategyCauses((spec["strategy"] ?? {}) as JsonObject, "spec.strategy", causes);
  const seconds = spec["progressDeadlineSeconds"] as number | undefined;
  if (seconds === undefined) return;
  nonNegativeCauses(spec, ["progressDeadlineSeconds"], "spec", causes);
  if (seconds <= ((spec["minReadySeconds"] ?? 0) as number)) {
    causes.push(invalidValue("spec.progressDeadlineSeconds", seconds, "must be greater than minReadySeconds"));
  }
}

function strategyCauses(strategy: JsonObject, path: string, causes: Cause[]): void {
  const { type = "", rollingUpdate } = strategy;
  if (type === "Recreate") {
    if (rollingUpdate === undefined) return;
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    causes.push(forbiddenField(`${path}.rollingUpdate`, detail));
  } else if (type === "RollingUpdate") {
    const { maxUnavailable, maxSurge } = (rollingUpdate ?? {}) as JsonObject;
    const here = `${path}.rollingUpdate`;
    amountCauses(maxUnavailable, `${here}.maxUnavailable`, causes);
    amountCauses(maxSurge, `${here}.maxSurge`, causes);
    if (isNothing(maxUnavailable) && isNothing(maxSurge)) {
      const detail = "may not be 0 when `maxSurge` is 0";
      causes.push(invalidText(`${here}.maxUnavailable`, goAmount(maxUnavailable), detail));
    }
    wholeCauses(maxUnavailable, `${here}.maxUnavailable`, causes);
  } else causes.push(unsupportedValue(`${path}.type`, type, ["Recreate", "RollingUpdate"]));
}

/** What the refusal of an empty selector names: replica sets are called deployments there. */
const emptyFor: Readonly<Record<string, string>> = { StatefulSet: "statefulset", DaemonSet: "daemonset" };

function selectorMatchCauses(selector: JsonObject, template: JsonObject, what: string, causes: Cause[]): void {
  const found = causes.length;
  labelSelectorCauses(selector, "spec.selector", causes);
  if (causes.length > found) return;
  const parsed = parseLabelSelector(selectorText(selector));
  if (isSelectorError(parsed) || parsed.empty) {
    causes.push(
      invalidText("spec.selector", goSelector({}), `empty selector is invalid for ${emptyFor[what] ?? "deployment"}`),
    );
    return;
  }
  const labels = metadataOf(template).labels ?? {};
  if (parsed.matches(labels)) return;
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

/**
 * Deployments and their kin: replicas, strategies, a selector that must match the template and never changes.
 * Source: recorded deployments; the published defaults and validation.
 */
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidText, invalidValue, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { annotationCauses, labelCauses } from "../../objects/metadata.ts";
import { type Draft, isObject, metadataOf, ownChild } from "../../contract/objects.ts";
import { amountCauses, goAmount, isNothing, wholeCauses } from "../shared/amounts.ts";
import { fill, nonNegativeCauses, specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { selectorCauses } from "../shared/label-selector.ts";
import { claimDefaults } from "../core/volume-claim.ts";
import { eachItem, templateCauses, templateDefaults } from "../core/pod-template.ts";
import {
  emptyCauses,
  fixedSelectorCauses,
  labelsMismatch,
  matchCauses,
  podSelectorCauses,
} from "../shared/pod-selector.ts";
import { statusRules } from "./replica-status.ts";
import {
  printer,
  nameColumn,
  ageColumn,
  type FilledColumn,
  integerColumn,
  column,
  orNone,
  mapAt,
  numberAt,
} from "../shared/printer.ts";
import { template, selectorColumn, numberOf } from "../shared/columns.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { hiddenVariablesAt } from "../core/pods/hidden-variables.ts";
import type { KindRow } from "../kind-row.ts";
import { countAt, nameAndNamespace } from "../shared/field-labels.ts";

const defaultsOf =
  (mark: string, defaults: (spec: Draft) => void) =>
  (draft: Draft): void => {
    const spec = specToDefault(draft, mark);
    if (spec === undefined) return;
    defaults(spec);
    defaultTemplate(spec);
  };

/** A template is there, even of nothing. */
export function defaultTemplate(spec: Draft): void {
  ownChild(spec, "template");
  templateDefaults(spec, "template");
}

type Judge = (spec: JsonObject, causes: Cause[]) => void;

const judgeOf =
  (judge: Judge) =>
  (object: JsonObject, causes: Cause[]): void =>
    judge((object["spec"] ?? {}) as JsonObject, causes);

const replicaParts = ["readyReplicas", "availableReplicas"];

const templateWarnings = hiddenVariablesAt("spec", "template", "spec");

const deploymentRules: KindRules = {
  warnings: templateWarnings,
  defaults: defaultsOf("replicas", (spec) => {
    spec["replicas"] ??= 1;
    rollingUpdate(spec, "strategy", { maxUnavailable: "25%", maxSurge: "25%" });
    spec["revisionHistoryLimit"] ??= 10;
    spec["progressDeadlineSeconds"] ??= 600;
  }),
  validate: judgeOf(deploymentCauses),
  validateUpdate: fixedSelectorCauses,
  validateStatus: statusRules(
    ["replicas", "updatedReplicas", ...replicaParts, "unavailableReplicas"],
    ["updatedReplicas", ...replicaParts],
  ),
};

const replicaSetRules: KindRules = {
  warnings: templateWarnings,
  defaults: defaultsOf("replicas", (spec) => void (spec["replicas"] ??= 1)),
  validate: judgeOf((spec, causes) => {
    nonNegativeCauses(spec, ["replicas", "minReadySeconds"], "spec", causes);
    podSelectorCauses(spec, "deployment", causes);
    runningCauses(spec, "ReplicaSet", causes);
  }),
  validateUpdate: fixedSelectorCauses,
  validateStatus: statusRules(
    ["replicas", "fullyLabeledReplicas", ...replicaParts],
    ["fullyLabeledReplicas", ...replicaParts],
  ),
};

const statefulSetRules: KindRules = {
  warnings: templateWarnings,
  defaults: defaultsOf("replicas", statefulSetDefaults),
  validate: judgeOf(statefulSetCauses),
  validateUpdate: statefulSetStepCauses,
  validateStatus: statusRules(
    ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
    ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
    "status.readyReplicas",
  ),
};

const daemonSetRules: KindRules = {
  warnings: templateWarnings,
  defaults: defaultsOf("revisionHistoryLimit", (spec) => {
    rollingUpdate(spec, "updateStrategy", { maxUnavailable: 1, maxSurge: 0 });
    spec["revisionHistoryLimit"] ??= 10;
  }),
  validate: judgeOf(daemonSetCauses),
  validateUpdate: fixedSelectorCauses,
  validateStatus: statusRules(
    [
      "currentNumberScheduled",
      "numberMisscheduled",
      "desiredNumberScheduled",
      "numberReady",
      "updatedNumberScheduled",
      "numberAvailable",
      "numberUnavailable",
    ],
    [],
  ),
};

/** Labels and selector default to each other's: a controller of this old kind is found by its template. */
const replicationControllerRules: KindRules = {
  warnings: templateWarnings,
  defaults(draft) {
    const spec = specToDefault(draft, "replicas");
    if (spec === undefined) return;
    spec["replicas"] ??= 1;
    templateDefaults(spec, "template");
    const labels = metadataOf((spec["template"] ?? {}) as JsonObject).labels;
    if (labels === undefined) return;
    if (isNone(spec["selector"])) spec["selector"] = labels as Json;
    if (isNone(metadataOf(draft).labels as Json | undefined)) ownChild(draft, "metadata")["labels"] = labels as Json;
  },
  validate: judgeOf(replicationControllerCauses),
  validateStatus: statusRules(
    ["replicas", "fullyLabeledReplicas", ...replicaParts],
    ["fullyLabeledReplicas", ...replicaParts],
  ),
};

const isNone = (map: Json | undefined): boolean => !isObject(map) || Object.keys(map).length === 0;

function rollingUpdate(spec: Draft, field: string, amounts: JsonObject): void {
  const strategy = ownChild(spec, field);
  fill(strategy, "type", "RollingUpdate");
  if (strategy["type"] !== "RollingUpdate") return;
  const rolling = ownChild(strategy, "rollingUpdate");
  for (const key of Object.keys(amounts)) rolling[key] ??= amounts[key] as Json;
}

/** Pods that are started again for ever. */
function runningCauses(spec: JsonObject, what: string, causes: Cause[]): void {
  const template = (spec["template"] ?? {}) as JsonObject;
  templateCauses(template, "spec.template", causes);
  endlessCauses(template, what, causes);
}

function endlessCauses(template: JsonObject, what: string, causes: Cause[]): void {
  const pod = (template["spec"] ?? {}) as JsonObject;
  const restart = (pod["restartPolicy"] ?? "Always") as string;
  if (restart !== "Always") {
    causes.push(unsupportedValue("spec.template.spec.restartPolicy", restart, ["Always"]));
  }
  if (pod["activeDeadlineSeconds"] === undefined) return;
  const detail = `activeDeadlineSeconds in ${what} is not Supported`;
  causes.push(forbiddenField("spec.template.spec.activeDeadlineSeconds", detail));
}

function deploymentCauses(spec: JsonObject, causes: Cause[]): void {
  nonNegativeCauses(spec, ["replicas"], "spec", causes);
  podSelectorCauses(spec, "deployment", causes);
  runningCauses(spec, "ReplicaSet", causes);
  strategyCauses((spec["strategy"] ?? {}) as JsonObject, "spec.strategy", causes);
  nonNegativeCauses(spec, ["minReadySeconds", "revisionHistoryLimit"], "spec", causes);
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

/** The new pod may come before the old one goes, or after: not both. */
function daemonSetCauses(spec: JsonObject, causes: Cause[]): void {
  const { selector } = spec;
  if (isObject(selector)) selectorCauses(selector, "spec.selector", causes);
  matchCauses(spec, causes);
  if (isObject(selector)) emptyCauses(selector, "daemonset", causes);
  runningCauses(spec, "DaemonSet", causes);
  nonNegativeCauses(spec, ["minReadySeconds"], "spec", causes);
  const { type = "", rollingUpdate } = (spec["updateStrategy"] ?? {}) as JsonObject;
  if (type === "RollingUpdate") {
    const { maxUnavailable, maxSurge } = (rollingUpdate ?? {}) as JsonObject;
    const here = "spec.updateStrategy.rollingUpdate";
    amountCauses(maxUnavailable, `${here}.maxUnavailable`, causes);
    amountCauses(maxSurge, `${here}.maxSurge`, causes);
    wholeCauses(maxUnavailable, `${here}.maxUnavailable`, causes);
    wholeCauses(maxSurge, `${here}.maxSurge`, causes);
    if (!isNothing(maxUnavailable) && !isNothing(maxSurge)) {
      const detail = "may not be set when maxUnavailable is non-zero";
      causes.push(invalidText(`${here}.maxSurge`, goAmount(maxSurge), detail));
    } else if (isNothing(maxUnavailable) && isNothing(maxSurge)) {
      causes.push(requiredValue(`${here}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
    }
  } else if (type !== "OnDelete") {
    // Simplification: the real server prints the whole strategy.
    causes.push(unsupportedValue("spec.updateStrategy", type, ["RollingUpdate", "OnDelete"]));
  }
  nonNegativeCauses(spec, ["revisionHistoryLimit"], "spec", causes);
}

function statefulSetDefaults(spec: Draft): void {
  spec["replicas"] ??= 1;
  fill(spec, "podManagementPolicy", "OrderedReady");
  const strategy = ownChild(spec, "updateStrategy");
  if ((strategy["type"] ?? "") === "") {
    strategy["type"] = "RollingUpdate";
    strategy["rollingUpdate"] ??= {};
  }
  if (strategy["type"] === "RollingUpdate" && isObject(strategy["rollingUpdate"])) {
    ownChild(strategy, "rollingUpdate")["partition"] ??= 0;
  }
  spec["revisionHistoryLimit"] ??= 10;
  const retention = ownChild(spec, "persistentVolumeClaimRetentionPolicy");
  fill(retention, "whenDeleted", "Retain");
  fill(retention, "whenScaled", "Retain");
  eachItem(spec, "volumeClaimTemplates", claimDefaults);
}

/** The spec of the pods is not judged: their claims' volumes are not among those that it names. */
function statefulSetCauses(spec: JsonObject, causes: Cause[]): void {
  const policy = spec["podManagementPolicy"];
  if (policy !== "OrderedReady" && policy !== "Parallel") {
    causes.push(invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  updateStrategyCauses((spec["updateStrategy"] ?? {}) as JsonObject, causes);
  const retention = (spec["persistentVolumeClaimRetentionPolicy"] ?? {}) as JsonObject;
  for (const field of ["whenDeleted", "whenScaled"]) {
    const value = retention[field];
    if (value === undefined || value === "Retain" || value === "Delete") continue;
    const path = `spec.persistentVolumeClaimRetentionPolicy.${field}`;
    causes.push(unsupportedValue(path, value, ["Retain", "Delete"]));
  }
  nonNegativeCauses(spec, ["replicas", "minReadySeconds"], "spec", causes);
  if (isObject(spec["ordinals"])) nonNegativeCauses(spec["ordinals"], ["start"], "spec.ordinals", causes);
  podSelectorCauses(spec, "statefulset", causes);
  const template = (spec["template"] ?? {}) as JsonObject;
  const { labels, annotations } = metadataOf(template);
  if (labels !== undefined) labelCauses(labels, "spec.template.labels", causes);
  if (annotations !== undefined) annotationCauses(annotations, "spec.template.annotations", causes);
  endlessCauses(template, "StatefulSet", causes);
}

function updateStrategyCauses({ type = "", rollingUpdate }: JsonObject, causes: Cause[]): void {
  const path = "spec.updateStrategy";
  const here = `${path}.rollingUpdate`;
  // Simplification: the real server prints the whole strategy.
  if (type === "OnDelete") {
    if (rollingUpdate === undefined) return;
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    causes.push(invalidText(here, "apps.RollingUpdateStatefulSetStrategy{}", detail));
  } else if (type === "RollingUpdate") {
    if (!isObject(rollingUpdate)) return;
    nonNegativeCauses(rollingUpdate, ["partition"], here, causes);
    const amount = rollingUpdate["maxUnavailable"];
    if (amount === undefined) return;
    amountCauses(amount, `${here}.maxUnavailable`, causes);
    if (isNothing(amount)) causes.push(invalidText(`${here}.maxUnavailable`, goAmount(amount), "cannot be 0"));
    wholeCauses(amount, `${here}.maxUnavailable`, causes);
  } else {
    const detail = "must be 'RollingUpdate' or 'OnDelete'";
    causes.push(invalidText(path, "apps.StatefulSetUpdateStrategy{}", detail));
  }
}

const changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];
const changeableText =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function statefulSetStepCauses(object: JsonObject, live: JsonObject, causes: Cause[]): void {
  const [after, before] = [object, live].map((one) => {
    const rest = { ...(one["spec"] as JsonObject) } as Record<string, Json>;
    for (const field of changeable) delete rest[field];
    return rest as JsonObject;
  });
  if (!jsonEqual(after, before)) causes.push(forbiddenField("spec", changeableText));
}

function replicationControllerCauses(spec: JsonObject, causes: Cause[]): void {
  nonNegativeCauses(spec, ["minReadySeconds"], "spec", causes);
  const selector = (spec["selector"] ?? {}) as Readonly<Record<string, string>>;
  if (isNone(selector as JsonObject)) causes.push(requiredValue("spec.selector"));
  nonNegativeCauses(spec, ["replicas"], "spec", causes);
  const template = spec["template"];
  if (!isObject(template)) {
    causes.push(requiredValue("spec.template"));
    return;
  }
  const { labels } = metadataOf(template);
  if (!Object.keys(selector).every((key) => labels?.[key] === selector[key])) causes.push(labelsMismatch(labels));
  runningCauses(spec, "ReplicationController", causes);
}

const ready = (path: string) => (it: JsonObject) => `${numberAt(it, path)}/${numberAt(it, "spec.replicas")}`;

const replicaColumns: readonly FilledColumn[] = [
  integerColumn("Desired", "Pods that are wanted.", numberOf("spec.replicas")),
  integerColumn("Current", "Pods that there are.", numberOf("status.replicas")),
  integerColumn("Ready", "Pods that are ready.", numberOf("status.readyReplicas")),
];

const replicas = printer(nameColumn, ...replicaColumns, ageColumn, ...template, selectorColumn("spec.selector"));

export const replicationControllerKind: KindRow = {
  resource: "/replicationcontrollers",
  usesGeneration: true,
  propagation: "Orphan",
  rules: replicationControllerRules,
  columns: replicas,
  fieldLabels: [["status.replicas", countAt("status", "replicas")], ...nameAndNamespace],
};

export const daemonSetKind: KindRow = {
  resource: "apps/daemonsets",
  usesGeneration: true,
  statusLocks: ["labels"],
  rules: daemonSetRules,
  columns: printer(
    nameColumn,
    integerColumn("Desired", "Nodes that should run its pod.", numberOf("status.desiredNumberScheduled")),
    integerColumn("Current", "Nodes that run its pod and should.", numberOf("status.currentNumberScheduled")),
    integerColumn("Ready", "Nodes whose pod is ready.", numberOf("status.numberReady")),
    integerColumn("Up-to-date", "Nodes with a pod of the present template.", numberOf("status.updatedNumberScheduled")),
    integerColumn("Available", "Nodes whose pod has been ready for long enough.", numberOf("status.numberAvailable")),
    column("Node Selector", "Labels of the nodes that it is for.", (it) => nodeSelector(it)),
    ageColumn,
    ...template,
    selectorColumn("spec.selector"),
  ),
};

export const deploymentKind: KindRow = {
  resource: "apps/deployments",
  usesGeneration: true,
  statusLocks: ["labels"],
  rules: deploymentRules,
  columns: printer(
    nameColumn,
    column("Ready", "Pods that are ready, of those that are wanted.", ready("status.readyReplicas")),
    column("Up-to-date", "Pods of the present template.", numberOf("status.updatedReplicas")),
    column("Available", "Pods that have been ready for long enough.", numberOf("status.availableReplicas")),
    ageColumn,
    ...template,
    selectorColumn("spec.selector"),
  ),
};

export const replicaSetKind: KindRow = {
  resource: "apps/replicasets",
  usesGeneration: true,
  statusLocks: ["labels"],
  rules: replicaSetRules,
  columns: replicas,
};

export const statefulSetKind: KindRow = {
  resource: "apps/statefulsets",
  usesGeneration: true,
  statusLocks: ["labels"],
  nameRule: "label",
  rules: statefulSetRules,
  columns: printer(
    nameColumn,
    column("Ready", "Pods that are ready, of those that are wanted.", ready("status.readyReplicas")),
    ageColumn,
    ...template,
  ),
};

function nodeSelector(object: JsonObject): string {
  return orNone(selectorText(mapAt(object, "spec.template.spec.nodeSelector")));
}

/**
 * Deployments and their kin: replicas, strategies, a selector that must match the template and never changes.
 * Source: recorded deployments; the published defaults and validation.
 */
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, isObject, metadataOf, ownChild } from "../../contract/objects.ts";
import { goAmount, isNothing, amount, partOfWhole } from "../shared/amounts.ts";
import { fill, specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { claimDefaults } from "../core/volume-claim.ts";
import { eachItem, templateDefaults, podTemplate } from "../core/pod-template.ts";
import { labelsMismatch, podSelector, matchesTemplate, selectsSome, fixedSelector } from "../shared/pod-selector.ts";
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
import type { Rule, Place } from "../../objects/place.ts";
import {
  struct,
  oneOf,
  forbidden,
  always,
  all,
  nonNegative,
  caseOf,
  orNil,
  textThat,
  called,
  present,
  fieldRules,
} from "../../objects/rules.ts";
import { labelSelector } from "../shared/label-selector.ts";
import { labels, annotations } from "../shared/formats.ts";

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

const replicaParts = ["readyReplicas", "availableReplicas"];

const templateWarnings = hiddenVariablesAt("spec", "template", "spec");

function rollingUpdate(spec: Draft, field: string, amounts: JsonObject): void {
  const strategy = ownChild(spec, field);
  fill(strategy, "type", "RollingUpdate");
  if (strategy["type"] !== "RollingUpdate") return;
  const rolling = ownChild(strategy, "rollingUpdate");
  for (const key of Object.keys(amounts)) rolling[key] ??= amounts[key] as Json;
}

const endless = (what: string): Rule =>
  struct({
    "spec.restartPolicy": oneOf(["Always"]),
    "spec.activeDeadlineSeconds": forbidden(`activeDeadlineSeconds in ${what} is not Supported`),
  });

/** Pods that are started again for ever. */
const running = (what: string): Rule => always(all(podTemplate, endless(what)));

const rollingDeployment = struct(
  { maxUnavailable: amount, maxSurge: amount },
  ({ maxUnavailable, maxSurge }: JsonObject, at) => {
    if (!isNothing(maxUnavailable) || !isNothing(maxSurge)) return;
    at.of("maxUnavailable").invalidText(goAmount(maxUnavailable), "may not be 0 when `maxSurge` is 0");
  },
  { maxUnavailable: partOfWhole },
);

const deploymentSpec = struct(
  { replicas: nonNegative },
  podSelector("deployment"),
  {
    template: running("ReplicaSet"),
    strategy: always(
      struct(
        { type: always(oneOf(["Recreate", "RollingUpdate"])) },
        caseOf("type", {
          Recreate: { rollingUpdate: forbidden("may not be specified when strategy `type` is 'Recreate'") },
          RollingUpdate: { rollingUpdate: always(rollingDeployment) },
        }),
      ),
    ),
    minReadySeconds: nonNegative,
    revisionHistoryLimit: nonNegative,
    progressDeadlineSeconds: nonNegative,
  },
  ({ progressDeadlineSeconds: seconds, minReadySeconds = 0 }: Readonly<Record<string, number>>, at) => {
    if (seconds === undefined || seconds > minReadySeconds) return;
    at.of("progressDeadlineSeconds").invalid(seconds, "must be greater than minReadySeconds");
  },
);

/** The new pod may come before the old one goes, or after: not both. */
const rollingDaemonSet = struct(
  { maxUnavailable: amount, maxSurge: amount },
  { maxUnavailable: partOfWhole, maxSurge: partOfWhole },
  ({ maxUnavailable, maxSurge }: JsonObject, at) => {
    if (!isNothing(maxUnavailable) && !isNothing(maxSurge)) {
      at.of("maxSurge").invalidText(goAmount(maxSurge), "may not be set when maxUnavailable is non-zero");
    } else if (isNothing(maxUnavailable) && isNothing(maxSurge)) {
      at.of("maxUnavailable").required("cannot be 0 when maxSurge is 0");
    }
  },
);

const daemonSetSpec = struct({ selector: labelSelector }, matchesTemplate, selectsSome("daemonset"), {
  template: running("DaemonSet"),
  minReadySeconds: nonNegative,
  updateStrategy: always(
    struct(caseOf("type", { RollingUpdate: { rollingUpdate: always(rollingDaemonSet) } }), (it: JsonObject, at) => {
      const { type = "" } = it;
      // Simplification: the real server prints the whole strategy.
      if (type !== "RollingUpdate" && type !== "OnDelete") at.unsupported(type, ["RollingUpdate", "OnDelete"]);
    }),
  ),
  revisionHistoryLimit: nonNegative,
});

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
  const policy = ownChild(spec, "persistentVolumeClaimRetentionPolicy");
  fill(policy, "whenDeleted", "Retain");
  fill(policy, "whenScaled", "Retain");
  eachItem(spec, "volumeClaimTemplates", claimDefaults);
}

const retention = oneOf(["Retain", "Delete"]);

/** Simplification: the real server prints whole strategies. */
const statefulSetStrategy = struct(
  caseOf("type", {
    OnDelete: {
      rollingUpdate: (_: JsonObject, at: Place) =>
        at.invalidText("apps.RollingUpdateStatefulSetStrategy{}", "only allowed for updateStrategy 'RollingUpdate'"),
    },
    RollingUpdate: {
      "rollingUpdate.partition": nonNegative,
      "rollingUpdate.maxUnavailable": all(
        amount,
        (given: Json, at: Place) => {
          if (isNothing(given)) at.invalidText(goAmount(given), "cannot be 0");
        },
        partOfWhole,
      ),
    },
  }),
  ({ type }: JsonObject, at) => {
    if (type === "OnDelete" || type === "RollingUpdate") return;
    at.invalidText("apps.StatefulSetUpdateStrategy{}", "must be 'RollingUpdate' or 'OnDelete'");
  },
);

/** The spec of the pods is not judged: their claims' volumes are not among those that it names. */
const statefulSetSpec = struct(
  {
    podManagementPolicy: orNil(
      textThat((policy) => policy === "OrderedReady" || policy === "Parallel", "must be 'OrderedReady' or 'Parallel'"),
    ),
    updateStrategy: always(statefulSetStrategy),
    persistentVolumeClaimRetentionPolicy: struct({ whenDeleted: retention, whenScaled: retention }),
    replicas: nonNegative,
    minReadySeconds: nonNegative,
    "ordinals.start": nonNegative,
  },
  podSelector("statefulset"),
  { "template.metadata": called("", struct({ labels, annotations })), template: endless("StatefulSet") },
);

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

const isNone = (map: Json | undefined): boolean => !isObject(map) || Object.keys(map).length === 0;

const replicationControllerSpec = struct(
  { minReadySeconds: nonNegative },
  ({ selector }: JsonObject, at) => {
    if (isNone(selector)) at.of("selector").required();
  },
  { replicas: nonNegative },
  ({ selector, template: given }: JsonObject, at) => {
    if (!isObject(given)) return;
    const { labels: own } = metadataOf(given);
    const wanted = (selector ?? {}) as Readonly<Record<string, string>>;
    if (!Object.keys(wanted).every((key) => own?.[key] === wanted[key])) labelsMismatch(own, at);
  },
  { template: present(running("ReplicationController")) },
);

const deploymentRules: KindRules = {
  warnings: templateWarnings,
  defaults: defaultsOf("replicas", (spec) => {
    spec["replicas"] ??= 1;
    rollingUpdate(spec, "strategy", { maxUnavailable: "25%", maxSurge: "25%" });
    spec["revisionHistoryLimit"] ??= 10;
    spec["progressDeadlineSeconds"] ??= 600;
  }),
  validate: fieldRules({ spec: always(deploymentSpec) }),
  validateUpdate: fixedSelector,
  validateStatus: statusRules(
    ["replicas", "updatedReplicas", ...replicaParts, "unavailableReplicas"],
    ["updatedReplicas", ...replicaParts],
  ),
};

const replicaSetRules: KindRules = {
  warnings: templateWarnings,
  defaults: defaultsOf("replicas", (spec) => void (spec["replicas"] ??= 1)),
  validate: fieldRules({
    spec: always(
      struct({ replicas: nonNegative, minReadySeconds: nonNegative }, podSelector("deployment"), {
        template: running("ReplicaSet"),
      }),
    ),
  }),
  validateUpdate: fixedSelector,
  validateStatus: statusRules(
    ["replicas", "fullyLabeledReplicas", ...replicaParts],
    ["fullyLabeledReplicas", ...replicaParts],
  ),
};

const statefulSetRules: KindRules = {
  warnings: templateWarnings,
  defaults: defaultsOf("replicas", statefulSetDefaults),
  validate: fieldRules({ spec: always(statefulSetSpec) }),
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
  validate: fieldRules({ spec: always(daemonSetSpec) }),
  validateUpdate: fixedSelector,
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
  validate: fieldRules({ spec: always(replicationControllerSpec) }),
  validateStatus: statusRules(
    ["replicas", "fullyLabeledReplicas", ...replicaParts],
    ["fullyLabeledReplicas", ...replicaParts],
  ),
};

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

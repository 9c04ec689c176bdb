/** Workloads in tables. Source: the columns and rules that the published printers have. */
import { humanDuration } from "../../../wire/human-duration.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { unixSeconds } from "../../contract/times.ts";
import { selectorText } from "../../objects/selector-text.ts";
import {
  ageColumn,
  at,
  column,
  conditionStatus,
  type FilledColumn,
  integerColumn,
  listAt,
  mapAt,
  nameColumn,
  none,
  numberAt,
  orNone,
  type Printer,
  printer,
  since,
  textAt,
  unset,
  wide,
} from "./printer.ts";

const names = (object: JsonObject, path: string, field: string): string =>
  listAt(object, path)
    .map((item) => textAt(item, field))
    .join(",");

/** The containers that a template holds, at the path of its pod's spec. */
function templateColumns(podSpec: string): readonly FilledColumn[] {
  return [
    wide(
      column("Containers", "Names of the template's containers.", (it) => names(it, `${podSpec}.containers`, "name")),
    ),
    wide(column("Images", "Images of the template's containers.", (it) => names(it, `${podSpec}.containers`, "image"))),
  ];
}

const selectorColumn = (path: string): FilledColumn =>
  wide(column("Selector", "Labels of the pods that belong to it.", (it) => labelSelector(it, path)));

/** `<none>` for no selector, and for one that selects everything. */
function labelSelector(object: JsonObject, path: string): string {
  const selector = at(object, path);
  return selector === undefined ? none : orNone(selectorText(selector as JsonObject));
}

const ready = (path: string) => (it: JsonObject) => `${numberAt(it, path)}/${numberAt(it, "spec.replicas")}`;
const numberOf = (path: string) => (it: JsonObject) => numberAt(it, path);

const replicaColumns: readonly FilledColumn[] = [
  integerColumn("Desired", "Pods that are wanted.", numberOf("spec.replicas")),
  integerColumn("Current", "Pods that there are.", numberOf("status.replicas")),
  integerColumn("Ready", "Pods that are ready.", numberOf("status.readyReplicas")),
];

const template = templateColumns("spec.template.spec");

const replicas = printer(nameColumn, ...replicaColumns, ageColumn, ...template, selectorColumn("spec.selector"));

export const workloadPrinters: Readonly<Record<string, Printer>> = {
  ReplicationController: replicas,
  ReplicaSet: replicas,
  Deployment: printer(
    nameColumn,
    column("Ready", "Pods that are ready, of those that are wanted.", ready("status.readyReplicas")),
    column("Up-to-date", "Pods of the present template.", numberOf("status.updatedReplicas")),
    column("Available", "Pods that have been ready for long enough.", numberOf("status.availableReplicas")),
    ageColumn,
    ...template,
    selectorColumn("spec.selector"),
  ),
  StatefulSet: printer(
    nameColumn,
    column("Ready", "Pods that are ready, of those that are wanted.", ready("status.readyReplicas")),
    ageColumn,
    ...template,
  ),
  DaemonSet: printer(
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
  ControllerRevision: printer(
    nameColumn,
    column("Controller", "Whose state this is.", controllerOf),
    column("Revision", "Its place among the states.", numberOf("revision")),
    ageColumn,
  ),
  Job: printer(
    nameColumn,
    column("Status", "How far the job is.", jobStatus),
    column("Completions", "Pods that succeeded, of those that must.", jobCompletions),
    column("Duration", "How long the job took, or has been running.", jobDuration),
    ageColumn,
    ...template,
    selectorColumn("spec.selector"),
  ),
  CronJob: printer(
    nameColumn,
    column("Schedule", "When jobs are made.", (it) => textAt(it, "spec.schedule")),
    column("Timezone", "The time zone of the schedule.", (it) => orNone(textAt(it, "spec.timeZone"))),
    { ...column("Suspend", "No further jobs are made.", suspended), type: "boolean" },
    integerColumn("Active", "Jobs that are running.", (it) => listAt(it, "status.active").length),
    column("Last Schedule", "When a job was last made.", (it, now) => {
      const last = at(it, "status.lastScheduleTime");
      return last === undefined ? none : since(last, now);
    }),
    ageColumn,
    ...templateColumns("spec.jobTemplate.spec.template.spec"),
    selectorColumn("spec.jobTemplate.spec.selector"),
  ),
  HorizontalPodAutoscaler: printer(
    nameColumn,
    column("Reference", "What is scaled.", (it) => {
      const target = at(it, "spec.scaleTargetRef");
      return `${textAt(target, "kind")}/${textAt(target, "name")}`;
    }),
    column("Targets", "Measured and wanted use.", autoscalerTargets),
    column("MinPods", "Never fewer than these.", (it) => {
      const least = at(it, "spec.minReplicas");
      return least === undefined ? unset : String(least as number);
    }),
    column("MaxPods", "Never more than these.", numberOf("spec.maxReplicas")),
    column("Replicas", "Pods that there are.", numberOf("status.currentReplicas")),
    ageColumn,
  ),
  PodTemplate: printer(
    nameColumn,
    ...templateColumns("template.spec").map((one): FilledColumn => ({ ...one, priority: 0 })),
    column("Pod Labels", "Labels of the pods made of it.", (it) =>
      orNone(selectorText(mapAt(it, "template.metadata.labels"))),
    ),
  ),
};

function nodeSelector(object: JsonObject): string {
  return orNone(selectorText(mapAt(object, "spec.template.spec.nodeSelector")));
}

function suspended(cronJob: JsonObject): string {
  return at(cronJob, "spec.suspend") === true ? "True" : "False";
}

function controllerOf(object: JsonObject): string {
  const owner = metadataOf(object).ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return none;
  const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0] as string}` : "";
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}

/** The first that holds names the status. */
const jobStates: readonly (readonly [status: string, condition: string])[] = [
  ["Complete", "Complete"],
  ["Failed", "Failed"],
  ["Terminating", ""], // by its deletion, not by a condition
  ["Suspended", "Suspended"],
  ["FailureTarget", "FailureTarget"],
  ["SuccessCriteriaMet", "SuccessCriteriaMet"],
];

function jobStatus(job: JsonObject): string {
  const isDeleted = metadataOf(job).deletionTimestamp !== undefined;
  const state = jobStates.find(([, condition]) =>
    condition === "" ? isDeleted : conditionStatus(job, condition) === "True",
  );
  return state?.[0] ?? "Running";
}

function jobCompletions(job: JsonObject): string {
  const succeeded = numberAt(job, "status.succeeded");
  const wanted = at(job, "spec.completions");
  if (wanted !== undefined) return `${succeeded}/${String(wanted as number)}`;
  const parallelism = numberAt(job, "spec.parallelism");
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: JsonObject, nowSeconds: number): string {
  const start = textAt(job, "status.startTime");
  if (start === "") return "";
  const end = textAt(job, "status.completionTime");
  return humanDuration((end === "" ? nowSeconds : unixSeconds(end)) - unixSeconds(start));
}

/** Version 1 knows of processors alone. */
function autoscalerTargets(autoscaler: JsonObject): string {
  const target = at(autoscaler, "spec.targetCPUUtilizationPercentage");
  if (target === undefined) return none;
  const current = at(autoscaler, "status.currentCPUUtilizationPercentage");
  return `cpu: ${current === undefined ? "<unknown>" : `${String(current as number)}%`}/${String(target as number)}%`;
}

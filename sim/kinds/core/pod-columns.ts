/**
 * Pods in tables. The status column sums up phase, reasons and container states in one word, as people know it.
 * Source: recorded tables; the published printing rules.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { unixSeconds } from "../../contract/times.ts";
import {
  ageColumn,
  ageOf,
  at,
  column,
  conditionStatus,
  listAt,
  nameColumn,
  nameOf,
  none,
  numberAt,
  orNone,
  type Printer,
  printer,
  type Row,
  since,
  textAt,
  wide,
} from "../shared/printer.ts";

const unfilled = (): string => "";

export const podPrinter: Printer = {
  columns: printer(
    nameColumn,
    column("Ready", "Containers that are ready, of all that are meant to run.", unfilled),
    column("Status", "The phase, or what keeps the pod from it.", unfilled),
    column("Restarts", "How often containers were started again, and when last.", unfilled),
    ageColumn,
    wide(column("IP", "The pod's address.", unfilled)),
    wide(column("Node", "Where the pod runs.", unfilled)),
    wide(column("Nominated Node", "Where room is being made for the pod.", unfilled)),
    wide(column("Readiness Gates", "Conditions that are true, of those the pod's readiness waits for.", unfilled)),
  ).columns,
  row: podRow,
};

/** What the containers of a pod say together. */
interface Summary {
  reason: string;
  readyCount: number;
  restartCount: number;
  /** Seconds since 1970; 0 when nothing was restarted. */
  lastRestart: number;
}

function podRow(pod: JsonObject, nowSeconds: number): Row {
  const summary = summarize(pod);
  const isSidecar = sidecars(pod);
  const total = listAt(pod, "spec.containers").length + isSidecar.size;
  const { restartCount, lastRestart } = summary;
  const ago = restartCount !== 0 && lastRestart !== 0 ? ` (${since(isoOf(pod, lastRestart), nowSeconds)} ago)` : "";
  const conditions = completed[textAt(pod, "status.phase")];
  return {
    cells: [
      nameOf(pod),
      `${summary.readyCount}/${total}`,
      summary.reason,
      `${restartCount}${ago}`,
      ageOf(pod, nowSeconds),
      orNone(textAt(listAt(pod, "status.podIPs")[0], "ip")),
      orNone(textAt(pod, "spec.nodeName")),
      orNone(textAt(pod, "status.nominatedNodeName")),
      readinessGates(pod),
    ],
    ...(conditions === undefined ? {} : { conditions }),
  };
}

/** The time of the last restart as it was written. */
function isoOf(pod: JsonObject, seconds: number): string {
  const statuses = [...listAt(pod, "status.initContainerStatuses"), ...listAt(pod, "status.containerStatuses")];
  const found = statuses.map((status) => textAt(status, "lastState.terminated.finishedAt"));
  return found.find((time) => time !== "" && unixSeconds(time) === seconds) ?? "";
}

const completed: Readonly<Record<string, readonly JsonObject[]>> = {
  Succeeded: [
    { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
  ],
  Failed: [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }],
};

function summarize(pod: JsonObject): Summary {
  const phase = textAt(pod, "status.phase");
  const summary: Summary = { reason: phase, readyCount: 0, restartCount: 0, lastRestart: 0 };
  const reason = textAt(pod, "status.reason");
  if (reason !== "") summary.reason = reason;
  for (const condition of listAt(pod, "status.conditions")) {
    if (condition["type"] === "PodScheduled" && condition["reason"] === "SchedulingGated") {
      summary.reason = "SchedulingGated";
    }
  }
  const sidecarRestarts = { restartCount: 0, lastRestart: 0 };
  const initializing = addInitContainers(pod, summary, sidecarRestarts);
  if (!initializing || conditionStatus(pod, "Initialized") === "True") {
    Object.assign(summary, sidecarRestarts);
    addContainers(pod, summary);
  }
  if (metadataOf(pod).deletionTimestamp !== undefined) {
    if (reason === "NodeLost") summary.reason = "Unknown";
    else if (phase !== "Succeeded" && phase !== "Failed") summary.reason = "Terminating";
  }
  return summary;
}

type Restarts = Pick<Summary, "restartCount" | "lastRestart">;

function addRestarts(to: Restarts, status: JsonObject): void {
  to.restartCount += numberAt(status, "restartCount");
  const finished = textAt(status, "lastState.terminated.finishedAt");
  if (finished !== "") to.lastRestart = Math.max(to.lastRestart, unixSeconds(finished));
}

/** Init containers that go on running beside the others. */
function sidecars(pod: JsonObject): ReadonlySet<string> {
  const running = listAt(pod, "spec.initContainers").filter(({ restartPolicy }) => restartPolicy === "Always");
  return new Set(running.map((container) => textAt(container, "name")));
}

/** True while an init container holds the pod up: it gives the reason then. */
function addInitContainers(pod: JsonObject, summary: Summary, sidecarRestarts: Restarts): boolean {
  const isSidecar = sidecars(pod);
  for (const [index, status] of listAt(pod, "status.initContainerStatuses").entries()) {
    const sidecar = isSidecar.has(textAt(status, "name"));
    addRestarts(summary, status);
    if (sidecar) addRestarts(sidecarRestarts, status);
    const terminated = at(status, "state.terminated");
    if (terminated !== undefined && numberAt(terminated, "exitCode") === 0) continue;
    if (sidecar && status["started"] === true) {
      if (status["ready"] === true) summary.readyCount++;
      continue;
    }
    const waiting = textAt(status, "state.waiting.reason");
    if (terminated !== undefined) summary.reason = `Init:${endOf(status)}`;
    else if (waiting !== "" && waiting !== "PodInitializing") summary.reason = `Init:${waiting}`;
    else summary.reason = `Init:${index}/${listAt(pod, "spec.initContainers").length}`;
    return true;
  }
  return false;
}

/** How a container ended: its reason, else its signal, else its exit code. */
function endOf(status: JsonObject): string {
  const terminated = at(status, "state.terminated");
  const reason = textAt(terminated, "reason");
  if (reason !== "") return reason;
  const signal = numberAt(terminated, "signal");
  return signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode")}` : `Signal:${signal}`;
}

function addContainers(pod: JsonObject, summary: Summary): void {
  let running = false;
  for (const status of listAt(pod, "status.containerStatuses").toReversed()) {
    addRestarts(summary, status);
    const waiting = textAt(status, "state.waiting.reason");
    if (waiting !== "") summary.reason = waiting;
    else if (at(status, "state.terminated") !== undefined) summary.reason = endOf(status);
    else if (status["ready"] === true && at(status, "state.running") !== undefined) {
      running = true;
      summary.readyCount++;
    }
  }
  if (summary.reason === "Completed" && running) {
    summary.reason = conditionStatus(pod, "Ready") === "True" ? "Running" : "NotReady";
  }
}

function readinessGates(pod: JsonObject): string {
  const gates = listAt(pod, "spec.readinessGates");
  if (gates.length === 0) return none;
  const open = gates.filter((gate) => conditionStatus(pod, textAt(gate, "conditionType")) === "True");
  return `${open.length}/${gates.length}`;
}

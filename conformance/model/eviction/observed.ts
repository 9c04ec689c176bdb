/** What objects of the API, and an agent's own documents, say about eviction: read into the shapes that the laws judge. */
import type { Dialect } from "../../../wire/dialect.ts";
import type { EvictionSettings, EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import type { SignalReading, UsageReading } from "../../../wire/node-host.ts";
import { parseQuantity, quantityAt } from "../../../wire/quantity.ts";
import { type ApiObject, isJsonObject, type Json, type JsonObject, objectsIn } from "../../client/types.ts";
import { pressureConditions } from "./conditions.ts";
import type { EvictionShown, NodeSighting, PodLife, PodStatus } from "./history.ts";
import { isLowMessage } from "./messages.ts";

/** Condition → the last segment of the key of its taint. */
const taintNames = {
  MemoryPressure: "memory-pressure",
  DiskPressure: "disk-pressure",
  PIDPressure: "pid-pressure",
} as const;

export function sightingOf(node: ApiObject, atMillis: number, dialect: Dialect): NodeSighting {
  const conditions = objectsIn(node["status"], "conditions");
  const taints = objectsIn(node["spec"], "taints").filter(({ effect }) => effect === "NoSchedule");
  const statusOf = (type: string) => textOf(conditions.find((condition) => condition["type"] === type)?.["status"]);
  return {
    atMillis,
    conditions: Object.fromEntries(
      pressureConditions.flatMap((type) => (statusOf(type) === "" ? [] : [[type, statusOf(type)]])),
    ),
    taints: new Set(
      pressureConditions.filter((type) =>
        taints.some(({ key }) => key === `node.${dialect.labelSuffix}/${taintNames[type]}`),
      ),
    ),
  };
}

/** What stays the same of a pod. */
export function traitsOf(
  pod: ApiObject,
  dialect: Dialect,
): Pick<PodLife, "name" | "priority" | "static" | "requests" | "graceSeconds"> {
  const spec = isJsonObject(pod["spec"]) ? pod["spec"] : {};
  const annotations = pod.metadata.annotations ?? {};
  const source = annotations[`${dialect.labelSuffix}/config.source`];
  return {
    name: `${pod.metadata.namespace}/${pod.metadata.name}`,
    priority: numberOf(spec["priority"]) ?? 0,
    static:
      annotations[`${dialect.labelSuffix}/config.mirror`] !== undefined || (source !== undefined && source !== "api"),
    requests: { memoryBytes: requested(spec, "memory"), diskBytes: requested(spec, "ephemeral-storage") },
    graceSeconds: numberOf(spec["terminationGracePeriodSeconds"]) ?? 30,
  };
}

export function statusOf(pod: ApiObject): PodStatus {
  const status = isJsonObject(pod["status"]) ? pod["status"] : {};
  return { phase: textOf(status["phase"]), reason: textOf(status["reason"]) };
}

/** Undefined: nothing says that it was evicted for what the node lacks. Own limits and rejections are other matters. */
export function evictionOf(pod: ApiObject, seenMillis: number): EvictionShown | undefined {
  const status = isJsonObject(pod["status"]) ? pod["status"] : {};
  const message = textOf(status["message"]);
  const conditions = objectsIn(status, "conditions");
  const disrupted = conditions.find(({ type }) => type === "DisruptionTarget");
  const target = disrupted && { status: textOf(disrupted["status"]), reason: textOf(disrupted["reason"]) };
  const byAgent = target?.reason === "TerminationByKubelet" && textOf(status["reason"]) === "Evicted";
  if (!isLowMessage(message) && !byAgent) return undefined;
  const containersRun = objectsIn(status, "containerStatuses").some((container) =>
    isJsonObject(partOf(container, "state")["running"]),
  );
  const shown = { ...statusOf(pod), seenMillis, message, disruptionTarget: target };
  return containersRun ? { ...shown, containersRun } : shown;
}

/** The configuration in an agent's configz, which holds it under one name. Undefined: it is no such document. */
export function settingsOf(configz: Json | undefined): EvictionSettings | undefined {
  const [config] = isJsonObject(configz) ? Object.values(configz).filter(isJsonObject) : [];
  if (config === undefined) return undefined;
  const map = (field: string) => (isJsonObject(config[field]) ? (config[field] as Record<string, string>) : undefined);
  const period = config["evictionPressureTransitionPeriod"];
  return {
    evictionHard: map("evictionHard"),
    evictionSoft: map("evictionSoft"),
    evictionSoftGracePeriod: map("evictionSoftGracePeriod"),
    evictionMinimumReclaim: map("evictionMinimumReclaim"),
    evictionPressureTransitionPeriod: typeof period === "string" ? period : undefined,
    evictionMaxPodGracePeriod: numberOf(config["evictionMaxPodGracePeriod"]),
  };
}

/** An agent's summary of usage, as one look at its node; what the summary lacks is not observed. */
export function readingOf(summary: Json | undefined, atMillis: number): UsageReading {
  const node = partOf(summary, "node");
  const [memory, nodefs, limits] = [partOf(node, "memory"), partOf(node, "fs"), partOf(node, "rlimit")];
  const imagefs = partOf(partOf(node, "runtime"), "imageFs");
  const memoryLeft = numberOf(memory["availableBytes"]);
  const pairs: [EvictionSignal, available: number | undefined, capacity: number | undefined][] = [
    ["memory.available", memoryLeft, sum(memoryLeft, numberOf(memory["workingSetBytes"]))],
    ["nodefs.available", numberOf(nodefs["availableBytes"]), numberOf(nodefs["capacityBytes"])],
    ["nodefs.inodesFree", numberOf(nodefs["inodesFree"]), numberOf(nodefs["inodes"])],
    ["imagefs.available", numberOf(imagefs["availableBytes"]), numberOf(imagefs["capacityBytes"])],
    ["imagefs.inodesFree", numberOf(imagefs["inodesFree"]), numberOf(imagefs["inodes"])],
    [
      "pid.available",
      sum(numberOf(limits["maxpid"]), negative(numberOf(limits["curproc"]))),
      numberOf(limits["maxpid"]),
    ],
  ];
  const signals: Partial<Record<EvictionSignal, SignalReading>> = {};
  for (const [signal, available, capacity] of pairs) {
    if (available !== undefined && capacity !== undefined) signals[signal] = { available, capacity };
  }
  return { atMillis, takenMillis: atMillis, signals, pods: {} };
}

function requested(spec: JsonObject, resource: string): number {
  return objectsIn(spec, "containers").reduce((total, container) => {
    const amount = partOf(partOf(container, "resources"), "requests")[resource];
    const quantity = parseQuantity(typeof amount === "number" ? String(amount) : textOf(amount) || "0");
    return total + ("error" in quantity ? 0 : Number(quantityAt(quantity, 0)));
  }, 0);
}

function partOf(document: Json | undefined, field: string): JsonObject {
  const part = isJsonObject(document) ? document[field] : undefined;
  return isJsonObject(part) ? part : {};
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const numberOf = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined);
const negative = (value: number | undefined) => (value === undefined ? undefined : -value);
const sum = (left: number | undefined, right: number | undefined) =>
  left === undefined || right === undefined ? undefined : left + right;

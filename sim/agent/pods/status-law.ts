/**
 * What is told of a pod, as functions of what is known: each decides for itself, so that a wrong one can be put in its place
 * (`sim/agent/planted/`). Source: the facts, Phase and conditions; a write is a read and a patch, as the published agent does it.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { ownConditions } from "./conditions.ts";
import { type Condition, isTerminalPhase, type PodStatus } from "./pod-types.ts";

export interface StatusLaw {
  /** Whether what the server has under the name is the pod that was meant. */
  readonly isMeant: (meant: JsonObject, found: JsonObject) => boolean;
  readonly mergedStatus: (before: PodStatus, after: PodStatus, mayRun: boolean) => PodStatus;
  /** The uid makes it the status of this pod and of no other. */
  readonly patchOf: (meant: JsonObject, before: PodStatus, after: PodStatus) => JsonObject;
}

export const statusLaw: StatusLaw = {
  isMeant: (meant, found) => metadataOf(found).uid === metadataOf(meant).uid,
  mergedStatus,
  patchOf: (meant, before, after) => ({
    metadata: { uid: metadataOf(meant).uid ?? "" },
    status: statusPatch(before, after),
  }),
};

/** What the server gets to see: others' conditions stay, and an end waits until nothing can be running. */
function mergedStatus(before: PodStatus, after: PodStatus, mayRun: boolean): PodStatus {
  const isEnding = !isTerminalPhase(before.phase) && isTerminalPhase(after.phase);
  const isHeldBack = isEnding && mayRun;
  const old = before.conditions ?? [];
  const conditions: Condition[] = old.filter(({ type }) => !ownConditions.includes(type));
  for (const condition of after.conditions ?? []) {
    if (ownConditions.includes(condition.type)) conditions.push(condition);
    else if (condition.type === "DisruptionTarget" && isEnding && !mayRun) {
      const at = conditions.findIndex(({ type }) => type === condition.type);
      if (at < 0) conditions.push(condition);
      else conditions[at] = condition;
    }
  }
  const { phase: _phase, reason: _reason, message: _message, ...kept } = before;
  const { phase, reason, message, ...told } = after;
  const shown = isHeldBack ? before : { phase, reason, message };
  const ended = isTerminalPhase(shown.phase);
  return {
    ...kept,
    ...told,
    conditions: ended ? conditions.map((condition) => unready(condition, shown.phase === "Failed")) : conditions,
    ...(shown.phase === undefined ? {} : { phase: shown.phase }),
    ...(shown.reason === undefined ? {} : { reason: shown.reason }),
    ...(shown.message === undefined ? {} : { message: shown.message }),
  };
}

/** What has ended is not ready, whatever was said before. */
function unready(condition: Condition, hasFailed: boolean): Condition {
  if ((condition.type !== "Ready" && condition.type !== "ContainersReady") || condition.status === "False")
    return condition;
  return { ...condition, status: "False", reason: hasFailed ? "PodFailed" : "PodCompleted" };
}

/** Lists that a patch would merge item by item. */
const mergedLists = new Set(["podIPs", "hostIPs"]);

/** A strategic merge patch: fields that differ, conditions by their type, and null for what has gone. */
function statusPatch(before: PodStatus, after: PodStatus): JsonObject {
  const patch: Record<string, Json> = {};
  const old = before as unknown as Record<string, Json>;
  const now = after as unknown as Record<string, Json>;
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [from, to] = [old[key], now[key]];
    if (jsonEqual(from ?? null, to ?? null)) continue;
    if (key === "conditions") continue;
    const isReplaced = mergedLists.has(key) && from !== undefined && Array.isArray(to);
    patch[key] = isReplaced ? [{ $patch: "replace" }, ...(to as Json[])] : (to ?? null);
  }
  const conditions = after.conditions ?? [];
  const changed = conditions.flatMap((condition) => {
    const from = before.conditions?.find(({ type }) => type === condition.type);
    if (from !== undefined && jsonEqual(from as unknown as Json, condition as unknown as Json)) return [];
    // The items are merged field by field: what is said no more has to be taken back.
    const taken = Object.keys(from ?? {}).filter((key) => !(key in condition));
    return [{ ...condition, ...Object.fromEntries(taken.map((key) => [key, null])) }];
  });
  const gone = (before.conditions ?? [])
    .filter(({ type }) => !conditions.some((each) => each.type === type))
    .map(({ type }) => ({ type, $patch: "delete" }));
  const order = conditions.map(({ type }) => ({ type }));
  if (changed.length + gone.length > 0) {
    patch["$setElementOrder/conditions"] = order;
    patch["conditions"] = [...changed, ...gone] as unknown as Json;
  }
  return patch;
}

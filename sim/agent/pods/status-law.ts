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
  for (const key of Object.keys(old)) tellField(patch, key, old[key], now[key]);
  for (const key of Object.keys(now)) if (!Object.hasOwn(old, key)) tellField(patch, key, undefined, now[key]);
  const conditions = after.conditions ?? [];
  const told = toldConditions(before.conditions ?? [], conditions);
  if (told.length > 0) {
    patch["$setElementOrder/conditions"] = conditions.map(({ type }) => ({ type }));
    patch["conditions"] = told;
  }
  return patch;
}

function tellField(patch: Record<string, Json>, key: string, from: Json | undefined, to: Json | undefined): void {
  if (key === "conditions" || jsonEqual(from ?? null, to ?? null)) return;
  const isReplaced = mergedLists.has(key) && from !== undefined && Array.isArray(to);
  patch[key] = isReplaced ? [{ $patch: "replace" }, ...(to as Json[])] : (to ?? null);
}

function toldConditions(before: readonly Condition[], after: readonly Condition[]): readonly JsonObject[] {
  const told: JsonObject[] = [];
  const [old, now] = [byType(before), byType(after)];
  for (const condition of after) {
    const from = old(condition.type);
    if (from === undefined) told.push({ ...condition });
    else if (!jsonEqual(from as unknown as Json, condition as unknown as Json)) told.push(takingBack(from, condition));
  }
  for (const { type } of before) {
    if (now(type) === undefined) told.push({ type, $patch: "delete" });
  }
  return told;
}

/** Shorter lists are searched from their beginning. */
const manyMin = 16;

/** The first condition of a type. Others than the agent write conditions too, as many as they like. */
function byType(conditions: readonly Condition[]): (type: string) => Condition | undefined {
  if (conditions.length < manyMin) return (type) => conditions.find((each) => each.type === type);
  const first = new Map<string, Condition>();
  for (const condition of conditions) if (!first.has(condition.type)) first.set(condition.type, condition);
  return (type) => first.get(type);
}

/** The items are merged field by field: what is said no more has to be taken back. */
function takingBack(from: Condition, condition: Condition): JsonObject {
  const told: Record<string, Json> = { ...condition };
  for (const key of Object.keys(from)) if (!(key in condition)) told[key] = null;
  return told;
}

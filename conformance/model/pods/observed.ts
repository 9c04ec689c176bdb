/** What objects of the API say of pods: read into the shapes that the laws judge. */
import { parseTime } from "../../../wire/time.ts";
import { type ApiObject, isJsonObject, type Json, type JsonObject, objectsIn } from "../../client/types.ts";
import type { ContainerSighting, EndSighting, PodSighting, StateSighting } from "./history.ts";

export function podSightingOf(pod: ApiObject, fromMillis: number, atMillis: number): PodSighting {
  const status = objectAt(pod, "status");
  const lists = [...objectsIn(status, "initContainerStatuses"), ...objectsIn(status, "containerStatuses")];
  return {
    fromMillis,
    atMillis,
    phase: textAt(status, "phase"),
    reason: textAt(status, "reason"),
    startMillis: millisAt(status, "startTime"),
    conditions: objectsIn(status, "conditions").map((condition) => ({
      type: textAt(condition, "type"),
      status: textAt(condition, "status"),
      sinceMillis: millisAt(condition, "lastTransitionTime"),
    })),
    containers: Object.fromEntries(lists.map((each) => [textAt(each, "name"), containerOf(each)])),
  };
}

function containerOf(status: JsonObject): ContainerSighting {
  const last = objectAt(status, "lastState")["terminated"];
  return {
    id: textAt(status, "containerID"),
    ready: status["ready"] === true,
    started: status["started"] === true,
    restartCount: Number(status["restartCount"] ?? 0),
    state: stateOf(objectAt(status, "state"), textAt(status, "containerID")),
    lastEnd: isJsonObject(last) ? endOf(last, "") : undefined,
  };
}

function stateOf(state: JsonObject, id: string): StateSighting {
  const { running, terminated } = state;
  if (isJsonObject(running)) return { is: "running", startedMillis: millisAt(running, "startedAt") ?? 0 };
  if (isJsonObject(terminated)) return { is: "ended", ...endOf(terminated, id) };
  return { is: "waiting", reason: textAt(objectAt(state, "waiting"), "reason") };
}

function endOf(end: JsonObject, id: string): EndSighting {
  return {
    id: textAt(end, "containerID") || id,
    startedMillis: millisAt(end, "startedAt") ?? 0,
    finishedMillis: millisAt(end, "finishedAt") ?? 0,
    exitCode: Number(end["exitCode"] ?? 0),
    reason: textAt(end, "reason"),
    message: textAt(end, "message"),
  };
}

function objectAt(object: JsonObject | ApiObject, field: string): JsonObject {
  const value = (object as JsonObject)[field];
  return isJsonObject(value) ? value : {};
}

function textAt(object: JsonObject, field: string): string {
  const value: Json | undefined = object[field];
  return typeof value === "string" ? value : "";
}

function millisAt(object: JsonObject, field: string): number | undefined {
  const read = parseTime(textAt(object, field));
  return "error" in read ? undefined : read.seconds * 1000;
}

/** What controllers ask of pods. Source: the published helpers of pods and of controllers. */
import { parseTime } from "../../../wire/time.ts";
import type { Condition, Container, Pod } from "./stored.ts";

export function conditionOf({ status }: Pod, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export const isReady = (pod: Pod): boolean => conditionOf(pod, "Ready")?.status === "True";

/** It runs or may yet run. */
export function isActive({ status, metadata }: Pod): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed" && metadata.deletionTimestamp === undefined;
}

export const isTerminated = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

/** Ready for at least so long. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowSeconds: number): boolean {
  if (!isReady(pod)) return false;
  return (
    minReadySeconds === 0 || secondsOf(conditionOf(pod, "Ready")?.lastTransitionTime) + minReadySeconds <= nowSeconds
  );
}

/** Seconds since 1970 of an RFC 3339 time; 0 of none. */
export function secondsOf(time: string | null | undefined): number {
  if (time === undefined || time === null) return 0;
  const instant = parseTime(time);
  return "seconds" in instant ? instant.seconds : 0;
}

/** An init container that goes on running beside the others. */
export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === "Always";

/** The most restarts of one of its containers. */
export function restartsMax({ status }: Pod): number {
  let most = 0;
  for (const { restartCount = 0 } of status?.containerStatuses ?? []) most = Math.max(most, restartCount);
  for (const { restartCount = 0 } of status?.initContainerStatuses ?? []) most = Math.max(most, restartCount);
  return most;
}

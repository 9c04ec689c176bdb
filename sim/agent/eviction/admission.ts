/**
 * Which pods a node under pressure takes. Source: the fact sheet of the 1.33 agent, admission and taints.
 */
import type { PressureCondition } from "../../../wire/eviction-thresholds.ts";
import type { ActivePod, Rejection } from "../ports.ts";
import { toleratesNoSchedule } from "./pod-traits.ts";

/** Critical pods always; short of memory alone, all but those that ask for nothing and do not tolerate it. */
export function rejectionUnder(
  conditions: readonly PressureCondition[],
  pod: ActivePod,
  memoryTaintKey: string,
): Rejection | undefined {
  if (conditions.length === 0 || pod.isCritical) return undefined;
  const onlyMemory = conditions.length === 1 && conditions[0] === "MemoryPressure";
  if (onlyMemory && (pod.qos !== "BestEffort" || toleratesNoSchedule(pod.object, memoryTaintKey))) return undefined;
  return { reason: "Evicted", message: `The node had condition: [${conditions.join(" ")}]. ` };
}

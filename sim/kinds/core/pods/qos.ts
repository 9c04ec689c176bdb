/** How a pod is treated when its node runs short. Source: the published classes of service. */
import type { JsonObject } from "../../../contract/http-message.ts";

/** Guaranteed: every container limits cpu and memory and requests just that. BestEffort: none says anything. */
export function qosClass(spec: JsonObject): "BestEffort" | "Burstable" | "Guaranteed" {
  const containers = [
    ...((spec["containers"] ?? []) as readonly JsonObject[]),
    ...((spec["initContainers"] ?? []) as readonly JsonObject[]),
  ];
  let mentioned = false;
  let guaranteed = true;
  for (const container of containers) {
    const resources = (container["resources"] ?? {}) as JsonObject;
    const limits = (resources["limits"] ?? {}) as JsonObject;
    const requests = (resources["requests"] ?? {}) as JsonObject;
    for (const name of ["cpu", "memory"]) {
      if (limits[name] !== undefined || requests[name] !== undefined) mentioned = true;
      if (limits[name] === undefined || (requests[name] ?? limits[name]) !== limits[name]) guaranteed = false;
    }
  }
  if (!mentioned) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

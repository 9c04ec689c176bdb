/** What controllers report of their pods. Source: the published validation of their statuses. */
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidValue } from "../../objects/causes.ts";
import { nonNegativeCauses } from "../shared/fields.ts";

const replicas = "cannot be greater than status.replicas";

/** Counts that are not negative; those among them that are parts of all replicas; how a refusal calls what is ready. */
export function statusRules(counts: readonly string[], parts: readonly string[], ready = "readyReplicas") {
  return (object: JsonObject, live: JsonObject, causes: Cause[]): void => {
    const status = (object["status"] ?? {}) as JsonObject;
    const count = (of: JsonObject, field: string): number => (of[field] ?? 0) as number;
    nonNegativeCauses(status, [...counts, "observedGeneration", "collisionCount"], "status", causes);
    for (const field of parts) {
      if (count(status, field) <= count(status, "replicas")) continue;
      causes.push(invalidValue(`status.${field}`, count(status, field), replicas));
    }
    if (parts.includes("availableReplicas") && count(status, "availableReplicas") > count(status, "readyReplicas")) {
      const available = count(status, "availableReplicas");
      causes.push(invalidValue("status.availableReplicas", available, `cannot be greater than ${ready}`));
    }
    const before = (live["status"] ?? {}) as JsonObject;
    if (count(status, "collisionCount") >= count(before, "collisionCount")) return;
    causes.push(invalidValue("status.collisionCount", count(status, "collisionCount"), "cannot be decremented"));
  };
}

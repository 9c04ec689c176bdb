/** What controllers report of their pods. Source: the published validation of their statuses. */
import type { JsonObject } from "../../contract/http-message.ts";
import type { Place } from "../../objects/place.ts";
import { statusFieldRules, always, struct, fields, nonNegative } from "../../objects/rules.ts";

const replicas = "cannot be greater than status.replicas";

/** Counts that are not negative; those among them that are parts of all replicas; how a refusal calls what is ready. */
export function statusRules(counts: readonly string[], parts: readonly string[], ready = "readyReplicas") {
  const judgeParts = (status: JsonObject, at: Place): void => {
    const count = (field: string, of = status): number => (of[field] ?? 0) as number;
    for (const field of parts) {
      if (count(field) > count("replicas")) at.of(field).invalid(count(field), replicas);
    }
    if (parts.includes("availableReplicas") && count("availableReplicas") > count("readyReplicas")) {
      at.of("availableReplicas").invalid(count("availableReplicas"), `cannot be greater than ${ready}`);
    }
    const before = (at.live?.["status"] ?? {}) as JsonObject;
    if (count("collisionCount") >= count("collisionCount", before)) return;
    at.of("collisionCount").invalid(count("collisionCount"), "cannot be decremented");
  };
  return statusFieldRules({
    status: always(struct(fields([...counts, "observedGeneration", "collisionCount"], nonNegative), judgeParts)),
  });
}

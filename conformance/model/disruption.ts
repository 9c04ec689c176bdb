/**
 * What a disruption budget lets an eviction do: the pods that it covers, one budget, evictions one after another. A
 * budget of `minAvailable` pods is spent by evictions of pods that serve; others disturb nobody, or only by its policy.
 * Source: the facts of evictions; the published API of policy/v1.
 */
import type { Violation } from "../client/findings.ts";

/** `ready`: it runs and serves. `unready`: it runs and does not serve. `pending`: it has not begun. */
export type PodHealth = "ready" | "unready" | "pending";

export interface Budget {
  readonly minAvailable: number;
  readonly policy: "IfHealthyBudget" | "AlwaysAllow";
}

export interface Eviction {
  readonly health: PodHealth;
  readonly dryRun: boolean;
  /** HTTP status. */
  readonly status: number;
  /** Reasons of the causes of a refusal. */
  readonly causes: readonly string[];
}

/** Evictions of different pods, each answered before the next was sent. */
export function judgeEvictions(
  budget: Budget,
  pods: readonly PodHealth[],
  evictions: readonly Eviction[],
): Violation | undefined {
  const healthyFirst = pods.filter((health) => health === "ready").length;
  let healthy = healthyFirst;
  let spent = 0;
  for (const [index, eviction] of evictions.entries()) {
    const allowed = isAllowed(budget, healthy, eviction.health);
    const refused = eviction.status === 429 && eviction.causes.includes("DisruptionBudget");
    const mayBeLate = allowed && spent > 0 && eviction.health !== "pending" && healthy - spent <= budget.minAvailable;
    const kept = allowed ? eviction.status === 201 || (mayBeLate && refused) : refused;
    if (!kept) {
      return {
        expected: `eviction ${index + 1}, of a pod that is ${eviction.health}, ${healthy} healthy of which ${budget.minAvailable} must stay: ${allowed ? "201" : "429 with the cause DisruptionBudget"}`,
        actual: [eviction.status, ...eviction.causes].join(" "),
      };
    }
    if (eviction.status !== 201 || eviction.dryRun) continue;
    if (eviction.health === "ready") healthy -= 1;
    else if (spendsAll(budget, eviction.health)) spent += 1;
  }
  return undefined;
}

/** A budget that keeps none is spent even by pods that do not serve, until somebody has counted the pods again. */
function spendsAll({ minAvailable, policy }: Budget, health: PodHealth): boolean {
  return health === "unready" && minAvailable === 0 && policy === "IfHealthyBudget";
}

function isAllowed({ minAvailable, policy }: Budget, healthy: number, health: PodHealth): boolean {
  if (health === "pending") return true;
  if (health === "ready") return healthy > minAvailable;
  return policy === "AlwaysAllow" || healthy > minAvailable || (minAvailable > 0 && healthy >= minAvailable);
}

/** Evictions of pods that serve, all at once: no more than the budget has succeed, and the others say why not. */
export function judgeAtOnce(budget: Budget, healthy: number, evictions: readonly Eviction[]): Violation | undefined {
  const spareCount = Math.max(0, healthy - budget.minAvailable);
  const allowedCount = evictions.filter(({ status }) => status < 300).length;
  if (allowedCount > spareCount) {
    return { expected: `at most ${spareCount} of ${evictions.length} evictions at once`, actual: `${allowedCount}` };
  }
  const odd = evictions.find(({ status }) => status >= 300 && status !== 429);
  return odd === undefined ? undefined : { expected: "201 or 429", actual: String(odd.status) };
}

import type { Answer } from "../client/exchange.ts";
import { headerOf } from "../client/client.ts";
import { type Collection, objectOf } from "../client/collection.ts";
import { causesOf } from "../client/status-document.ts";
import { isJsonObject, type JsonObject } from "../client/types.ts";
import { Inconclusive } from "../client/findings.ts";
import type { Budget, PodHealth } from "../model/disruption.ts";
import type { Attempt } from "./attempt.ts";
import { createPlacedPod } from "./pods.ts";
import { pollUntil } from "./poll.ts";

const app = { app: "touchstone" };
const patienceMillis = 30_000;

/** Pods that nobody runs, whose status the suite itself writes, and the budget that covers them. */
export interface CoveredPods {
  readonly pods: Collection;
  /** `pod-0`, `pod-1` … in the order of the healths. */
  readonly names: readonly string[];
  evict(name: string, options?: { readonly dryRun?: boolean; readonly deleteOptions?: JsonObject }): Promise<Answer>;
}

/**
 * Makes them and waits until the budget has counted them; `Inconclusive` where nobody counts within 30 s, for which no
 * time is promised. Without a budget nothing is waited for.
 */
export async function coverPods(
  attempt: Attempt,
  healths: readonly PodHealth[],
  budget?: Budget,
  graceSeconds = 30,
): Promise<CoveredPods> {
  const pods = await attempt.target.collection("pods");
  const names = healths.map((_, index) => `pod-${index}`);
  for (const [index, health] of healths.entries()) {
    const name = names[index] as string;
    await createPlacedPod(attempt, pods, name, graceSeconds, app);
    if (health === "pending") continue;
    const ready = health === "ready" ? "True" : "False";
    const status = { phase: "Running", conditions: [{ type: "Ready", status: ready }] };
    objectOf(await pods.patch(`${name}/status`, "merge", { status }), "eviction.budget");
  }
  if (budget !== undefined) await cover(attempt, budget, healths.filter((health) => health === "ready").length);
  return {
    pods,
    names,
    evict: (name, { dryRun = false, deleteOptions } = {}) =>
      attempt.client.request("POST", pods.pathOf(`${name}/eviction`), {
        query: dryRun ? { dryRun: "All" } : {},
        body: {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name },
          ...(deleteOptions ? { deleteOptions } : {}),
        },
        // A budget's refusal is 429 as well, and names its cause.
        retryTooMany: (answer) =>
          headerOf(answer.headers, "retry-after") !== undefined && causesOf(answer).length === 0,
      }),
  };
}

async function cover(attempt: Attempt, { minAvailable, policy }: Budget, healthy: number): Promise<void> {
  const budgets = await attempt.target.collection("poddisruptionbudgets", "", "/apis/policy/v1");
  const spec = { minAvailable, selector: { matchLabels: app }, unhealthyPodEvictionPolicy: policy };
  const body = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "budget" }, spec };
  objectOf(await budgets.create(body), "eviction.budget");
  const counted = await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, async () => {
    const found = objectOf(await budgets.get("budget"), "eviction.budget");
    const status = found["status"];
    if (!isJsonObject(status) || status["observedGeneration"] !== found.metadata.generation) return undefined;
    return status["currentHealthy"] === healthy && status["desiredHealthy"] === minAvailable ? true : undefined;
  });
  if (counted === undefined) throw new Inconclusive(`the budget has not counted its pods within ${patienceMillis} ms`);
}

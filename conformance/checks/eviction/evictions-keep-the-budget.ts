import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { causesOf } from "../../client/status-document.ts";
import { isApiObject } from "../../client/types.ts";
import { type Budget, type Eviction, judgeAtOnce, judgeEvictions, type PodHealth } from "../../model/disruption.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { coverPods } from "../../runner/disruption-budget.ts";

interface Program {
  readonly pods: readonly PodHealth[];
  readonly minAvailable: number;
  readonly policy: Budget["policy"];
  /** Which evictions, in the order of the pods, are tried dry first. */
  readonly dry: readonly boolean[];
  readonly atOnce: boolean;
}

/**
 * Property: evictions of pods under a disruption budget succeed exactly while the budget lets them; dry ones answer the same
 * and spend nothing; what is refused leaves the pod, and of many at once no more succeed than are spare.
 * Method: pods on a node that does not exist, their readiness written by the suite, one budget over all of them.
 */
export const evictionsKeepTheBudget = defineCheck<Program>({
  id: "evictions-keep-the-budget",
  area: "eviction",
  property: "Evictions take no more pods than their disruption budget spares.",
  requirements: ["eviction.budget", "eviction.budget-allows", "eviction.dry-run", "eviction.unhealthy"],
  features: ["evictions", "pods", "namespaces"],
  cost: "slow",
  input: fc.record({
    pods: fc.array(fc.constantFrom("ready", "ready", "unready", "pending"), { minLength: 1, maxLength: 4 }),
    minAvailable: fc.nat(3),
    policy: fc.constantFrom("IfHealthyBudget", "AlwaysAllow"),
    dry: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    atOnce: fc.boolean(),
  }) as fc.Arbitrary<Program>,
  examples: [
    // By URL few programs are run: the first says something of every requirement.
    {
      pods: ["ready", "ready", "unready"],
      minAvailable: 1,
      policy: "IfHealthyBudget",
      dry: [true, true],
      atOnce: false,
    },
    { pods: ["ready", "ready", "ready"], minAvailable: 1, policy: "IfHealthyBudget", dry: [], atOnce: true },
    { pods: ["unready", "ready"], minAvailable: 2, policy: "IfHealthyBudget", dry: [], atOnce: false },
    { pods: ["unready", "ready"], minAvailable: 2, policy: "AlwaysAllow", dry: [], atOnce: false },
  ],
  async run(attempt, { pods: healths, minAvailable, policy, dry, atOnce }) {
    const budget: Budget = { minAvailable, policy };
    const { pods, names, evict } = await coverPods(attempt, healths, budget);
    if (atOnce) {
      const serving = names.filter((_, index) => healths[index] === "ready");
      const answers = await Promise.all(serving.map((name) => evict(name)));
      const evictions = answers.map((answer) => seen("ready", false, answer));
      attempt.holds("eviction.budget", judgeAtOnce(budget, serving.length, evictions));
      attempt.holds("eviction.budget-allows", undefined);
      return;
    }
    const evictions: Eviction[] = [];
    for (const [index, name] of names.entries()) {
      const health = healths[index] as PodHealth;
      for (const dryRun of dry[index] === true ? [true, false] : [false]) {
        const eviction = seen(health, dryRun, await evict(name, { dryRun }));
        evictions.push(eviction);
        const requirement = requirementOf(eviction);
        attempt.holds(requirement, judgeEvictions(budget, healths, evictions));
        const stays = dryRun || eviction.status >= 300;
        if (stays) await judgeStays(attempt, requirement, await pods.get(name));
      }
    }
  },
});

function seen(health: PodHealth, dryRun: boolean, answer: Answer): Eviction {
  return { health, dryRun, status: answer.status, causes: causesOf(answer).map(({ reason }) => reason) };
}

function requirementOf({ health, dryRun, status }: Eviction): string {
  if (dryRun) return "eviction.dry-run";
  if (health !== "ready") return "eviction.unhealthy";
  return status < 300 ? "eviction.budget-allows" : "eviction.budget";
}

async function judgeStays(attempt: Attempt, requirement: string, { status, json }: Answer): Promise<void> {
  const isWhole = status === 200 && isApiObject(json) && json.metadata.deletionTimestamp == null;
  attempt.expect(
    requirement,
    isWhole,
    "the pod as it was",
    isApiObject(json) ? "a pod that is being deleted" : String(status),
  );
}

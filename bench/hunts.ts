/**
 * What hunts cost, by the processor time of one thread: seeds in a second of each small scenario of `scenarios/explore`, and
 * virtual seconds in one of a swarm of a hundred nodes with a thousand pods, all invariants on. Run alone:
 * `node bench/hunts.ts [SEEDS]`.
 */
import { readFileSync } from "node:fs";
import { parseScenario } from "../scenarios/load.ts";
import type { Scenario } from "../scenarios/schema.ts";
import { noBugs } from "../sim/experiments/bugs.ts";
import { huntSeed } from "../sim/experiments/hunt-seed.ts";
import { playScenario } from "../sim/experiments/play.ts";
import { type Bench, measure } from "./harness.ts";

const explored = ["informers", "controllers", "nodes"] as const;

function explore(name: string): Scenario {
  const file = `${name}.yaml`;
  return parseScenario(readFileSync(new URL(`../scenarios/explore/${file}`, import.meta.url), "utf8"), file);
}

/** An hour of them: the first minutes, in which the pods are made, are no measure of what it costs to watch a cluster. */
export function swarm(nodes: number, pods: number, until = "3600s"): Scenario {
  const rows = Array.from(
    { length: nodes },
    (_, at) => `  - { name: node-${at + 1}, kind: node, server: any, follows: own, timeout: 5m }`,
  );
  const text = `apiVersion: scenarios/v1
name: swarm
until: ${until}
mode: swarm
budget: { atOnce: 3 }
cluster: { controllers: false, apiservers: [{ lag: 0s }, { lag: 300ms }] }
network: { latency: 1ms..20ms, detect: 2s }
clients:
${rows.join("\n")}
  - { name: monitor-1, kind: monitor }
  - { name: binder-1, kind: binder, pods: ${pods}, every: 10s, replace: 5s }
faults:
  - { every: 20s..60s, crash: any, for: 0s..4s }
  - { every: 20s..60s, partition: [any, any], for: 1s..30s }
  - { every: 20s..60s, lag: any, by: 1s..6s, for: 2s..9s }
  - { every: 20s..60s, reorder: [any, any], rate: 1/3, by: 4s, for: 2s..9s }
  - { every: 20s..60s, throttle: any, rate: 1/4, for: 1s..5s }
`;
  return parseScenario(text, "swarm.yaml");
}

function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}

function failedIn(scenario: Scenario, seed: number): void {
  const { failure, broke } = huntSeed(scenario, seed, { mode: scenario.mode, bugs: noBugs });
  if (failure !== undefined || broke !== undefined) throw new Error(`seed ${seed}: ${broke ?? failure?.requirement}`);
}

const seedsPerSecond = (name: string, count: number) => (): number => {
  const scenario = explore(name);
  const seconds = cpuSeconds(() => {
    for (let seed = 1; seed <= count; seed++) failedIn(scenario, seed);
  });
  return count / seconds;
};

function swarmRatio(): number {
  let virtualSeconds = 0;
  const scenario = swarm(100, 1_000);
  const seconds = cpuSeconds(() => {
    const { report } = playScenario(scenario, { seed: 1, trace: { tailMax: 16 } });
    if (report.failure !== undefined) throw new Error(`the swarm broke ${report.failure.requirement}`);
    virtualSeconds = report.virtualMicros / 1_000_000;
  });
  return virtualSeconds / seconds;
}

const seedCount = import.meta.main ? Number(process.argv[2] ?? 50) : 50;

export const benches: readonly Bench[] = [
  ...explored.map((name) => ({
    name: `hunts.${name}`,
    unit: "seeds/s",
    run: seedsPerSecond(name, seedCount),
    target: 50,
  })),
  { name: "hunts.swarm", unit: "virtual seconds/s", run: swarmRatio, target: 1_000 },
];

if (import.meta.main) for (const bench of benches) console.log(JSON.stringify(await measure(bench, 2)));

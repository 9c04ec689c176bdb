/**
 * What the simulated container runtime costs: calls on nodes of thirty idle containers, and the memory of one. Run alone:
 * `node --expose-gc bench/runtime.ts [NODES]`, with 5000 for the largest cluster that one process is to hold.
 */
import type { CriMethod } from "../wire/cri.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { SimulatedRuntime } from "../sim/runtime/runtime.ts";
import { type Bench, measure } from "./harness.ts";

const PODS = 30;
const times = { RunPodSandbox: 0, CreateContainer: 0, StartContainer: 0 };

function idleNodes(count: number): readonly SimulatedRuntime[] {
  const kernel = new Kernel({ seed: "bench" });
  const nodes: SimulatedRuntime[] = [];
  for (let number = 0; number < count; number++) {
    const process = kernel.process(`node-${number}`);
    const runtime = new SimulatedRuntime(process, { images: [{ name: "app", present: true }], times });
    kernel.enter(process, () => {
      for (let pod = 0; pod < PODS; pod++) runPod(runtime, `pod-${pod}`);
    });
    nodes.push(runtime);
  }
  kernel.run(0);
  return nodes;
}

function runPod(runtime: SimulatedRuntime, name: string): void {
  const metadata = { name, namespace: "default", uid: name };
  const config = { metadata: { name: "c" }, image: { image: "app" }, command: ["sleep", "infinity"] };
  let id = "";
  runtime.start({ method: "RunPodSandbox", message: { config: { metadata } } }, (answer) => {
    if (answer.ok && "podSandboxId" in answer.message) id = String(answer.message.podSandboxId);
  });
  let containerId = "";
  runtime.start({ method: "CreateContainer", message: { podSandboxId: id, config } }, (answer) => {
    if (answer.ok && "containerId" in answer.message) containerId = String(answer.message.containerId);
  });
  runtime.start({ method: "StartContainer", message: { containerId } }, (answer) => {
    if (!answer.ok) throw new Error(answer.text);
  });
}

const NODES = 100;
const ROUNDS = 20;

function callsPerSecond(method: CriMethod): () => number {
  let nodes: readonly SimulatedRuntime[] | undefined;
  return () => {
    nodes ??= idleNodes(NODES);
    const began = performance.now();
    for (let round = 0; round < ROUNDS; round++) {
      for (const node of nodes) node.start({ method, message: {} }, () => {});
    }
    return Math.round((NODES * ROUNDS * 1000) / (performance.now() - began));
  };
}

/** Heap of one idle container with its sandbox and their configurations. Needs `--expose-gc` to be steady. */
function bytesPerContainer(nodes = NODES): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const kept = idleNodes(nodes);
  globalThis.gc?.();
  const bytes = process.memoryUsage().heapUsed - before;
  return Math.max(0, Math.round(bytes / (kept.length * PODS)));
}

export const benches: readonly Bench[] = [
  { name: "runtime.list-unchanged", unit: "calls/s", run: callsPerSecond("ListContainers") },
  { name: "runtime.stats", unit: "calls/s", run: callsPerSecond("ListContainerStats") },
  { name: "runtime.machine", unit: "calls/s", run: callsPerSecond("MachineReading") },
  { name: "runtime.container", unit: "bytes/container", run: () => bytesPerContainer() },
];

if (import.meta.main) {
  const nodes = Number(process.argv[2] ?? NODES);
  console.log(
    JSON.stringify({
      name: "runtime.container",
      unit: "bytes/container",
      nodes,
      pods: PODS,
      value: bytesPerContainer(nodes),
    }),
  );
  for (const bench of benches) console.log(JSON.stringify(await measure(bench, 5)));
}

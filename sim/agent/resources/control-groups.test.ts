import { describe, expect, it } from "vitest";
import { dialects } from "../../../wire/dialect.ts";
import { readAgentCommand } from "../../configuration/agent/command-line.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import { AgentWorld } from "../agent-world.fixture.ts";
import { agentOptionsOf } from "../options-of-settings.ts";
import { controlGroupFiles, type GroupPod } from "./control-groups.ts";

const gibibyte = 2 ** 30;

function optionsOf(flags: readonly string[]) {
  const files = { read: () => ({ error: "none" }), list: () => ({ error: "none" }), environment: {} };
  const command = readAgentCommand(flags, dialects.svc, files);
  if (command.is !== "settings") throw new Error(JSON.stringify(command));
  return agentOptionsOf(command.settings, { hostname: "n1", addresses: [] });
}

function filesFor(flags: readonly string[], pods: readonly GroupPod[] = []) {
  const { controlGroups: groups, pods: options, node } = optionsOf(flags);
  if (groups === undefined) return undefined;
  const facts = { groups, kernel: options.kernel, node, allocatableBytes: 8 * gibibyte, pods };
  return Object.fromEntries(controlGroupFiles(facts));
}

const pods: readonly GroupPod[] = [
  { uid: "g-1", qos: "Guaranteed", memoryBytes: 2 * gibibyte },
  { uid: "b-1", qos: "Burstable", memoryBytes: gibibyte },
  { uid: "e-1", qos: "BestEffort", memoryBytes: 0 },
];

describe("limits in control groups", () => {
  it("are none by default", () => {
    expect(filesFor([])).toBeUndefined();
    expect(filesFor(["--pod-max-pids=-1", "--system-reserved-cgroup=/a"])).toBeUndefined();
  });

  it("keep a share of what higher classes of service request from the lower ones", () => {
    const gate = "--feature-gates=QOSReserved=true";
    expect(filesFor([gate, "--qos-reserved=memory=50%"], pods)).toEqual({
      "/sys/fs/cgroup/kubepods/burstable/memory.max": String(7 * gibibyte),
      "/sys/fs/cgroup/kubepods/besteffort/memory.max": String(6.5 * gibibyte),
    });
    expect(filesFor([gate, "--qos-reserved=memory=100%", "--cgroup-driver=systemd"], pods)).toMatchObject({
      "/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/memory.max": String(5 * gibibyte),
    });
    const crowd = pods.map((pod) => ({ ...pod, memoryBytes: 9 * gibibyte }));
    expect(filesFor([gate, "--qos-reserved=memory=100%"], crowd)).toMatchObject({
      "/sys/fs/cgroup/kubepods/burstable/memory.max": "0",
    });
  });

  it("hold each pod to so many processes", () => {
    expect(filesFor(["--pod-max-pids=100", "--cgroup-root=/a"], pods)).toEqual({
      "/sys/fs/cgroup/a/kubepods/podg-1/pids.max": "100",
      "/sys/fs/cgroup/a/kubepods/burstable/podb-1/pids.max": "100",
      "/sys/fs/cgroup/a/kubepods/besteffort/pode-1/pids.max": "100",
    });
    const slices = "/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podb_1.slice/pids.max";
    expect(filesFor(["--pod-max-pids=7", "--cgroup-driver=systemd"], pods)).toMatchObject({ [slices]: "7" });
  });

  it("hold others to what is reserved for them, where that is enforced", () => {
    const flags = [
      "--system-reserved=cpu=1,memory=1Gi,pid=1000",
      "--system-reserved-cgroup=/system.slice",
      "--svc-reserved=cpu=500m,memory=2Gi",
      "--svc-reserved-cgroup=/agent.slice",
    ];
    expect(filesFor([...flags, "--enforce-node-allocatable=pods,system-reserved,svc-reserved-compressible"])).toEqual({
      "/sys/fs/cgroup/system.slice/cpu.weight": "39",
      "/sys/fs/cgroup/system.slice/memory.max": String(gibibyte),
      "/sys/fs/cgroup/system.slice/pids.max": "1000",
      "/sys/fs/cgroup/agent.slice/cpu.weight": "20",
    });
  });

  it("are written on the machine as pods come, each once", () => {
    const { controlGroups } = optionsOf(["--pod-max-pids=100"]);
    if (controlGroups === undefined) throw new Error("no limits");
    const writes: string[] = [];
    const around = (inner: CriRuntime): CriRuntime => ({
      events: (...args) => inner.events(...args),
      start: (request, ...more) => {
        if (request.method === "WritePath") writes.push(String((request.message as { path?: string }).path));
        return inner.start(request, ...more);
      },
    });
    const world = new AgentWorld({ controlGroups }, 100_000, { around });
    world.run(3);
    const { metadata } = world.create("p", { containers: [{ name: "c", image: "app:1" }] });
    world.run(60);
    const path = `/sys/fs/cgroup/kubepods/besteffort/pod${(metadata as { uid: string }).uid}/pids.max`;
    expect(new Set(writes)).toEqual(new Set([path]));
  });
});

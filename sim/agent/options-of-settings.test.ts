import { describe, expect, it } from "vitest";
import { dialects } from "../../wire/dialect.ts";
import { readAgentCommand } from "../configuration/agent/command-line.ts";
import { agentOptionsOf } from "./options-of-settings.ts";

function optionsOf(args: readonly string[], name: "svc" | "kubernetes" = "svc") {
  const files = { read: () => ({ error: "none" }), list: () => ({ error: "none" }), environment: {} };
  const command = readAgentCommand(args, dialects[name], files);
  if (command.is !== "settings") throw new Error(JSON.stringify(command));
  return agentOptionsOf(command.settings, { hostname: " Node.Example ", addresses: ["10.1.1.1"] });
}

describe("an agent's options", () => {
  it("are the documents' defaults when nothing is said", () => {
    expect(optionsOf([])).toMatchObject({
      nodeName: "node.example",
      hostname: "node.example",
      node: {
        register: true,
        podsMax: 110,
        nodeIps: ["10.1.1.1"],
        statusUpdateMicros: 10_000_000,
        leaseDurationSeconds: 40,
      },
      pods: {
        logBytesMax: 10 * 2 ** 20,
        logFilesMax: 5,
        logCheckMicros: 10_000_000,
        logWorkersMax: 1,
        registryQps: 5,
        rootDir: "/var/lib/nodeagent",
      },
      client: { apiQps: 50, apiBurst: 100, eventQps: 50, eventBurst: 100 },
      eviction: { evictionPressureTransitionPeriod: "5m0s", evictionHard: { "memory.available": "100Mi" } },
      images: { highThresholdPercent: 85, lowThresholdPercent: 80, ageMicrosMin: 120_000_000 },
    });
  });

  it("have resources of running pods changed, and told of, as gates say", () => {
    const of = (gates: string) => {
      const { resizes, showsAllocated } = optionsOf(gates === "" ? [] : [`--feature-gates=${gates}`]).pods;
      return [resizes, showsAllocated];
    };
    expect(of("")).toEqual([true, false]);
    expect(of("InPlacePodVerticalScaling=false")).toEqual([false, false]);
    expect(of("InPlacePodVerticalScalingAllocatedStatus=true")).toEqual([true, true]);
  });

  it("have the bounds of logs from flags", () => {
    const { pods } = optionsOf(["--container-log-max-size=2Ki", "--container-log-max-files=3"]);
    expect(pods).toMatchObject({ logBytesMax: 2048, logFilesMax: 3 });
    expect(optionsOf(["--container-log-max-size=-1"]).pods.logBytesMax).toBe(-1);
  });

  it("take their name, addresses, labels and taints from flags", () => {
    const { nodeName, hostname, node } = optionsOf([
      "--hostname-override=Other",
      "--node-ip=10.0.0.9,fd00::1",
      "--node-labels=a=b",
      "--register-with-taints=c=d:NoExecute",
    ]);
    expect([nodeName, hostname]).toEqual(["other", "other"]);
    expect(node).toMatchObject({
      nodeIps: ["10.0.0.9", "fd00::1"],
      labels: { a: "b" },
      taints: [{ key: "c", value: "d", effect: "NoExecute" }],
    });
    expect(optionsOf(["--node-ip=abc"]).node.nodeIps).toEqual(["10.1.1.1"]);
  });

  it("reserve cores in place of what both lists say of cpu", () => {
    const { node } = optionsOf([
      "--reserved-cpus=0-1,3",
      "--system-reserved=cpu=1,memory=1Gi",
      "--svc-reserved=cpu=2,pid=9",
    ]);
    expect(node.systemReserved).toEqual({ cpu: "3", memory: "1Gi" });
    expect(node.serviceReserved).toEqual({ pid: "9" });
  });

  it("read a rate of zero as document 3 says, or as the client library of the observed agent does", () => {
    const zero = ["--event-qps=0", "--event-burst=0", "--svc-api-qps=0", "--svc-api-burst=0"];
    expect(optionsOf(zero).client).toEqual({ apiQps: 50, apiBurst: 100, eventQps: 50, eventBurst: 100 });
    expect(optionsOf(zero, "kubernetes").client).toEqual({ apiQps: 5, apiBurst: 10, eventQps: 5, eventBurst: 10 });
  });

  it("have the waits between restarts that gates and a file under one of them say", () => {
    const waits = (gates: string, period?: string) => {
      const crashLoopBackOff = period === undefined ? {} : { crashLoopBackOff: { maxContainerRestartPeriod: period } };
      const header = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
      const alone = { authentication: { webhook: { enabled: false } }, authorization: { mode: "AlwaysAllow" } };
      const text = JSON.stringify({ ...header, ...alone, ...crashLoopBackOff });
      const files = { read: () => ({ text }), list: () => ({ error: "none" }), environment: {} };
      const args = ["--config=file", ...(gates === "" ? [] : [`--feature-gates=${gates}`])];
      const command = readAgentCommand(args, dialects["kubernetes"], files as never);
      if (command.is !== "settings") return JSON.stringify(command);
      const { restarts } = agentOptionsOf(command.settings, { hostname: "n", addresses: [] }).pods;
      return [(restarts?.firstMicros ?? 0) / 1e6, (restarts?.mostMicros ?? 0) / 1e6];
    };
    const [cap, soon] = ["KubeletCrashLoopBackOffMax=true", "ReduceDefaultCrashLoopBackOffDecay=true"];
    expect(waits("")).toEqual([10, 300]);
    expect(waits(soon)).toEqual([1, 60]);
    expect(waits(cap)).toEqual([10, 300]);
    expect(waits(cap, "20s")).toEqual([10, 20]);
    expect(waits(cap, "2s")).toEqual([2, 2]);
    expect(waits(`${cap},${soon}`, "2s")).toEqual([1, 2]);
    expect(waits("", "20s")).toContain("FeatureGate KubeletCrashLoopBackOffMax not enabled");
    for (const period of ["500ms", "6m"]) expect(waits(cap, period)).toContain("must be set between 1s and 5m0s");
  });
});

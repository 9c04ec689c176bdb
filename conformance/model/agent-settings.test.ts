import { describe, expect, it } from "vitest";
import type { JsonObject } from "../client/types.ts";
import { agentRules, judgeAgentSettings } from "./agent-settings.ts";

const status: JsonObject = {
  capacity: { cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi", pods: "40" },
  allocatable: { cpu: "3500m", memory: "7Gi", "ephemeral-storage": "90Gi", pods: "40" },
  images: [{ names: ["a"] }, { names: ["b"] }],
};
const config: JsonObject = {
  oomScoreAdj: -999,
  featureGates: { A: true },
  cgroupDriver: "systemd",
  cpuManagerPolicy: "static",
  cpuManagerPolicyOptions: { "full-pcpus-only": "true" },
  memoryManagerPolicy: "None",
  topologyManagerPolicy: "best-effort",
  topologyManagerPolicyOptions: {},
  topologyManagerScope: "pod",
  enforceNodeAllocatable: ["pods", "system-reserved"],
  systemReservedCgroup: "/system.slice",
  hairpinMode: "hairpin-veth",
  authorization: { mode: "Webhook" },
  tlsMinVersion: "",
  logging: { format: "json" },
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 85,
  containerLogMaxFiles: 2,
  kubeAPIQPS: 0,
  maxPods: 110,
  podsPerCore: 10,
  nodeStatusMaxImages: 2,
  port: 10250,
  readOnlyPort: 0,
  nodeStatusUpdateFrequency: "10s",
  kubeReserved: { cpu: "500m", memory: "512Mi" },
  systemReserved: { memory: "512Mi" },
};

const broken = (changes: JsonObject, changed: JsonObject = {}): string[] =>
  judgeAgentSettings({ config: { ...config, ...changes }, status: { ...status, ...changed } }).flatMap(
    ({ requirement, violation }) => (violation === undefined ? [] : [requirement]),
  );

describe("an agent's settings", () => {
  it("accepts what is within every range, and what is not told", () => {
    expect(broken({})).toEqual([]);
    expect(judgeAgentSettings({ config: {}, status: {} })).toEqual([]);
    expect(broken({ enforceNodeAllocatable: ["none"], nodeStatusMaxImages: -1, podsPerCore: 0 })).toEqual([]);
  });

  const ranges = "agent-configuration.ranges";
  const rows: [requirement: string, changes: JsonObject, changed?: JsonObject][] = [
    ["agent-configuration.ranges", { oomScoreAdj: 1001 }],
    ["agent-configuration.ranges", { featureGates: { A: "yes" } }],
    ["agent-configuration.ranges", { cgroupDriver: "other" }],
    ["agent-configuration.ranges", { cpuManagerPolicy: "Static" }],
    ["agent-configuration.ranges", { cpuManagerPolicyOptions: { a: 1 } }],
    ["agent-configuration.ranges", { memoryManagerPolicy: "none" }],
    ["agent-configuration.ranges", { topologyManagerPolicy: "numa" }],
    ["agent-configuration.ranges", { topologyManagerPolicyOptions: ["a"] }],
    ["agent-configuration.ranges", { topologyManagerScope: "node" }],
    ["agent-configuration.ranges", { enforceNodeAllocatable: ["none", "pods"] }],
    ["agent-configuration.ranges", { systemReservedCgroup: "" }],
    ["agent-configuration.ranges", { enforceNodeAllocatable: ["everything"] }],
    ["agent-configuration.ranges", { hairpinMode: "bridge" }],
    ["agent-configuration.ranges", { authorization: { mode: "Never" } }],
    ["agent-configuration.ranges", { tlsMinVersion: "1.2" }],
    ["agent-configuration.ranges", { logging: { format: "xml" } }],
    [ranges, { imageGCLowThresholdPercent: 86 }],
    [ranges, { containerLogMaxFiles: 1 }],
    [ranges, { kubeAPIQPS: -1 }],
    [ranges, { port: 0 }],
    [ranges, { nodeStatusUpdateFrequency: "0s" }],
    ["agent-node.fits-settings", { nodeStatusMaxImages: 1 }],
    ["agent-node.fits-settings", { podsPerCore: 9 }],
    ["agent-node.fits-settings", { maxPods: 39 }],
    ["agent-node.fits-settings", { kubeReserved: { cpu: "501m" } }],
    ["agent-node.fits-settings", {}, { allocatable: { memory: "8Gi" } }],
  ];

  it.each(rows)("rejects what breaks %s: %j %j", (requirement, changes, changed = {}) => {
    expect(broken(changes, changed)).toContain(requirement);
  });

  it("has a case for every row", () => {
    expect(new Set(rows.map(([requirement]) => requirement))).toEqual(
      new Set(agentRules.map(({ requirement }) => requirement)),
    );
  });
});

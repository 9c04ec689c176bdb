import { describe, expect, it } from "vitest";
import { defaultAgentOptions } from "../agent-options.ts";
import { podOf } from "../pods/pod-types.ts";
import type { KernelOptions } from "../ports.ts";
import { containerConfig, sandboxConfig } from "./container-config.ts";
import { ProcessWords } from "./process-words.ts";

const { kernel, rootDir, logsDir, volumePluginDir } = defaultAgentOptions("n1").pods;
const pod = podOf({
  metadata: { name: "p", namespace: "default", uid: "1-2" },
  spec: { containers: [{ name: "c", image: "i", resources: { limits: { cpu: "500m" } } }] },
});

function told(changes: Partial<KernelOptions>) {
  const node = {
    rootDir,
    logsDir,
    volumePluginDir,
    clusterDns: [],
    clusterDomain: "",
    memoryCapacityBytes: 1,
    kernel: { ...kernel, ...changes },
  };
  const told = { envs: [], values: new Map(), mounts: [], words: new ProcessWords() };
  const parts = { restartCount: 0, imageRef: "i", hash: "h", ...told };
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error("no container");
  const { linux } = containerConfig(node, pod, container, "Burstable", parts);
  return { sandbox: sandboxConfig(node, pod, "Burstable", 0, {}).linux, linux };
}

describe("what the runtime is told for the kernel", () => {
  it("has quotas of CPU by the period, or none", () => {
    expect(told({}).linux?.resources).toMatchObject({ cpuPeriod: 100_000, cpuQuota: 50_000 });
    expect(told({ cpuQuotaPeriodMicros: 20_000 }).linux?.resources).toMatchObject({
      cpuPeriod: 20_000,
      cpuQuota: 10_000,
    });
    const free = told({ cpuQuota: false }).linux?.resources ?? {};
    expect("cpuQuota" in free || "cpuPeriod" in free).toBe(false);
  });

  it("has control groups below the root, as their driver names them, or none", () => {
    expect(told({}).sandbox?.cgroupParent).toBe("/kubepods/burstable/pod1-2");
    expect(told({ cgroupRoot: "/a" }).sandbox?.cgroupParent).toBe("/a/kubepods/burstable/pod1-2");
    expect(told({ cgroupDriver: "systemd" }).sandbox?.cgroupParent).toBe("kubepods-burstable-pod1_2.slice");
    expect(told({ cgroupsPerQos: false }).sandbox).not.toHaveProperty("cgroupParent");
  });

  it("has the runtime's own profile where that is the default", () => {
    expect(told({}).linux?.securityContext?.seccomp).toEqual({ profileType: "Unconfined" });
    expect(told({ seccompDefault: true }).linux?.securityContext?.seccomp).toEqual({ profileType: "RuntimeDefault" });
  });
});

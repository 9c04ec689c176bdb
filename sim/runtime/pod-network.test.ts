import { describe, expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import { callRuntime } from "../cri/cri-port.ts";
import { addressAt, podNetworkOf } from "./pod-network.ts";
import { SimulatedRuntime } from "./runtime.ts";

describe("a network of pods", () => {
  it.each([
    ["10.88", 65_536, "10.88.0.2"],
    ["10.7.3", 256, "10.7.3.2"],
    ["10.1.16.0/20", 4096, "10.1.16.2"],
    ["10.5.0.64/26", 64, "10.5.0.66"],
    ["fd00:7::/64", 65_536, "fd00:7::2"],
    ["fd00::1:ff00/120", 256, "fd00::1:ff02"],
  ])("%s has %d addresses, and the first for a pod is %s", (text, size, second) => {
    const network = podNetworkOf(text);
    expect(network?.size).toBe(size);
    expect(network === undefined ? "" : addressAt(network, 2)).toBe(second);
  });

  it.each(["", "x", "10.0.0.0/31", "10.0.0.0/33", "1.2.3.4.5", "::/127"])("%j is none", (text) => {
    expect(podNetworkOf(text)).toBeUndefined();
  });
});

describe("a runtime that is told a network", () => {
  const addresses = (podCidr: string, count: number): readonly string[] => {
    const kernel = new Kernel({ seed: "network" });
    const process = kernel.process("machine");
    const found: string[] = [];
    kernel.enter(process, () => {
      const runtime = new SimulatedRuntime(process, {});
      const told = { runtimeConfig: { networkConfig: { podCidr } } };
      const second = 1_000_000;
      callRuntime(process, runtime, "UpdateRuntimeConfig", told, second, () => {
        for (let at = 0; at < count; at++) {
          const config = { metadata: { name: `p${at}`, namespace: "n", uid: `u${at}` } };
          callRuntime(process, runtime, "RunPodSandbox", { config }, 10 * second, (made) => {
            if (!made.ok) return;
            const { podSandboxId } = made.message;
            callRuntime(process, runtime, "PodSandboxStatus", { podSandboxId }, second, (status) => {
              if (status.ok) found.push(status.message.status?.network?.ip ?? "");
            });
          });
        }
      });
    });
    kernel.run(60_000_000);
    return found.toSorted();
  };

  it("gives pods addresses of it, and of the fourth version where there are both", () => {
    expect(addresses("10.1.16.0/20", 2)).toEqual(["10.1.16.2", "10.1.16.3"]);
    expect(addresses("fd00:7::/64,10.77.3.0/24", 1)).toEqual(["10.77.3.2"]);
    expect(addresses("fd00:7::/112", 2)).toEqual(["fd00:7::2", "fd00:7::3"]);
    expect(addresses("nothing", 1)).toEqual(["10.88.0.2"]);
    expect(addresses("10.77", 1)).toEqual(["10.88.0.2"]); // no block, as an agent says of it
  });

  it("gives none twice, and none beyond it", () => {
    const few = addresses("10.5.0.64/29", 8).filter((address) => address !== "");
    expect(few).toEqual(["10.5.0.66", "10.5.0.67", "10.5.0.68", "10.5.0.69", "10.5.0.70"]);
  });
});

import { describe, expect, it } from "vitest";
import type { ActivePod } from "../ports.ts";
import { admissionOf } from "./admission.ts";

const allocatable = { cpu: "1", memory: "1Gi", pods: "1" };
const node = (status: object = {}) => ({
  name: "n1",
  object: { metadata: { name: "n1" }, status: { allocatable, ...status } },
});

function pod(spec: object = {}, labels: Readonly<Record<string, string>> = {}, milliCpu = 0): ActivePod {
  const object = { metadata: { name: "a", namespace: "default", uid: "a", labels }, spec: { containers: [], ...spec } };
  const requests = { milliCpu, memoryBytes: 0, ephemeralStorageBytes: 0, pods: 1 as const, others: {} };
  return {
    uid: "a",
    namespace: "default",
    name: "a",
    object,
    qos: "BestEffort",
    priority: 0,
    isCritical: false,
    requests,
  } as never;
}

const strict = { securityContext: { supplementalGroupsPolicy: "Strict" } };
const merged = { securityContext: { supplementalGroupsPolicy: "Merge" } };
const supporting = { features: { supplementalGroupsPolicy: true } };

describe("a node takes a pod or says why not", () => {
  it.each<[what: string, node: ReturnType<typeof node>, pod: ActivePod, reason: string | undefined]>([
    ["what asks for nothing special", node(), pod(), undefined],
    ["a label of its own system", node(), pod({}, { "kubernetes.io/os": "linux" }), undefined],
    [
      "a label of another system",
      node(),
      pod({}, { "kubernetes.io/os": "windows" }),
      "PodOSSelectorNodeLabelDoesNotMatch",
    ],
    ["another system", node(), pod({ os: { name: "windows" } }), "PodOSNotSupported"],
    ["groups that its runtime cannot keep to", node(), pod(strict), "SupplementalGroupsPolicyNotSupported"],
    ["groups that its runtime can keep to", node(supporting), pod(strict), undefined],
    ["groups as every runtime has them", node(), pod(merged), undefined],
    ["more than it has", node(), pod({}, {}, 1001), "OutOfcpu"],
    [
      "more than it has, of another system: what no room would help against comes first",
      node(),
      pod({ os: { name: "windows" } }, {}, 1001),
      "PodOSNotSupported",
    ],
  ])("%s", (_what, on, asking, reason) => {
    const admission = admissionOf(on, asking, []);
    expect(admission === undefined || "victims" in admission ? undefined : admission.reason).toBe(reason);
  });
});

import { expect, it } from "vitest";
import { type AskingPod, refusalsOf, type TakingNode } from "./admission.ts";

const node: TakingNode = {
  labels: { zone: "a", rank: "5" },
  taints: [
    { key: "soft", effect: "NoSchedule" },
    { key: "hard", effect: "NoExecute" },
  ],
  allocatable: { milliCpu: 1000, memoryMi: 100 },
};
const pod = (more: Partial<AskingPod> = {}): AskingPod => ({
  name: "pod",
  containers: [],
  inits: [],
  ports: [],
  selector: {},
  terms: undefined,
  tolerates: ["hard"],
  isBrief: false,
  ...more,
});
const cpu = (milliCpu: number) => ({ milliCpu, memoryMi: 0 });
const port = (protocol: "TCP" | "UDP", address: string) => ({ ports: [{ port: 80, protocol, address }] });
const term = (
  key: string,
  operator: "In" | "Gt" | "Exists" | "NotIn" | "DoesNotExist" | "Lt",
  ...values: string[]
) => ({
  key,
  operator,
  values,
});

it.each<[what: string, asking: Partial<AskingPod>, others: readonly Partial<AskingPod>[], reasons: readonly string[]]>([
  ["exactly what is left", { containers: [cpu(400)] }, [{ containers: [cpu(600)] }], []],
  ["more than is left", { containers: [cpu(401)] }, [{ containers: [cpu(600)] }], ["OutOfcpu"]],
  ["nothing, where nothing is left", { containers: [cpu(0)] }, [{ containers: [cpu(1000)] }], []],
  ["init containers in turn", { inits: [{ ...cpu(900), isSidecar: false }], containers: [cpu(900)] }, [], []],
  ["a sidecar beside", { inits: [{ ...cpu(200), isSidecar: true }], containers: [cpu(900)] }, [], ["OutOfcpu"]],
  [
    "a sidecar beside a later init container",
    {
      inits: [
        { ...cpu(200), isSidecar: true },
        { ...cpu(900), isSidecar: false },
      ],
    },
    [],
    ["OutOfcpu"],
  ],
  ["more memory", { containers: [{ milliCpu: 0, memoryMi: 101 }] }, [], ["OutOfmemory"]],
  ["a taken port", port("TCP", "10.0.0.1"), [port("TCP", "")], ["NodePorts"]],
  ["another protocol", port("UDP", ""), [port("TCP", "")], []],
  ["another address", port("TCP", "10.0.0.1"), [port("TCP", "10.0.0.2")], []],
  ["another label", { selector: { zone: "b" } }, [], ["NodeAffinity"]],
  ["one of two terms", { terms: [[term("none", "Exists")], [term("rank", "Gt", "4")]] }, [], []],
  ["half a term", { terms: [[term("zone", "In", "a"), term("rank", "Lt", "5")]] }, [], ["NodeAffinity"]],
  ["no label of the kind", { terms: [[term("none", "NotIn", "a"), term("none", "DoesNotExist")]] }, [], []],
  ["no patience with taints", { tolerates: [] }, [], ["TaintToleration"]],
])("a pod that wants %s", (_, asking, others, reasons) => {
  expect(refusalsOf(node, pod(asking), others.map(pod))).toEqual(reasons);
});

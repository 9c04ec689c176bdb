/** Random pods that ask a small node to take them, one after the other. Amounts are small, so that they often just fit. */
import fc from "fast-check";
import type { AskingPod, Expression, TakingNode } from "../model/pods/admission.ts";

export interface AdmissionProgram {
  readonly node: Omit<TakingNode, "allocatable">;
  readonly pods: readonly AskingPod[];
}

/** Of the node. */
export const askedCapacity = { milliCpu: 1000, memoryMi: 256 };

const none: Omit<AskingPod, "name"> = {
  containers: [{ milliCpu: 0, memoryMi: 0 }],
  inits: [],
  ports: [],
  selector: {},
  terms: undefined,
  tolerates: ["example.com/hard"],
  isBrief: false,
};

const requests = fc.record({
  milliCpu: fc.constantFrom(0, 100, 200, 400, 500),
  memoryMi: fc.constantFrom(0, 32, 64, 128),
});
const port = fc.record({
  port: fc.constantFrom(8001, 8002),
  protocol: fc.constantFrom("TCP", "UDP"),
  address: fc.constantFrom("", "127.0.0.1", "127.0.0.2"),
});

const labels = { "example.com/zone": "a", "example.com/rank": "5" };
const keys = fc.constantFrom("example.com/zone", "example.com/rank", "example.com/none");
const expression: fc.Arbitrary<Expression> = fc.oneof(
  fc.record({
    key: keys,
    operator: fc.constantFrom("In", "NotIn"),
    values: fc.uniqueArray(fc.constantFrom("a", "b", "5"), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ key: keys, operator: fc.constantFrom("Exists", "DoesNotExist"), values: fc.constant([]) }),
  fc.record({
    key: fc.constant("example.com/rank"),
    operator: fc.constantFrom("Gt", "Lt"),
    values: fc.constantFrom("4", "5", "10").map((value) => [value]),
  }),
);

const pod: fc.Arbitrary<Omit<AskingPod, "name">> = fc.record({
  containers: fc.array(requests, { minLength: 1, maxLength: 2 }),
  inits: fc.array(
    fc.tuple(requests, fc.boolean()).map(([own, isSidecar]) => ({ ...own, isSidecar })),
    { maxLength: 2 },
  ),
  ports: fc.array(port, { maxLength: 1 }),
  selector: fc.constantFrom<Record<string, string>>(
    {},
    {},
    {},
    { "example.com/zone": "a" },
    { "example.com/zone": "b" },
  ),
  terms: fc.option(fc.array(fc.array(expression, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }), {
    nil: undefined,
    freq: 2,
  }),
  tolerates: fc.constantFrom([], ["example.com/hard"], ["example.com/hard"]),
  isBrief: fc.boolean(),
});

export const anyAdmission: fc.Arbitrary<AdmissionProgram> = fc.record({
  node: fc.constantFrom([], [], ["example.com/hard"]).map((hard) => ({
    labels,
    taints: [
      { key: "example.com/soft", effect: "NoSchedule" as const },
      ...hard.map((key) => ({ key, effect: "NoExecute" as const })),
    ],
  })),
  pods: fc
    .array(pod, { minLength: 2, maxLength: 6 })
    .map((pods) => pods.map((each, at) => ({ ...each, name: `pod-${at}` }))),
});

const asking = (name: string, more: Partial<AskingPod>): AskingPod => ({ ...none, ...more, name });
const cpu = (milliCpu: number) => ({ milliCpu, memoryMi: 0 });

/** Each reason to refuse a pod, beside one that is close to it and has to be taken. */
export const eventfulAdmission: AdmissionProgram = {
  node: {
    labels,
    taints: [
      { key: "example.com/soft", effect: "NoSchedule" },
      { key: "example.com/hard", effect: "NoExecute" },
    ],
  },
  pods: [
    asking("tolerates-nothing", { tolerates: [] }),
    asking("brief", { containers: [cpu(900)], isBrief: true }),
    asking("starts-large", { inits: [{ ...cpu(600), isSidecar: false }], containers: [cpu(100)] }),
    asking("beside", { inits: [{ ...cpu(150), isSidecar: true }], containers: [cpu(150)] }),
    asking("in-turns", { inits: [{ ...cpu(100), isSidecar: false }], containers: [cpu(100)] }),
    asking("one-too-many", { containers: [cpu(1)] }),
    asking("forgetful", { containers: [{ milliCpu: 0, memoryMi: 200 }] }),
    asking("more-than-is-left", { containers: [{ milliCpu: 0, memoryMi: 64 }] }),
    asking("takes-a-port", { ports: [{ port: 8001, protocol: "TCP", address: "127.0.0.1" }] }),
    asking("other-protocol", { ports: [{ port: 8001, protocol: "UDP", address: "" }] }),
    asking("other-address", { ports: [{ port: 8001, protocol: "TCP", address: "127.0.0.2" }] }),
    asking("all-addresses", { ports: [{ port: 8001, protocol: "TCP", address: "" }] }),
    asking("elsewhere", { selector: { "example.com/zone": "b" } }),
    asking("either", {
      terms: [
        [{ key: "example.com/none", operator: "Exists", values: [] }],
        [{ key: "example.com/rank", operator: "Gt", values: ["4"] }],
      ],
    }),
    asking("both", {
      terms: [
        [
          { key: "example.com/zone", operator: "In", values: ["a"] },
          { key: "example.com/rank", operator: "Lt", values: ["5"] },
        ],
      ],
    }),
  ],
};

import { expect, it } from "vitest";
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { create, endpoint, update } from "../../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../../objects/validation.ts";
import { podUpdateCauses } from "./update.ts";

const live: JsonObject = {
  containers: [{ name: "c", image: "i:1" }],
  tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 }],
  schedulingGates: [{ name: "a" }, { name: "b" }],
  activeDeadlineSeconds: 10,
  terminationGracePeriodSeconds: 30,
};
const change = (fields: JsonObject, before = live): readonly string[] => {
  const causes: Cause[] = [];
  podUpdateCauses(JSON.parse(JSON.stringify({ ...before, ...fields })) as JsonObject, before, causes);
  return causes.map(({ field, message }) => `${field}: ${message}`.slice(0, 120));
};

it("An image is another, a gate opens, a toleration is added or lasts", () => {
  expect(change({})).toEqual([]);
  expect(change({ containers: [{ name: "c", image: "i:2" }] })).toEqual([]);
  expect(change({ schedulingGates: [{ name: "b" }] })).toEqual([]);
  const [toleration] = live["tolerations"] as JsonObject[];
  expect(
    change({
      tolerations: [
        { key: "z", operator: "Exists" },
        { ...toleration, tolerationSeconds: 9 },
      ],
    }),
  ).toEqual([]);
  expect(change({ activeDeadlineSeconds: 9 })).toEqual([]);
});

it("Whatever else changes is refused, by the field where there is a rule", () => {
  expect(change({ containers: [] })).toEqual([
    "spec.containers: Forbidden: pod updates may not add or remove containers",
  ]);
  expect(change({ tolerations: [] })).toEqual([
    "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
  ]);
  expect(change({ schedulingGates: [{ name: "z" }] })).toEqual([
    "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'z'",
  ]);
  expect(change({ activeDeadlineSeconds: 11 })).toEqual([
    "spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value",
  ]);
  expect(change({ activeDeadlineSeconds: undefined as never })[0]).toContain("from a positive integer to nil value");
  expect(change({ nodeName: "n" })[0]).toContain("spec: Forbidden: pod updates may not change fields other than");
});

it("A period below zero may be said as the second that it is", () => {
  const endless = { ...live, terminationGracePeriodSeconds: -1 };
  expect(change({ terminationGracePeriodSeconds: 1 }, endless)).toEqual([]);
  expect(change({ terminationGracePeriodSeconds: 2 }, endless)).toHaveLength(1);
  expect(change({ terminationGracePeriodSeconds: 1 })).toHaveLength(1);
});

it("Where a pod may run is narrowed while it waits at a gate, and only then", () => {
  const nodes = (...keys: string[]): JsonObject => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: keys.map((key) => ({ key, operator: "Exists" })) }],
      },
    },
  });
  const gated: JsonObject = { ...live, nodeSelector: { a: "b" }, affinity: nodes("a") };
  expect(change({ nodeSelector: { a: "b", c: "d" }, affinity: nodes("a", "b") }, gated)).toEqual([]);
  expect(change({ nodeSelector: { a: "c" } }, gated)[0]).toContain(
    'spec.nodeSelector: Invalid value: map[string]string{"a":"c"}: only additions',
  );
  expect(change({ affinity: nodes("b") }, gated)[0]).toContain("nodeSelectorTerms[0]: Invalid value");
  const { schedulingGates: _, ...free } = gated;
  expect(change({ nodeSelector: { a: "b", c: "d" } }, free)[0]).toContain(
    "spec: Forbidden: pod updates may not change",
  );
});

it("A pod says what it costs to delete as a number, and that it stands for a node's own from the beginning", () => {
  const pods = endpoint("v1/pods");
  const pod = (annotations: JsonObject, more: JsonObject = {}): JsonObject => ({
    metadata: { name: "p", annotations, ...more },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  const cost = (value: string): readonly Cause[] =>
    validateCreate(create(pod({ "controller.svc.io/pod-deletion-cost": value }), pods), pods.strategy);
  expect(["-1", "0", "2147483647", "-2147483648"].flatMap(cost)).toEqual([]);
  expect(["+1", "01", "2147483648", "x"].flatMap(cost)).toHaveLength(4);
  const before = create(pod({}), pods);
  const after = update(pod({ "svc.io/config.mirror": "a" }, { namespace: "ns" }), before, pods);
  expect(validateUpdate(after, before, pods.strategy).map(({ message }) => message)).toContain(
    "Forbidden: may not add mirror pod annotation",
  );
});

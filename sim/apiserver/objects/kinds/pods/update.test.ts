import { expect, it } from "vitest";
import type { Cause } from "../../../errors.ts";
import type { JsonObject } from "../../../http-message.ts";
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

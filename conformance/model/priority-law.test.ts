import { expect, it } from "vitest";
import { judgePriority, type PriorityClass } from "./priority-law.ts";

const classes: readonly PriorityClass[] = [{ name: "high", value: 1000, preemptionPolicy: "Never" }];
const high = { className: "high", priority: undefined };
const pod = (priority: number, preemptionPolicy: string) => ({ spec: { priority, preemptionPolicy } });

it("a pod has its class's priority, or none that counts", () => {
  expect(judgePriority(classes, high, 201, pod(1000, "Never"))).toBeUndefined();
  expect(judgePriority(classes, { ...high, priority: 1000 }, 201, pod(1000, "Never"))).toBeUndefined();
  const none = { className: undefined, priority: undefined };
  expect(judgePriority(classes, none, 201, pod(0, "PreemptLowerPriority"))).toBeUndefined();
  expect(judgePriority(classes, { className: "absent", priority: undefined }, 403, undefined)).toBeUndefined();
});

it("rejects another priority, and what should have been refused", () => {
  expect(judgePriority(classes, high, 201, pod(0, "Never"))).toBeDefined();
  expect(judgePriority(classes, high, 201, pod(1000, "PreemptLowerPriority"))).toBeDefined();
  expect(judgePriority(classes, high, 403, undefined)).toBeDefined();
  expect(judgePriority(classes, { ...high, priority: 7 }, 201, pod(7, "Never"))).toBeDefined();
  expect(judgePriority(classes, { className: "absent", priority: undefined }, 201, pod(0, "Never"))).toBeDefined();
});

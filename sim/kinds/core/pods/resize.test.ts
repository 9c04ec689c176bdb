import { expect, it } from "vitest";
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { containerCauses } from "./pods.fixture.ts";
import { resizeCauses } from "./resize.ts";

const container = (requests: JsonObject, limits: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: "c",
  image: "i",
  resources: { requests, limits },
  ...more,
});
const resize = (after: JsonObject, before: JsonObject, status: JsonObject = {}): readonly string[] => {
  const causes: Cause[] = [];
  const live = { spec: { containers: [before] }, status };
  resizeCauses({ spec: { containers: [after] }, status }, live, causes);
  return causes.map(({ field, message }) => `${field}: ${message}`);
};
const before = container({ cpu: "1", memory: "1Gi" }, { cpu: "2", memory: "2Gi" });

it("Cpu and memory may be others, as long as the class of service is the same", () => {
  expect(resize(container({ cpu: "2", memory: "1Gi" }, { cpu: "3", memory: "3Gi" }), before)).toEqual([]);
  expect(resize(container({ cpu: "2", memory: "2Gi" }, { cpu: "2", memory: "2Gi" }), before)).toEqual([
    'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
  ]);
});

it("Nothing that was said is taken back, and less memory needs a restart", () => {
  expect(resize(container({ cpu: "1" }, { cpu: "2", memory: "2Gi" }), before)).toEqual([
    "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
  ]);
  const less = { cpu: "2", memory: "1500Mi" };
  expect(resize(container({ cpu: "1", memory: "1Gi" }, less), before)).toEqual([
    "spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer",
  ]);
  const restarts = { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] };
  const patient = container({ cpu: "1", memory: "1Gi" }, { cpu: "2", memory: "2Gi" }, restarts);
  expect(resize(container({ cpu: "1", memory: "1Gi" }, less, restarts), patient)).toEqual([]);
});

it("Other resources stay, and the node must know how", () => {
  const devices = container({ cpu: "1", memory: "1Gi" }, { cpu: "2", memory: "2Gi", "a.b/c": "1" });
  expect(resize(devices, before)).toEqual(["spec: Forbidden: only cpu and memory resources are mutable"]);
  const running = { containerStatuses: [{ name: "c", state: { running: {} } }] };
  expect(resize(before, before, running)).toEqual(["spec: Forbidden: Pod running on node without support for resize"]);
});

it("Policies are for cpu and memory, once each", () => {
  const policy = (resourceName: string, restartPolicy: string): JsonObject => ({ resourceName, restartPolicy });
  expect(
    containerCauses({ resizePolicy: [policy("cpu", "NotRequired"), policy("memory", "RestartContainer")] }),
  ).toEqual([]);
  expect(
    containerCauses({ resizePolicy: [policy("cpu", "Z"), policy("cpu", "NotRequired"), policy("disk", "")] }),
  ).toEqual([
    'resizePolicy: Unsupported value: "Z": supported values: "NotRequired", "RestartContainer"',
    'resizePolicy[1]: Duplicate value: "cpu"',
    'resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"',
    "resizePolicy: Required value",
  ]);
  expect(containerCauses({ resizePolicy: [policy("cpu", "RestartContainer")] }, { restartPolicy: "Never" })).toEqual([
    `resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when \`restartPolicy\` is 'Never'`,
  ]);
});

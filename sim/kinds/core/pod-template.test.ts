import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint } from "../../objects/objects.fixture.ts";
import { validateCreate } from "../../objects/validation.ts";
import { podCauses } from "./pods/pods.fixture.ts";

it("A template is judged as the pod that it becomes", () => {
  const templates = endpoint("v1/podtemplates");
  const texts = (spec: JsonObject): readonly string[] =>
    validateCreate(create({ metadata: { name: "t" }, template: { spec } }, templates), templates.strategy).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  expect(texts({ containers: [{ name: "c", image: "i" }] })).toEqual([]);
  expect(texts({ containers: [{ name: "c" }] })).toEqual(["template.spec.containers[0].image: Required value"]);
  // The node's port may stay open here.
  const ports = [{ containerPort: 80 }];
  expect(texts({ hostNetwork: true, containers: [{ name: "c", image: "i", ports }] })).toEqual([]);
});

it("What a pod says of itself is judged in one order", () => {
  const containers = [{ name: "c", image: "i" }];
  expect(
    podCauses({
      containers,
      activeDeadlineSeconds: 0,
      hostname: "a.b",
      nodeName: "A",
      preemptionPolicy: "Maybe",
      priorityClassName: "A",
      serviceAccountName: "A",
    }).map((text) => text.slice(0, text.indexOf(":"))),
  ).toEqual([
    "spec.serviceAccountName",
    "spec.nodeName",
    "spec.activeDeadlineSeconds",
    "spec.hostname",
    "spec.priorityClassName",
    "spec.preemptionPolicy",
  ]);
});

it("A pod begins without visitors, and with its gates open if it has a node", () => {
  const containers = [{ name: "c", image: "i" }];
  expect(podCauses({ containers, ephemeralContainers: [{ name: "e", image: "i" }] })).toEqual([
    "spec.ephemeralContainers: Forbidden: cannot be set on create",
  ]);
  expect(podCauses({ containers, nodeName: "n", schedulingGates: [{ name: "a" }] })).toEqual([
    "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
  ]);
});

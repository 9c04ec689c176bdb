import { expect, it } from "vitest";
import type { JsonObject } from "../../../contract/http-message.ts";
import { create, endpoint, update } from "../../../objects/objects.fixture.ts";
import { validateUpdate } from "../../../objects/validation.ts";

const pods = endpoint("v1/pods");
const spec = { containers: [{ name: "c", image: "i" }] };
const live = create({ metadata: { name: "p", labels: { a: "b" } }, spec }, pods);
const looked = { name: "look", image: "busybox", targetContainerName: "c" };

const added = (ephemeralContainers: JsonObject[], before = live, rest: JsonObject = {}): JsonObject =>
  update(
    { metadata: { name: "p", namespace: "ns", resourceVersion: "1" }, spec: { ...spec, ...rest, ephemeralContainers } },
    before,
    pods,
    { subresource: "ephemeralcontainers" },
  );
const causes = (after: JsonObject, before = live): readonly string[] =>
  validateUpdate(after, before, pods.strategy, "ephemeralcontainers").map(
    ({ field, message }) => `${field}: ${message}`,
  );

it("A container is added, with the defaults of others, and nothing else changes", () => {
  const after = added([looked], live, { nodeName: "elsewhere" });
  expect(after["spec"]).toMatchObject({ ephemeralContainers: [{ name: "look", imagePullPolicy: "Always" }] });
  expect(after["spec"]).not.toHaveProperty("nodeName");
  expect(after["metadata"]).toMatchObject({ labels: { a: "b" } });
  expect(causes(after)).toEqual([]);
});

it("It looks at one that is there, and is no workload itself", () => {
  expect(causes(added([{ ...looked, name: "c", targetContainerName: "z", ports: [{ containerPort: 80 }] }]))).toEqual([
    'spec.ephemeralContainers[0].name: Duplicate value: "c"',
    'spec.ephemeralContainers[0].targetContainerName: Not found: "z"',
    "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
  ]);
  const limited = { ...looked, resources: { limits: { cpu: "1" } } };
  expect(causes(added([limited]))).toEqual([
    "spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container",
  ]);
});

it("It stays, and stays as it is", () => {
  const one = added([looked]);
  expect(causes(added([looked, { ...looked, name: "two" }], one), one)).toEqual([]);
  expect(causes(added([], one), one)).toEqual([
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "look" may not be removed\n',
  ]);
  expect(causes(added([{ ...looked, image: "z" }], one), one)).toEqual([
    'spec.ephemeralContainers: Forbidden: existing ephemeral containers "look" may not be changed\n',
  ]);
});

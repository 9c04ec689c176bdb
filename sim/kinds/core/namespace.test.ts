import { expect, it } from "vitest";
import { kubernetesDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";

it("What a namespace waits for is its own finalizer, or somebody's by a qualified name", () => {
  const namespaces = endpoint("v1/namespaces", kubernetesDialect);
  const texts = (...finalizers: string[]): readonly string[] =>
    validateCreate(create({ metadata: { name: "n" }, spec: { finalizers } }, namespaces), namespaces.strategy).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  expect(texts()).toEqual([]);
  expect(texts("kubernetes", "example.com/a")).toEqual([]);
  expect(texts("foo")).toEqual([
    'spec.finalizers: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

it("Finalizers are judged where they are written, and the phase is what deletion makes it", () => {
  const at = endpoint("v1/namespaces");
  const live = create({ metadata: { name: "n" } }, at);
  const causes = (body: JsonObject, subresource: string): readonly string[] =>
    validateUpdate(update({ ...live, ...body }, live, at, { subresource }), live, at.strategy, subresource).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  expect(causes({ spec: { finalizers: ["svc", "odd"] } }, "finalize")).toEqual([
    'spec.finalizers[1]: Invalid value: "odd": name is neither a standard finalizer name nor is it fully qualified',
  ]);
  expect(causes({ spec: { finalizers: ["odd"] } }, "")).toEqual([]); // which does not write them
  expect(causes({ status: { phase: "Active" } }, "status")).toEqual([]);
  expect(causes({ status: { phase: "Terminating" } }, "status")).toEqual([
    `status.Phase: Invalid value: "Terminating": may only be 'Active' if \`deletionTimestamp\` is empty`,
  ]);
});

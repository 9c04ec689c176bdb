import { expect, it } from "vitest";
import { kubernetesDialect } from "../../../../wire/dialect.ts";
import { create, endpoint } from "../object-fixtures.ts";
import { validateCreate } from "../validation.ts";

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

import { expect, it } from "vitest";
import type { Json } from "../../../contract/http-message.ts";
import { containerCauses } from "./pods.fixture.ts";

const env = (...variables: Json[]): readonly string[] => containerCauses({ env: variables });
const from = (valueFrom: Json, more = {}): readonly string[] => env({ name: "A", valueFrom, ...more });

it("A variable has a name, printable and without an equals sign", () => {
  expect(env({ name: "A" }, { name: "a b.c-1" })).toEqual([]);
  expect(env({}, { name: "a=b" })).toEqual([
    "env[0].name: Required value",
    "env[1].name: Invalid value: \"a=b\": a valid environment variable name must consist only of printable ASCII characters other than '='",
  ]);
});

it("A value comes from one place", () => {
  const keyRef = { name: "m", key: "k" };
  expect(from({ configMapKeyRef: keyRef })).toEqual([]);
  expect(from({})).toEqual([
    'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
  ]);
  expect(from({ configMapKeyRef: keyRef }, { value: "x" })).toEqual([
    'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
  ]);
  expect(from({ configMapKeyRef: keyRef, secretKeyRef: keyRef })).toEqual([
    'env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time',
  ]);
});

it("What a value refers to is there to be read", () => {
  expect(from({ fieldRef: { fieldPath: "metadata.labels['a']" } })).toEqual([]);
  expect(from({ fieldRef: { fieldPath: "metadata.nope" } })).toEqual([
    'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "metadata.nope": error converting fieldPath: field label not supported: metadata.nope',
  ]);
  expect(from({ fieldRef: { fieldPath: "status.phase" } })[0]).toContain('Unsupported value: "status.phase"');
  expect(from({ resourceFieldRef: { resource: "limits.gpu" } })[0]).toContain('Unsupported value: "limits.gpu"');
  expect(from({ secretKeyRef: { name: "s", key: ".." } })).toEqual([
    "env[0].valueFrom.secretKeyRef.key: Invalid value: \"..\": must not be '..'",
  ]);
  expect(containerCauses({ envFrom: [{ configMapRef: { name: "m" } }, {}, { secretRef: {} }] })).toEqual([
    'envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
    "envFrom[2].secretRef.name: Required value",
  ]);
});

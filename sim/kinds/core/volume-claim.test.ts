import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";

const claims = endpoint("v1/persistentvolumeclaims");
const volumes = endpoint("v1/persistentvolumes");
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const volume = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/a" } };

const texts = (at: typeof claims, spec: JsonObject): readonly string[] =>
  validateCreate(create({ metadata: { name: "a" }, spec }, at), at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

it("Claims wait, for files", () => {
  const made = create({ metadata: { name: "a" }, spec: claim }, claims);
  expect(made).toMatchObject({ spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } });
});

it.each([
  [{}, []],
  [{ accessModes: [] }, ["spec.accessModes: Required value: at least 1 access mode is required"]],
  [
    { accessModes: ["ReadWriteOnce", "ReadWriteOncePod"] },
    ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
  ],
  [{ resources: {} }, ["spec.resources[storage]: Required value"]],
  [
    { resources: { requests: { storage: "0" } } },
    ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
  ],
  [{ volumeMode: "Z" }, ['spec.volumeMode: Unsupported value: "Z": supported values: "Block", "Filesystem"']],
  [{ dataSource: { kind: "PersistentVolumeClaim" } }, ["spec.dataSource.name: Required value"]],
])("A claim with %j", (spec, expected) => expect(texts(claims, { ...claim, ...spec } as JsonObject)).toEqual(expected));

it.each([
  [{}, []],
  [
    { capacity: {} },
    ["spec.capacity: Required value", 'spec.capacity: Unsupported value: "": supported values: "storage"'],
  ],
  [{ hostPath: undefined }, ["spec: Required value: must specify a volume type"]],
  [
    { local: { path: "/b" }, hostPath: undefined },
    ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
  ],
  [
    { persistentVolumeReclaimPolicy: "Z" },
    ['spec.persistentVolumeReclaimPolicy: Unsupported value: "Z": supported values: "Delete", "Recycle", "Retain"'],
  ],
])("A volume with %j", (spec, expected) =>
  expect(texts(volumes, JSON.parse(JSON.stringify({ ...volume, ...spec })) as JsonObject)).toEqual(expected),
);

it("A claim stays what it is; a bound one grows", () => {
  const step = (spec: JsonObject, phase: string): readonly string[] => {
    const made = create(
      { metadata: { name: "a" }, spec: { ...claim, volumeName: "v", storageClassName: "c" } },
      claims,
    );
    const live = { ...made, status: { phase, capacity: { storage: "1Gi" } } };
    const body = { ...live, spec: { ...(made["spec"] as JsonObject), ...spec } };
    return validateUpdate(update(body, live, claims), live, claims.strategy).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  };
  const more = { resources: { requests: { storage: "2Gi" } } };
  expect(step(more, "Bound")).toEqual([]);
  expect(step(more, "Pending")[0]).toContain("spec: Forbidden: spec is immutable after creation");
  expect(step({ storageClassName: "d" }, "Bound")[0]).toContain("spec: Forbidden: spec is immutable after creation");
  expect(step({ resources: { requests: { storage: "1" } } }, "Bound")).toEqual([
    "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
  ]);
});

import { describe, expect, it } from "vitest";
import type { ApiObject } from "../client/types.ts";
import { judgeOwners, ownersOf, pathsIn } from "./managed-fields.ts";

const tree = {
  "f:data": { ".": {}, "f:a.b": {} },
  "f:metadata": { "f:finalizers": { 'v:"example.com/a"': {} } },
  "f:spec": {
    "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {} } },
    "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {} } },
    "f:args": { "i:0": {} },
  },
};
const object: ApiObject = {
  metadata: {
    name: "a",
    managedFields: [
      { manager: "alpha", operation: "Apply", fieldsV1: { "f:data": { "f:x": {} } } },
      { manager: "alpha", operation: "Apply", subresource: "status", fieldsV1: { "f:status": { "f:message": {} } } },
      { manager: "editor", operation: "Update", fieldsV1: { "f:data": { ".": {}, "f:y": {} } } },
    ],
  },
};

describe("pathsIn", () => {
  it("writes paths as conflicts do", () => {
    expect([...pathsIn(tree)]).toEqual([
      ".data",
      ".data.a.b",
      '.metadata.finalizers[="example.com/a"]',
      '.spec.containers[name="c"]',
      '.spec.containers[name="c"].image',
      '.spec.ports[containerPort=80,protocol="TCP"]',
      ".spec.args[0]",
    ]);
  });
});

describe("judgeOwners", () => {
  const expected = new Map([
    ["alpha Apply", new Set([".data.x"])],
    ["editor Update", new Set([".data.y"])],
    ["nobody Apply", new Set<string>()],
  ]);

  it("accepts the owners that there are, under the paths that are asked for", () => {
    expect(judgeOwners(expected, ownersOf(object, [".data."]))).toBeUndefined();
    expect([...ownersOf(object, [".status"]).keys()]).toEqual(["alpha Apply status"]);
    expect([...ownersOf(object, [".data", ".status"]).keys()]).toEqual([
      "alpha Apply",
      "alpha Apply status",
      "editor Update",
    ]);
    expect(judgeOwners(new Map([...expected].toReversed()), ownersOf(object, [".data."]))).toBeUndefined();
  });

  it("adds up what one owner has in several versions, and leaves out what has no fields", () => {
    const owner = { manager: "alpha", operation: "Update" };
    const managedFields = [
      { ...owner, apiVersion: "v1", fieldsV1: { "f:data": { "f:x": {} } } },
      { ...owner, apiVersion: "v2", fieldsV1: { "f:data": { "f:y": {} } } },
      { manager: "beta", operation: "Update" },
    ];
    const owners = ownersOf({ metadata: { name: "a", managedFields } }, [".data"]);
    expect(judgeOwners(new Map([["alpha Update", new Set([".data.y", ".data.x"])]]), owners)).toBeUndefined();
    expect([pathsIn({}).size, pathsIn({ "f:a": 1 }).size]).toEqual([0, 0]);
  });

  it("rejects an owner too many, one too few, and one of another field", () => {
    for (const owners of [
      new Map([...expected, ["beta Apply", new Set([".data.x"])]]),
      new Map([...expected].slice(1)),
      new Map([...expected, ["alpha Apply", new Set([".data.y"])]]),
      new Map([...expected].map(([owner, paths]) => [owner.replace("Apply", "Update"), paths])),
    ]) {
      expect(judgeOwners(owners, ownersOf(object, [".data."]))).toBeDefined();
    }
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { structOfKind, type TypeRow } from "../../wire/schema.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { decodePatched, readStrategicPatchBody } from "./decode-patch.ts";
import { jsonEqual } from "./equality.ts";
import { bytesOf, create, endpoint, errorOf } from "./objects.fixture.ts";
import { seal } from "./seal.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";
import { isObject } from "../contract/objects.ts";

const pod = structOfKind("v1", "Pod") as TypeRow;
const deployment = structOfKind("apps/v1", "Deployment") as TypeRow;

/** Applies to a sealed document, so that a write into it would throw. */
const apply = (document: Json, patch: Json, type = pod): Json =>
  applyStrategicMerge(seal(document) as JsonObject, seal(patch) as JsonObject, type);

const containers = (...names: readonly string[]) => names.map((name) => ({ name, image: `i-${name}` }));

describe("maps", () => {
  it("are merged, and null takes a key away", () => {
    const labels = apply({ metadata: { labels: { a: "1", b: "2" } } }, { metadata: { labels: { a: null, c: "3" } } });
    expect(labels).toEqual({ metadata: { labels: { b: "2", c: "3" } } });
  });

  it("are the same object where nothing changes, but for the document itself", () => {
    const before = seal({ metadata: { labels: { a: "1" }, annotations: { x: "y" } } }) as {
      readonly metadata: JsonObject;
    };
    const patch = { metadata: { labels: { a: "1", none: null } } };
    const same = apply(before as never, patch) as { readonly metadata: JsonObject };
    expect(same).not.toBe(before);
    expect(same.metadata).toBe(before.metadata);
    const other = apply(before as never, { metadata: { labels: { a: "2" } } }) as { readonly metadata: JsonObject };
    expect(other.metadata["annotations"]).toBe(before.metadata["annotations"]);
    expect([before.metadata["labels"], other.metadata["labels"]]).toEqual([{ a: "1" }, { a: "2" }]);
  });

  it("are replaced or emptied as a whole by $patch", () => {
    const before = { metadata: { labels: { a: "1" }, annotations: { x: "y" } } };
    const patch = { metadata: { labels: { $patch: "replace", b: "2" }, annotations: { $patch: "delete" } } };
    expect(apply(before, patch)).toEqual({ metadata: { labels: { b: "2" }, annotations: {} } });
  });

  it("keep only what $retainKeys names", () => {
    const before = { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } };
    const patch = { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } };
    expect(apply(before, patch, deployment)).toEqual({ spec: { strategy: { type: "Recreate" } } });
    const volumes = { spec: { volumes: [{ name: "v", emptyDir: {} }] } };
    const other = { spec: { volumes: [{ $retainKeys: ["name", "hostPath"], name: "v", hostPath: { path: "/" } }] } };
    expect(apply(volumes, other)).toEqual({ spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] } });
  });

  it("share what the patch leaves alone", () => {
    const document = seal({ spec: { containers: containers("a", "b") }, status: { phase: "Pending" } }) as JsonObject;
    const after = applyStrategicMerge(document, { spec: { containers: [{ name: "a", image: "new" }] } }, pod);
    expect(after["status"]).toBe(document["status"]);
    const [, other] = (document["spec"] as JsonObject)["containers"] as readonly Json[];
    expect(((after["spec"] as JsonObject)["containers"] as readonly Json[])[1]).toBe(other);
  });

  it("take a new value without its nulls and without what it would direct", () => {
    const after = apply(
      { spec: {} },
      { spec: { securityContext: { runAsUser: null, fsGroup: 1, a: { $patch: "delete" } } } },
    );
    expect(after).toEqual({ spec: { securityContext: { fsGroup: 1 } } });
  });

  it.each(["__proto__", "constructor", "toString"])("have no special key: %s", (key) => {
    const patch = JSON.parse(`{"metadata":{"labels":{${JSON.stringify(key)}:"x"}}}`) as JsonObject;
    const after = apply({ metadata: { labels: { a: "1" } } }, patch) as {
      metadata: { labels: Record<string, string> };
    };
    expect(Object.entries(after.metadata.labels)).toEqual([
      ["a", "1"],
      [key, "x"],
    ]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

describe("lists with a merge key", () => {
  const before = { spec: { containers: containers("a", "b", "c") } };
  const names = (after: Json): string[] =>
    (after as { spec: { containers: { name: string }[] } }).spec.containers.map(({ name }) => name);

  it("merge elements, add new ones at their place, delete by key", () => {
    expect(names(apply(before, { spec: { containers: [{ name: "b", $patch: "delete" }] } }))).toEqual(["a", "c"]);
    expect(names(apply(before, { spec: { containers: [{ name: "d" }, { name: "b", image: "x" }] } }))).toEqual([
      "d",
      "a",
      "b",
      "c",
    ]);
  });

  it("are replaced when one element says so", () => {
    const patch = { spec: { containers: [{ $patch: "replace" }, { name: "z" }] } };
    expect(names(apply(before, patch))).toEqual(["z"]);
  });

  it("obey $setElementOrder, with and without changes", () => {
    const order = [{ name: "c" }, { name: "a" }];
    expect(names(apply(before, { spec: { "$setElementOrder/containers": order } }))).toEqual(["b", "c", "a"]);
    const patch = {
      spec: { "$setElementOrder/containers": [{ name: "c" }, { name: "n" }], containers: [{ name: "n" }] },
    };
    expect(names(apply(before, patch))).toEqual(["a", "b", "c", "n"]);
  });

  it("with two elements of one key: the first is merged with, a deletion takes both, the others come together", () => {
    const double = { spec: { containers: [{ name: "a", image: "1" }, { name: "b" }, { name: "a", image: "2" }] } };
    const merged = apply(double, { spec: { containers: [{ name: "a", image: "3" }] } });
    expect(merged).toEqual({
      spec: { containers: [{ name: "a", image: "3" }, { name: "a", image: "2" }, { name: "b" }] },
    });
    expect(names(apply(double, { spec: { containers: [{ name: "a", $patch: "delete" }] } }))).toEqual(["b"]);
    expect(names(apply(double, { spec: { containers: [{ name: "b", image: "x" }] } }))).toEqual(["a", "a", "b"]);
  });
});

describe("lists of scalars", () => {
  it("are united, and shrink by their own directive", () => {
    const before = { metadata: { finalizers: ["e.com/a", "e.com/b"] } };
    expect(apply(before, { metadata: { finalizers: ["e.com/c", "e.com/a"] } })).toEqual({
      metadata: { finalizers: ["e.com/c", "e.com/a", "e.com/b"] },
    });
    const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["e.com/a", "e.com/x"] } };
    expect(apply(before, patch)).toEqual({ metadata: { finalizers: ["e.com/b"] } });
    expect(apply({ metadata: {} }, patch)).toEqual({ metadata: {} });
    const ordered = { metadata: { "$setElementOrder/finalizers": ["e.com/b", "e.com/a"] } };
    expect(apply(before, ordered)).toEqual({ metadata: { finalizers: ["e.com/b", "e.com/a"] } });
  });

  it("without a strategy are replaced", () => {
    const before = { spec: { containers: [{ name: "a", args: ["x", "y"] }] } };
    expect(apply(before, { spec: { containers: [{ name: "a", args: ["z"] }] } })).toEqual({
      spec: { containers: [{ name: "a", args: ["z"] }] },
    });
  });
});

describe("refusals", () => {
  const before = {
    metadata: { finalizers: ["a"], ownerReferences: [], labels: { a: "b" } },
    spec: { containers: containers("a") },
  };
  it.each([
    [
      500,
      "map: map[image:nokey] does not contain declared merge key: name",
      { spec: { containers: [{ image: "nokey" }] } },
    ],
    [
      500,
      "unknown patch type: merge in map: map[$patch:merge a:1]",
      { metadata: { labels: { $patch: "merge", a: "1" } } },
    ],
    [
      500,
      "merging lists cannot yet be specified in the patch",
      { spec: { containers: [{ name: "a", $patch: "merge" }] } },
    ],
    [
      500,
      "unknown patch type: odd in map: map[$patch:odd name:a]",
      { spec: { containers: [{ name: "a", $patch: "odd" }] } },
    ],
    [400, "invalid patch format of retainKeys", { metadata: { labels: { $retainKeys: "a" } } }],
    [400, "invalid patch format of retainKeys", { metadata: { labels: { $retainKeys: ["b"], a: "1" } } }],
    [400, "invalid patch format of setElementOrder list", { spec: { $setElementOrder: [] } }],
    [500, "expected a []interface {}, but received a int64", { spec: { $setElementOrder: 1 } }],
    [400, "invalid patch format of primitive list", { metadata: { $deleteFromPrimitiveList: ["a"] } }],
    [500, "expected a []interface {}, but received a string", { spec: { "$setElementOrder/containers": "a" } }],
    [
      500,
      'unable to find api field in struct PodSpec for the json field "bogus"',
      { spec: { "$setElementOrder/bogus": [] } },
    ],
    [500, "list element types are not identical: [[a] [1]]", { metadata: { finalizers: [1] } }],
    [422, "the server rejected our request due to an error in our request", { metadata: { ownerReferences: [["a"]] } }],
  ] as const)("%i %s", (code, message, patch) => {
    expect(errorOf(() => apply(before, patch as unknown as Json))).toMatchObject({ code, message });
  });

  it("an order that the patch does not keep", () => {
    const patch = { spec: { "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "a" }] } };
    const message = "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n";
    expect(errorOf(() => apply(before, patch))).toMatchObject({ code: 500, message });
  });
});

describe("decoded", () => {
  const configMaps = endpoint("v1/configmaps");
  const live = create({ metadata: { name: "a" }, data: { k: "v" } }, configMaps);
  const decode = (text: string, level: "Warn" | "Strict" = "Warn") =>
    decodePatched(readStrategicPatchBody(bytesOf(text), configMaps.target.type), live, configMaps.target, {
      level,
      strictStatus: 422,
    });

  it("shows the patch, not the document", () => {
    expect(decode('{"bogus":1,"metadata":{"nope":{"x":1}}}').warnings).toEqual([
      'unknown field "bogus"',
      'unknown field "metadata.nope"',
    ]);
    const error = errorOf(() => decode('{"metadata":{"nope":{"x":1}},"bogus":1,"data":{"k":"a","k":"b"}}', "Strict"));
    expect(error.message).toBe(
      ' "" is invalid: patch: Invalid value: "map[bogus:1 data:map[k:b] metadata:map[nope:map[x:1]]]": ' +
        'strict decoding error: duplicate field "data.k", unknown field "bogus", unknown field "metadata.nope"',
    );
  });

  it.each([
    ['{"data":{"k":1}}', "cannot convert int64 to string"],
    ['{"data":{"k":true}}', "unrecognized type: string"],
    ['{"data":["a"]}', "cannot restore map from slice"],
    ['{"metadata":{"finalizers":"a"}}', "cannot restore slice from string"],
    ['{"metadata":"a"}', "cannot restore struct from: string"],
  ])("type errors come in other words: %s", (text, message) => {
    const error = errorOf(() => decode(text));
    expect(error.code).toBe(422);
    expect(error.message.endsWith(`: ${message}`)).toBe(true);
  });

  it.each([
    ["{oops", "invalid character 'o' looking for beginning of object key string"],
    ["[1]", "json: cannot unmarshal array into Go value of type map[string]interface {}"],
  ])("no patch at all: %s", (text, message) => {
    expect(errorOf(() => decode(text))).toMatchObject({ code: 400, message });
  });
});

/**
 * A naive two-way diff, written from the documented meaning of the directives and from nothing in the code under test:
 * it knows by heart which of the fields below merge, and by which key.
 */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  env: "name",
  volumes: "name",
  tolerations: "",
};
const scalarLists = new Set(["finalizers"]);

function diff(before: JsonObject, after: JsonObject): JsonObject {
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (jsonEqual(old, value)) continue;
    if (isObject(value) && isObject(old)) patch[key] = diff(old, value);
    else if (Array.isArray(value) && Array.isArray(old) && (mergeKeys[key] ?? "") !== "") {
      Object.assign(patch, diffElements(key, mergeKeys[key] as string, old as JsonObject[], value as JsonObject[]));
    } else if (Array.isArray(value) && Array.isArray(old) && scalarLists.has(key)) {
      const gone = (old as string[]).filter((item) => !(value as string[]).includes(item));
      const come = (value as string[]).filter((item) => !(old as string[]).includes(item));
      if (gone.length > 0) patch[`$deleteFromPrimitiveList/${key}`] = gone;
      if (come.length > 0) patch[key] = come;
      if (value.length > 0) patch[`$setElementOrder/${key}`] = value as Json;
    } else patch[key] = value;
  }
  return patch;
}

function diffElements(field: string, by: string, before: JsonObject[], after: JsonObject[]): JsonObject {
  const changes: JsonObject[] = [];
  for (const element of after) {
    const old = before.find((other) => other[by] === element[by]);
    if (old === undefined) changes.push(element);
    else if (!jsonEqual(old, element)) changes.push({ ...diff(old, element), [by]: element[by] as Json });
  }
  for (const element of before) {
    if (!after.some((other) => other[by] === element[by]))
      changes.push({ [by]: element[by] as Json, $patch: "delete" });
  }
  const order = after.map((element) => ({ [by]: element[by] as Json }));
  return {
    ...(changes.length > 0 && { [field]: changes }),
    ...(order.length > 0 && { [`$setElementOrder/${field}`]: order }),
  };
}

const word = fc.constantFrom("a", "b", "c", "d", "e");
const named = <T extends object>(rest: fc.Arbitrary<T>) =>
  fc.uniqueArray(
    fc.tuple(word, rest).map(([name, fields]) => ({ name, ...fields })),
    { selector: ({ name }) => name, minLength: 1, maxLength: 5 },
  );
const anyPod = fc.record(
  {
    metadata: fc.record(
      {
        labels: fc.dictionary(word, word, { minKeys: 1, maxKeys: 4 }),
        finalizers: fc.uniqueArray(word, { minLength: 1, maxLength: 5 }),
      },
      { requiredKeys: [] },
    ),
    spec: fc.record(
      {
        containers: named(
          fc.record(
            { image: word, args: fc.array(word, { maxLength: 3 }), env: named(fc.record({ value: word })) },
            { requiredKeys: ["image"] },
          ),
        ),
        volumes: named(fc.record({ hostPath: fc.record({ path: word }) })),
        tolerations: fc.array(fc.record({ key: word }), { maxLength: 3 }),
        nodeName: word,
      },
      { requiredKeys: ["containers"] },
    ),
  },
  { requiredKeys: ["spec", "metadata"] },
) as unknown as fc.Arbitrary<JsonObject>;

describe("property", () => {
  it("applying the two-way diff of two objects to the first yields the second, order and all", () => {
    fc.assert(
      fc.property(anyPod, anyPod, (before, after) => {
        expect(apply(before, diff(before, after))).toEqual(after);
      }),
      { seed: 7, numRuns: 600 },
    );
  });

  it("applying a patch without deletions and orders twice is applying it once", () => {
    fc.assert(
      fc.property(anyPod, anyPod, (before, patch) => {
        const once = apply(before, patch);
        expect(apply(once, patch)).toEqual(once);
      }),
      { seed: 8, numRuns: 300 },
    );
  });
});

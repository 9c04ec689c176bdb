import fc from "fast-check";
import publicRows from "json-patch-test-suite/tests.json" with { type: "json" };
import specRows from "json-patch-test-suite/spec_tests.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { jsonEqual } from "./equality.ts";
import { applyJsonPatch, operationsMax, PatchFailure, readJsonPatch } from "./json-patch.ts";
import { errorOf } from "./objects.fixture.ts";
import { seal } from "./seal.ts";

interface Vector {
  readonly comment?: string;
  readonly doc: Json;
  readonly patch: Json;
  readonly expected?: Json;
  readonly error?: string;
  readonly disabled?: boolean;
}

const vectors = [...(publicRows as readonly Vector[]), ...(specRows as readonly Vector[])].filter(
  ({ doc, patch, disabled }) => doc !== undefined && patch !== undefined && disabled !== true,
);

const run = (document: Json, patch: Json): Json => applyJsonPatch(seal(document), readJsonPatch(patch).operations);

describe("the public vectors", () => {
  it("are all here", () => {
    expect(vectors.length).toBeGreaterThanOrEqual(91);
  });

  it.each(vectors.map((row, at) => [`${at} ${row.comment ?? row.error ?? ""}`, row] as const))("%s", (_, row) => {
    const before = JSON.stringify(row.doc);
    if (row.error === undefined) {
      const result = run(row.doc, row.patch);
      if (Object.hasOwn(row, "expected")) expect(jsonEqual(result, row.expected)).toBe(true);
    } else expect(() => run(row.doc, row.patch)).toThrow(PatchFailure);
    expect(JSON.stringify(row.doc)).toBe(before);
  });
});

describe("what is no patch", () => {
  it("is undecodable, too long, or without sense", () => {
    expect(errorOf(() => readJsonPatch({ op: "remove" })).code).toBe(400);
    expect(errorOf(() => readJsonPatch([1])).message).toBe(
      "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
    );
    const test = { op: "test", path: "", value: 1 };
    expect(readJsonPatch(new Array(operationsMax).fill(test)).operations).toHaveLength(operationsMax);
    const long = errorOf(() => readJsonPatch(new Array(operationsMax + 1).fill(test)));
    expect(long.code).toBe(413);
    expect(long.message).toContain("The allowed maximum operations in a JSON patch is 10000, got 10001");
    expect(() => readJsonPatch([{ op: "frobnicate", path: "/a" }])).toThrow(PatchFailure);
    expect(() => readJsonPatch([{ op: "copy", path: "/a" }])).toThrow(PatchFailure);
    expect(() => readJsonPatch([{ op: "remove", path: "/a~2" }])).toThrow(PatchFailure);
  });

  it("names members that no operation has", () => {
    expect(
      readJsonPatch([
        { op: "remove", path: "/a" },
        { op: "remove", path: "/b", foo: 1 },
      ]).unknown,
    ).toEqual(["[1].foo"]);
  });
});

it("happens as a whole or not at all, and shares what it leaves alone", () => {
  const document: JsonObject = seal({ kept: { deep: [1, 2] }, list: [1, { a: 1 }] });
  expect(() =>
    run(document, [
      { op: "add", path: "/list/0", value: 9 },
      { op: "test", path: "/list/0", value: 8 },
    ]),
  ).toThrow(PatchFailure);
  const result = run(document, [{ op: "add", path: "/list/-", value: 3 }]) as JsonObject;
  expect(document["list"]).toHaveLength(2);
  expect(result["kept"]).toBe(document["kept"]);
  expect((result["list"] as readonly Json[])[1]).toBe((document["list"] as readonly Json[])[1]);
});

it("does not let one of two copies change the other", () => {
  const result = run({ a: { x: 1 } }, [
    { op: "add", path: "/a/y", value: 2 },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/b/z", value: 3 },
    { op: "replace", path: "/a/x", value: 9 },
  ]);
  expect(result).toEqual({ a: { x: 9, y: 2 }, b: { x: 1, y: 2, z: 3 } });
});

it("does not let a value of the patch be changed by a later operation", () => {
  const value = { list: [1] };
  const operations = [
    { op: "add", path: "/a", value },
    { op: "add", path: "/a/list/-", value: 2 },
  ];
  expect(run({}, operations)).toEqual({ a: { list: [1, 2] } });
  expect(value).toEqual({ list: [1] });
});

it("has no special keys", () => {
  expect(() => run({}, [{ op: "add", path: "/__proto__/polluted", value: 1 }])).toThrow(PatchFailure);
  expect(() => run({}, [{ op: "remove", path: "/constructor" }])).toThrow(PatchFailure);
  expect(JSON.stringify(run({}, [{ op: "add", path: "/__proto__", value: { a: 1 } }]))).toBe('{"__proto__":{"a":1}}');
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

it("undoes itself: removing what was added gives an equal document", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 }),
      fc.string({ maxLength: 3 }),
      fc.jsonValue({ maxDepth: 2 }),
      (document, key, value) => {
        fc.pre(!Object.hasOwn(document, key));
        const path = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
        const patch = [
          { op: "add", path, value: value as Json },
          { op: "test", path, value: value as Json },
          { op: "remove", path },
        ];
        expect(jsonEqual(run(document as Json, patch), document as Json)).toBe(true);
      },
    ),
    { seed: 13, numRuns: 300 },
  );
});

describe("what an operation costs does not grow with the document", () => {
  const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
    Array.from({ length: count }, (_, at) => make(at));

  it("a map is copied once, however often something is copied into it", () => {
    let listed = 0;
    const ownKeys = (target: object): (string | symbol)[] => {
      listed++;
      return Reflect.ownKeys(target);
    };
    const data = new Proxy(Object.fromEntries(times(1_000, (at) => [`k${at}`, ""])), { ownKeys });
    const copies = times(500, (at) => ({ op: "copy", from: "/name", path: `/data/c${at}` }));
    const patched = applyJsonPatch({ name: "a", data: data as unknown as Json }, readJsonPatch(copies).operations) as {
      readonly data: object;
    };
    expect([Object.keys(patched.data).length, listed]).toEqual([1_500, 1]);
  });

  it.each(["add", "remove"])("a list is copied once, and in blocks, however often %s is at its beginning", (op) => {
    let read = 0;
    const get = (target: object, key: string): unknown => {
      read++;
      return Reflect.get(target, key);
    };
    const list = new Proxy(
      times(20_000, () => 1),
      { get } as ProxyHandler<number[]>,
    );
    const operations = times(5_000, () => ({ op, path: "/list/0", value: 1 }));
    const patched = applyJsonPatch({ list }, readJsonPatch(operations).operations) as { readonly list: unknown[] };
    expect(patched.list.length).toBe(op === "add" ? 25_000 : 15_000);
    expect(read).toBeLessThan(3 * 20_000);
  });
});

import { describe, expect, it } from "vitest";
import type { Json } from "../client/types.ts";
import { type MaskedAnswer, partings } from "./compare.ts";

const answer = (body: Json, status = 200, headers: Record<string, string> = {}): MaskedAnswer => ({
  status,
  headers,
  body,
});
const causes = (a: MaskedAnswer, b: MaskedAnswer): string[] => partings("get", a, b).map(({ cause }) => cause);

const pod = (more: Json): Json => ({ kind: "Pod", metadata: { name: "a" }, ...(more as object) });

describe("partings", () => {
  it("finds none between answers that say the same, in whatever order of fields", () => {
    expect(causes(answer({ a: 1, b: [2] }), answer({ b: [2], a: 1 }))).toEqual([]);
  });

  it("leaves out what follows from another status, and from another kind", () => {
    expect(causes(answer({ a: 1 }, 200), answer({ b: 1 }, 404))).toEqual(["get: status 200 or 404"]);
    expect(causes(answer(pod({})), answer({ kind: "Status", metadata: {} }))).toEqual(["get: Pod or Status"]);
  });

  it.each<[Json, Json, string]>([
    [{ spec: { a: 1 } }, { spec: {} }, "Pod: spec.a only in A"],
    [{ spec: {} }, { spec: { a: 1 } }, "Pod: spec.a only in B"],
    [{ spec: { a: 1 } }, { spec: { a: 2 } }, "Pod: spec.a value differs"],
    [{ spec: { a: null } }, { spec: { a: [] } }, "Pod: spec.a type differs"],
    [{ spec: { a: [1] } }, { spec: { a: [1, 2] } }, "Pod: spec.a count differs"],
    [{ spec: { a: [{ x: 1 }] } }, { spec: { a: [{ x: 2 }] } }, "Pod: spec.a[].x value differs"],
  ])("says how %j and %j part", (a, b, cause) => {
    expect(causes(answer(pod(a)), answer(pod(b)))).toEqual([cause]);
  });

  it("groups one field of one kind, read alone, in a list or told by a watch", () => {
    const [one, other] = [pod({ spec: { a: 1 } }), pod({ spec: { a: 2 } })];
    const inList = (item: Json): Json => ({ kind: "PodList", metadata: {}, items: [item] });
    const told = (item: Json): Json => [{ type: "ADDED", object: item }];
    const bare = (value: number): Json => ({
      kind: "PodList",
      metadata: {},
      items: [{ metadata: { name: "a" }, spec: { a: value } }],
    });
    for (const [a, b] of [
      [one, other],
      [inList(one), inList(other)],
      [told(one), told(other)],
      [bare(1), bare(2)],
    ]) {
      expect(causes(answer(a as Json), answer(b as Json))).toEqual(["Pod: spec.a value differs"]);
    }
  });

  it("tells refusals apart by their reason", () => {
    const refusal = (message: string): MaskedAnswer =>
      answer({ kind: "Status", metadata: {}, reason: "Invalid", message }, 422);
    expect(causes(refusal("x"), refusal("y"))).toEqual(["get: Status Invalid: message value differs"]);
  });

  it("compares the headers that it is given", () => {
    const warned = answer({}, 200, { warning: "299 - x" });
    expect(partings("get", answer({}), warned)).toEqual([
      { cause: "get: header warning", path: "header warning", a: undefined, b: '"299 - x"' },
    ]);
  });

  it.each<[Json, Json, { readonly path: string; readonly a?: string; readonly b?: string }]>([
    [pod({ spec: { a: [{ x: 1 }] } }), pod({ spec: { a: [{ x: 2 }] } }), { path: "spec.a[0].x", a: "1", b: "2" }],
    [{ items: [1, 2, 3] }, { items: [1, 3] }, { path: "items[1…]", a: "[2]", b: "[]" }],
    [[{ type: "ADDED" }], [], { path: "[0…]", a: '[{"type":"ADDED"}]', b: "[]" }],
    [{ items: [pod({})] }, { items: [{ ...(pod({}) as object), kind: "Job" }] }, { path: "items[0].kind", a: '"Pod"' }],
    ["a", "b", { path: "", a: '"a"', b: '"b"' }],
  ])("says where %j and %j part", (a, b, expected) => {
    expect(partings("get", answer(a), answer(b))).toMatchObject([expected]);
  });
});

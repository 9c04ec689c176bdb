import { describe, expect, it } from "vitest";
import type { Json } from "../client/types.ts";
import type { PatchOperation } from "./json-patch.ts";
import { applyLooseJsonPatch } from "./loose-json-patch.ts";

/** As kube-apiserver 1.33 and 1.36 answered; undefined is a 422. */
const observed: readonly (readonly [doc: Json, operation: PatchOperation, result: Json | undefined])[] = [
  [{ o: { a: 1 } }, { op: "replace", path: "/o/b", value: 2 }, { o: { a: 1, b: 2 } }],
  [{ o: {} }, { op: "replace", path: "/o/b", value: 2 }, { o: { b: 2 } }],
  [{}, { op: "replace", path: "/o/b", value: 2 }, undefined],
  [{ o: { a: 1 } }, { op: "remove", path: "/o/b" }, undefined],
  [{ o: { a: 1 } }, { op: "test", path: "/o/b", value: 1 }, undefined],
  [{ o: { a: 1 } }, { op: "test", path: "/o/b", value: null }, { o: { a: 1 } }],
  [{ o: { a: 1 } }, { op: "copy", from: "/o/b", path: "/o/c" }, { o: { a: 1, c: null } }],
  [{ o: { a: 1 } }, { op: "move", from: "/o/b", path: "/o/c" }, undefined],
  [{ l: [1, 2] }, { op: "add", path: "/l/-1", value: 9 }, { l: [1, 2, 9] }],
  [{ l: [1, 2] }, { op: "add", path: "/l/-2", value: 9 }, { l: [1, 9, 2] }],
  [{ l: [1, 2] }, { op: "remove", path: "/l/-1" }, { l: [1] }],
  [{ l: [1, 2] }, { op: "replace", path: "/l/-1", value: 9 }, { l: [1, 9] }],
  [{ l: [1, 2] }, { op: "test", path: "/l/-1", value: 2 }, { l: [1, 2] }],
  [{ l: [1, 2] }, { op: "replace", path: "/l/2", value: 9 }, undefined],
  [{ l: [1, 2] }, { op: "add", path: "/l/3", value: 9 }, undefined],
  [{ l: [1] }, { op: "add", path: "/l/-" }, { l: [1, null] }],
  [{ l: [1] }, { op: "replace", path: "/l/0" }, { l: [null] }],
  [{ o: { a: 1 } }, { op: "add", path: "/o/b" }, { o: { a: 1, b: null } }],
  [{ o: { a: 1 } }, { op: "move", from: "/o", path: "/o/c" }, undefined],
  [{ l: [1, 2] }, { op: "add", path: "/l/01", value: 9 }, { l: [1, 9, 2] }],
  [{ l: [1, 2] }, { op: "add", path: "/l/1e0", value: 9 }, undefined],
];

describe("the loose reading of JSON patches", () => {
  it.each(observed)("%j, %j", (document, operation, result) => {
    expect(applyLooseJsonPatch(document, [operation])).toEqual(result);
  });
});

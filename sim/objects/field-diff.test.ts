import { describe, expect, it } from "vitest";
import { structNamed } from "../../wire/schema.ts";
import type { Json } from "../contract/http-message.ts";
import { diffObjects } from "./field-diff.ts";

/** Values of which no table knows anything, in a field of their own. */
const open = { ...structNamed("core.v1.ConfigMap"), name: "open", open: true as const };
const diff = (before: Json | undefined, after: Json | undefined) =>
  diffObjects(
    open,
    before === undefined ? {} : { spec: before },
    after === undefined ? {} : { spec: after },
    () => false,
  );
const inSpec = (set: object | undefined) => (set === undefined ? undefined : { "f:spec": set });

describe("a value without a type", () => {
  it.each([
    ["a new object", undefined, { a: 1 }, { ".": {}, "f:a": {} }, undefined],
    ["an object that goes", { a: 1 }, undefined, undefined, { ".": {}, "f:a": {} }],
    ["a field that changes", { a: 1, b: 1 }, { a: 2, b: 1 }, { "f:a": {} }, undefined],
    ["an object that becomes a number", { a: { b: 1 } }, 5, {}, { "f:a": { ".": {}, "f:b": {} } }],
    ["an object that becomes a list", { a: 1 }, [1], {}, { "f:a": {} }],
    ["an object that becomes null", { a: 1 }, null, undefined, { "f:a": {} }],
    ["a number that becomes an object", 5, { a: 1 }, { ".": {}, "f:a": {} }, undefined],
    ["a number that becomes null", 5, null, {}, undefined],
    ["null that becomes an object", null, { a: 1 }, { "f:a": {} }, undefined],
    ["an empty object that becomes null", {}, null, {}, undefined],
    ["a list that changes", [1, 2], [1, 3], {}, undefined],
  ])("%s", (_, before, after, changed, removed) => {
    expect(diff(before, after)).toEqual({ changed: inSpec(changed), removed: inSpec(removed) });
  });
});

it.each(["constructor", "toString"])("fields that the table does not name come and go, %s as any", (name) => {
  const bare = {};
  const having = { [name]: { a: 1 } };
  const set = { [`f:${name}`]: { ".": {}, "f:a": {} } };
  expect(diffObjects(open, bare, having, () => false)).toEqual({ changed: set, removed: undefined });
  expect(diffObjects(open, having, bare, () => false)).toEqual({ changed: undefined, removed: set });
});

import { expect, it } from "vitest";
import { mergePatchVectors } from "../../wire/merge-patch-vectors.fixture.ts";
import { mergePatch } from "./merge-patch.ts";

it("does as the vectors of the RFC say", () => {
  for (const [target, patch, result] of mergePatchVectors) expect(mergePatch(target, patch)).toEqual(result);
});

it("does not touch what it is given", () => {
  const target = Object.freeze({ a: Object.freeze({ b: "c" }) });
  expect(mergePatch(target, { a: { b: null } })).toEqual({ a: {} });
  expect(target).toEqual({ a: { b: "c" } });
});

it("takes a field that is undefined for one that is not there", () => {
  expect(mergePatch({ a: 1 }, { a: undefined } as never)).toEqual({ a: 1 });
});

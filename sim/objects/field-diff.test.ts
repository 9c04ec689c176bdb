import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { structNamed, structOfKind, type TypeRow } from "../../wire/schema.ts";
import type { Json } from "../contract/http-message.ts";
import { inTurns } from "../expressions/pace.ts";
import { drained } from "../../wire/steps.ts";
import { diffObjects } from "./field-diff.ts";
import { largeLeafSteps } from "./large-leaves.ts";

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

it("long lists are compared in many turns as at once", () => {
  const pod = structOfKind("v1", "Pod") as TypeRow;
  const containers = ({
    first,
    count,
    image,
    twice,
  }: {
    first: number;
    count: number;
    image: string;
    twice: boolean;
  }) => {
    const items = Array.from({ length: count }, (_, at) => ({
      name: `c${first + at}`,
      ...(at % 3 === 0 ? { image } : {}),
    }));
    return { spec: { containers: twice ? [...items, { name: "c5", image }] : items } };
  };
  const finalizers = ({ first, count }: { first: number; count: number }) => ({
    metadata: { finalizers: Array.from({ length: count }, (_, at) => `a/${first + at}`) },
  });
  const list = fc.record({
    first: fc.integer({ min: 0, max: 9_000 }),
    count: fc.constantFrom(1, 9_000, 12_000),
    image: fc.constantFrom("i", "j"),
    twice: fc.boolean(),
  });
  let longest = 0;
  fc.assert(
    fc.property(list, list, fc.constantFrom(containers, finalizers), (left, right, objectOf) => {
      const [before, after] = [objectOf(left), objectOf(right)];
      const ignores = (): boolean => false;
      const turns = inTurns(() => diffObjects(pod, before, after, ignores));
      let count = 1;
      let step = turns.next();
      for (; step.done !== true; step = turns.next()) count++;
      longest = Math.max(longest, count);
      expect(step.value).toEqual(diffObjects(pod, before, after, ignores));
    }),
    { seed: 1, numRuns: 25 },
  );
  expect(longest).toBeGreaterThan(3);
});

it("a set whose change is known is so in each turn, wherever the comparison is broken off", () => {
  const pod = structOfKind("v1", "Pod") as TypeRow;
  const object = (first: number) => ({
    metadata: { finalizers: Array.from({ length: 9_000 }, (_, at) => `a/${first + at}`) },
    spec: { containers: Array.from({ length: 9_000 }, (_, at) => ({ name: `c${2 * first + at}` })) },
  });
  const ignores = (): boolean => false;
  const [before, after] = [object(0), object(1_000)];
  const plain = diffObjects(pod, before, after, ignores);
  drained(largeLeafSteps(before, after, true));
  expect(drained(inTurns(() => diffObjects(pod, before, after, ignores)))).toEqual(plain);
  // What is known is for one comparison: the list may be another after that.
  after.metadata.finalizers.pop();
  expect(diffObjects(pod, before, after, ignores)).not.toEqual(plain);
});

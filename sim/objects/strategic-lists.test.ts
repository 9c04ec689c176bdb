import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { inTurns } from "../expressions/pace.ts";
import { counted } from "./objects.fixture.ts";
import { type ListMerge, mergeLists } from "./strategic-lists.ts";

const times = (count: number, make: (at: number) => Json): Json[] => Array.from({ length: count }, (_, at) => make(at));
const named = (at: number): Json => ({ name: `n${at}`, value: "old" });
const rules = { mergeKey: "name", merges: true, mergeElement: (_: JsonObject, by: JsonObject) => by };

const merges: readonly (readonly [string, (length: number) => Partial<ListMerge>, left: (length: number) => number])[] =
  [
    [
      "merged",
      (length) => ({ patch: times(length, (at) => ({ name: `n${length - at}`, value: "new" })) }),
      (all) => all + 1,
    ],
    ["taken away", (length) => ({ patch: times(length, (at) => ({ name: `n${at}`, $patch: "delete" })) }), () => 0],
    [
      "scalars, taken away",
      (length) => ({ original: times(length, String), patch: times(length, String), isDeletion: true, mergeKey: "" }),
      () => 0,
    ],
  ];

it.each(merges)("elements are looked up, however many there are: %s", (_, make, left) => {
  const readsOf = (length: number): number => {
    let reads = 0;
    const { original = times(length, named), patch, ...more } = make(length);
    const view = (list: readonly Json[] | undefined) => counted(list, () => reads++);
    const merged = mergeLists({ ...rules, ...more, original: view(original), patch: view(patch) });
    expect(merged).toHaveLength(left(length));
    return reads;
  };
  expect(readsOf(400) / readsOf(100)).toBeLessThan(6); // sixteen if each were compared with each; some for the sorting
});

/** The order of elements as it is told: those that are wanted in their order, others as stored, and neighbours woven together. */
function plainlyArranged(merged: readonly Json[], wanted: readonly Json[], stored: readonly Json[]): readonly Json[] {
  const sortedBy = (list: readonly Json[], order: readonly Json[]): readonly Json[] =>
    list.toSorted((left, right) => Math.max(0, order.indexOf(left)) - Math.max(0, order.indexOf(right)));
  const others = [
    ...sortedBy(
      merged.filter((each) => !wanted.includes(each)),
      stored,
    ),
  ];
  const result: Json[] = [];
  for (const each of sortedBy(
    merged.filter((element) => wanted.includes(element)),
    wanted,
  )) {
    const rank = stored.indexOf(each);
    const isBefore = (other: Json | undefined): boolean =>
      other !== undefined && stored.includes(other) && stored.indexOf(other) < rank;
    while (isBefore(others[0])) result.push(others.shift() as Json);
    result.push(each);
  }
  return [...result, ...others];
}

it.each([9, 40])("elements are ordered as is told, of up to %i", (most) => {
  const scalars = fc.uniqueArray(fc.integer({ min: 0, max: most + 4 }), { maxLength: most });
  const repeated = fc.array(fc.integer({ min: 0, max: most + 4 }), { maxLength: most });
  fc.assert(
    fc.property(repeated, scalars, scalars, (stored, patch, order) => {
      fc.pre(stored.length + patch.length > 0);
      const wanted = [...order.filter((each) => !patch.includes(each)), ...patch];
      const both = plainlyArranged([...new Set([...stored, ...patch])], patch, stored);
      const one = { ...rules, mergeKey: "", original: stored };
      expect(mergeLists({ ...one, patch })).toEqual(stored.length + patch.length === 0 ? [] : both);
      expect(mergeLists({ ...one, patch, order: wanted })).toEqual(
        plainlyArranged(stored.length + patch.length === 0 ? [] : both, wanted, stored),
      );
    }),
    { seed: 3, numRuns: 300 },
  );
});

it("elements with keys are ordered as scalars are that stand for them", () => {
  const keys = fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { maxLength: 18 });
  const objects = (list: readonly number[]): JsonObject[] => list.map((name) => ({ name }));
  fc.assert(
    fc.property(keys, keys, (stored, patch) => {
      fc.pre(stored.length > 0 || patch.length > 0);
      const merged = mergeLists({ ...rules, original: objects(stored), patch: objects(patch) });
      const plain = plainlyArranged([...new Set([...stored, ...patch])], patch, stored);
      expect(merged).toEqual(objects(plain as number[]));
    }),
    { seed: 4, numRuns: 300 },
  );
});

it("a long list is merged in turns as at once", () => {
  const merge: ListMerge = {
    ...rules,
    mergeElement: (element, by) => ({ ...element, ...by }),
    original: times(30_000, (at) => ({ name: `n${at}`, a: at })),
    patch: times(30_000, (at) => ({ name: `n${(at * 7) % 40_000}`, [`b${at % 2}`]: at })),
  };
  const turns = inTurns(() => mergeLists(merge));
  let turnCount = 1;
  let step = turns.next();
  for (; step.done !== true; step = turns.next()) turnCount++;
  expect(turnCount).toBeGreaterThanOrEqual(3);
  expect(step.value).toEqual(mergeLists(merge));
  expect(step.value).toHaveLength(new Set([...(merge.original ?? []), ...(merge.patch ?? [])].map(nameOf)).size);
});

const nameOf = (element: Json): Json | undefined => (element as JsonObject)["name"];

import { expect, it } from "vitest";
import type { Json, JsonObject } from "../contract/http-message.ts";
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

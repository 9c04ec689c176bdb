import { describe, expect, it } from "vitest";
import { allNamed, named } from "./named.ts";

/** Items whose names are counted when they are read. */
function listOf(count: number): {
  readonly list: { readonly name: string; readonly at: number }[];
  readonly reads: () => number;
} {
  let reads = 0;
  const list = Array.from({ length: count }, (_, at) => ({
    at,
    get name() {
      reads++;
      return `c${at % (count / 2)}`;
    },
  }));
  return { list, reads: () => reads };
}

describe.each([4, 16, 18, 2_000])("of %i items, each name twice", (count) => {
  const { list, reads } = listOf(count);

  it("finds the first and all of a name, in their order", () => {
    expect(named(list, "c1")?.at).toBe(1);
    expect(allNamed(list, "c1").map(({ at }) => at)).toEqual([1, 1 + count / 2]);
    expect([named(list, "none"), allNamed(list, "none"), named(undefined, "c1")]).toEqual([undefined, [], undefined]);
  });

  it("reads each name a few times at most, however many are looked for", () => {
    const before = reads();
    for (let at = 0; at < count; at++) named(list, `c${at % (count / 2)}`);
    expect(reads() - before).toBeLessThanOrEqual(16 * count);
  });
});

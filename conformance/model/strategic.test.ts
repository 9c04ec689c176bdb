import { describe, expect, it } from "vitest";
import { type Element, judgeMerged, listDifference } from "./strategic.ts";

const list = (...texts: string[]): Element[] =>
  texts.map((text) => ({ name: text[0] as string, value: text.slice(1) }));

describe("listDifference", () => {
  it("names what changes, what goes, and the order", () => {
    expect(listDifference(list("a1", "b1", "c1"), list("c2", "a1"), "env")).toEqual({
      "$setElementOrder/env": [{ name: "c" }, { name: "a" }],
      env: [
        { name: "c", value: "2" },
        { name: "b", $patch: "delete" },
      ],
    });
  });

  it("removes a field that the later element lacks, and is empty between lists without elements", () => {
    expect(listDifference(list("a1"), [{ name: "a" }], "env")["env"]).toEqual([{ name: "a", value: null }]);
    expect(listDifference([], [], "env")).toEqual({});
  });
});

describe("judgeMerged", () => {
  const before = list("a1", "b1", "c1");
  const patch: Element[] = [
    { name: "b", value: "2" },
    { name: "d", value: "1" },
    { name: "c", $patch: "delete" },
  ];

  it("accepts the merged list, wherever new elements stand", () => {
    expect(judgeMerged(before, patch, list("a1", "b2", "d1"))).toBeUndefined();
    expect(judgeMerged(before, patch, list("d1", "b2", "a1"))).toBeUndefined();
  });

  it("accepts what a named element keeps, loses by null, or is when it was there twice", () => {
    const wide: Element[] = [{ name: "a", value: "1", more: "x" }];
    const narrow: Element[] = [{ name: "a", value: "2" }];
    expect(judgeMerged(wide, narrow, [{ name: "a", value: "2", more: "x" }])).toBeUndefined();
    expect(judgeMerged(wide, narrow, narrow)).toBeDefined();
    expect(judgeMerged(wide, [{ name: "a", value: null }], [{ name: "a", more: "x" }])).toBeUndefined();
    expect(judgeMerged(list("a1", "a2", "b1"), list("a3"), list("a3", "a2", "b1"))).toBeUndefined();
    expect(judgeMerged(list("b1"), [], [{ value: "1", name: "b" }])).toBeUndefined();
  });

  it("accepts that elements of one name come in another order, as long as all are there", () => {
    const twice = list("a1", "a2", "b1");
    expect(judgeMerged(twice, [{ name: "b", value: "2" }], list("b2", "a2", "a1"))).toBeUndefined();
    expect(judgeMerged(twice, [{ name: "b", value: "2" }], list("b2", "a1"))).toBeDefined();
  });

  it("rejects what was not merged, not deleted, lost, doubled or put in another order", () => {
    for (const after of [
      list("a1", "b1", "d1"),
      list("a1", "b2", "c1", "d1"),
      list("b2", "d1"),
      list("a1", "b2", "b2", "d1"),
      list("a1", "b2"),
      list("a2", "b2", "d1"),
    ]) {
      expect(judgeMerged(before, patch, after)).toBeDefined();
    }
    expect(judgeMerged(list("a1", "b1"), [], list("b1", "a1"))).toBeDefined();
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { IndexRanges } from "./index-ranges.ts";

it("reads ranges and writes them, two in a row as two", () => {
  const ranges = new IndexRanges("0-2,4,5,7");
  expect([ranges.size, ranges.text]).toEqual([6, "0-2,4,5,7"]);
  ranges.add(3);
  ranges.add(9);
  expect([ranges.size, ranges.text]).toEqual([8, "0-5,7,9"]);
  expect(new IndexRanges("").text).toBe("");
  expect(new IndexRanges("a,3-1,-2,,1-2-3,5").text).toBe("5");
});

it("holds two thousand million of them as one", () => {
  const ranges = new IndexRanges("0-1999999999,2000000001");
  expect([ranges.size, ranges.freeFrom(0), ranges.freeFrom(2_000_000_001)]).toEqual([
    2_000_000_001, 2_000_000_000, 2_000_000_002,
  ]);
});

it("is a set of numbers", () => {
  const numbers = fc.array(fc.nat({ max: 40 }), { maxLength: 20 });
  fc.assert(
    fc.property(numbers, numbers, (first, second) => {
      const ranges = new IndexRanges(first.join(","));
      for (const index of second) ranges.add(index);
      const all = new Set([...first, ...second]);
      expect(ranges.size).toBe(all.size);
      for (let index = 0; index < 45; index++) expect(ranges.has(index)).toBe(all.has(index));
      let free = 0;
      while (all.has(free)) free++;
      expect(ranges.freeFrom(0)).toBe(free);
      const again = new IndexRanges(ranges.text);
      expect([again.text, again.size]).toEqual([ranges.text, all.size]);
    }),
    { seed: 3, numRuns: 500 },
  );
});

it("writes what it has read as it writes anything", () => {
  const part = fc.oneof(
    fc.nat({ max: 12 }).map(String),
    fc.tuple(fc.nat({ max: 12 }), fc.nat({ max: 4 })).map(([first, more]) => `${first}-${first + more}`),
    fc.constantFrom("", "a", "01", "1-02", "3-1", "1-2-3", "-2", "2-", "1234567890123456", " 1"),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const text = parts.join(",");
      const ranges = new IndexRanges(text);
      // A part that is none is passed over, and what is read is not what is written.
      const written = new IndexRanges(`${text},x`);
      expect([ranges.text, ranges.size]).toEqual([written.text, written.size]);
      const naive = parts.flatMap((each) => {
        const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(each) ?? [];
        return first === undefined
          ? []
          : Array.from({ length: Math.max(0, Number(last) - Number(first) + 1) }, (_, at) => Number(first) + at);
      });
      expect(ranges.size).toBe(new Set(naive).size);
    }),
    { seed: 4, numRuns: 2_000 },
  );
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { compareBytes } from "../../wire/go-strings.ts";
import { SortedIndex } from "./sorted-index.ts";

/** Keys that count up, keys in no order, and keys for which UTF-16 and UTF-8 order differently. */
const key = fc.oneof(
  fc.nat({ max: 3_000 }).map((number) => `name-${number}`),
  fc.nat({ max: 3_000 }).map((number) => `name-${String(number).padStart(4, "0")}`),
  fc.constantFrom("\uffee", "\u{1f600}", "name-\ue000", "name-\u{10000}", ""),
);

const step = fc.oneof(
  fc.record({ is: fc.constant("run" as const), from: fc.nat({ max: 3_000 }), count: fc.nat({ max: 700 }) }),
  fc.record({ is: fc.constant("insert" as const), key }),
  fc.record({ is: fc.constant("remove" as const), nth: fc.nat() }),
);

it("keeps the order of bytes, whatever comes and goes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), key, key, (steps, left, right) => {
      const index = new SortedIndex<{ readonly key: string }>();
      const held = new Set<string>();
      const insert = (added: string): void => {
        if (held.has(added)) return;
        held.add(added);
        index.insert({ key: added });
      };
      for (const taken of steps) {
        if (taken.is === "insert") insert(taken.key);
        else if (taken.is === "run") for (let at = 0; at < taken.count; at++) insert(`name-${taken.from + at}`);
        else if (held.size > 0) {
          const gone = [...held][taken.nth % held.size] as string;
          held.delete(gone);
          index.remove(gone);
        }
      }
      const [start, end] = [left, right].sort(compareBytes) as [string, string];
      const expected = [...held].sort(compareBytes).filter((each) => {
        return compareBytes(start, each) <= 0 && (end === "" || compareBytes(each, end) < 0);
      });
      const found: string[] = [];
      index.scan(start, end, (item) => {
        found.push(item.key);
        return true;
      });
      expect(found).toEqual(expected);
      expect(index.count(start, end)).toBe(expected.length);
      expect(index.size).toBe(held.size);
    }),
    { seed: 3, numRuns: 200 },
  );
});

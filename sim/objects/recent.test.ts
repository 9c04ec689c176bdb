import fc from "fast-check";
import { expect, it } from "vitest";
import { Recent } from "./recent.ts";

it("remembers at least as many of those asked for last as a half holds, never a wrong value, and at most two halves", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(20), { maxLength: 200 }), (countMax, asked) => {
      const keys = Array.from({ length: 21 }, (_, at) => ({ at }));
      const recent = new Recent<object, number>(countMax);
      const lately: number[] = [];
      for (const at of asked) {
        const key = keys[at] as object;
        const found = recent.get(key);
        const distinct = new Set(lately.toReversed());
        if ([...distinct].slice(0, countMax).includes(at)) expect(found).toBe(at);
        else expect([undefined, at]).toContain(found);
        if (found === undefined) recent.set(key, at);
        lately.push(at);
      }
      const kept = keys.filter((key) => recent.get(key) !== undefined).length;
      expect(kept).toBeLessThanOrEqual(2 * countMax);
    }),
    { seed: 1 },
  );
});

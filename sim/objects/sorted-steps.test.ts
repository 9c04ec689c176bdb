import fc from "fast-check";
import { expect, it } from "vitest";
import { sortedInSteps } from "./sorted-steps.ts";

function counted(
  texts: readonly string[],
  perTurn: number,
): { readonly sorted: readonly string[]; readonly stops: number } {
  const steps = sortedInSteps(texts, perTurn);
  for (let stops = 0; ; stops++) {
    const { done, value } = steps.next();
    if (done === true) return { sorted: value, stops };
  }
}

it("sorts as the engine does, whatever a turn is", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 3, unit: "binary" })),
      fc.integer({ min: 1, max: 9 }),
      (texts, perTurn) => {
        expect(counted(texts, perTurn).sorted).toEqual(texts.toSorted());
      },
    ),
    { seed: 11 },
  );
});

it("stops after each part, and not at all where there is nothing to do", () => {
  const texts = Array.from({ length: 100_000 }, (_, at) => `k${(at * 7919) % 100_003}`);
  const { stops } = counted(texts, 8_192);
  expect(stops).toBeGreaterThan(12 + 4 * 12); // thirteen parts, merged in four rounds
  expect(stops).toBeLessThan(100);
  expect(counted(texts.toSorted(), 8_192).stops).toBe(0);
});

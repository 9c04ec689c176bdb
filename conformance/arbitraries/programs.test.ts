import { describe, expect, it } from "vitest";
import { anyWriters, wholeLife } from "./programs.ts";

/** Programs that a library of properties did not draw itself are made smaller only where they lie among those that it may draw. */
describe("a whole life as an example", () => {
  it.each([true, false])("can be made smaller, whether answers may be lost or not: %s", (cuts) => {
    const writers = anyWriters({ writersMax: 2, stepsMax: wholeLife.length, cuts });
    expect(writers.canShrinkWithoutContext([wholeLife])).toBe(true);
    expect([...writers.shrink([wholeLife], undefined)].length).toBeGreaterThan(0);
    const lost = wholeLife.map((step) => ({ ...step, cut: true }));
    expect(writers.canShrinkWithoutContext([lost])).toBe(cuts);
  });

  it("can not where programs are shorter", () => {
    const shorter = anyWriters({ writersMax: 2, stepsMax: wholeLife.length - 1, cuts: false });
    expect(shorter.canShrinkWithoutContext([wholeLife])).toBe(false);
  });
});

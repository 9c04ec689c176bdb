import { describe, expect, it } from "vitest";
import { allMasks, type Hint, type Hints, mergeHints, nodesOf, type TopologyPolicy } from "./hints.ts";

const hint = (nodes: number | undefined, isPreferred = true): Hint => ({ nodes, isPreferred });
const far = (one: number, other: number): number => (one === other ? 10 : 20);

function merged(policy: TopologyPolicy, resources: readonly Hints[], whole = 0b11) {
  const { hint: best, isAdmitted } = mergeHints(resources, whole, { policy, prefersClosest: false, distance: far });
  return [best.nodes, best.isPreferred, isAdmitted];
}

/** Two nodes, as in the published agent's own cases: 1 and 2 are a node each, 3 is both. */
describe("hints of several resources", () => {
  it.each<readonly [what: string, resources: readonly Hints[], nodes: number | undefined, isPreferred: boolean]>([
    ["nobody cares", [undefined], 0b11, true],
    ["there is no way for one", [[]], 0b11, false],
    ["one wants a node", [[hint(1)]], 1, true],
    ["two want the same", [[hint(1)], [hint(1)]], 1, true],
    ["one of two wants", [[hint(1)], undefined], 1, true],
    ["two want others", [[hint(1)], [hint(2)]], 0b11, false],
    ["one has a choice", [[hint(1), hint(2)], [hint(2)]], 2, true],
    [
      "both have: the lower",
      [
        [hint(1), hint(2)],
        [hint(1), hint(2)],
      ],
      1,
      true,
    ],
    [
      "narrow before wide",
      [
        [hint(1), hint(3, false)],
        [hint(1), hint(3, false)],
      ],
      1,
      true,
    ],
    ["one only fits on both", [[hint(1), hint(2), hint(3, false)], [hint(3)]], 3, false],
    ["both only fit on both", [[hint(3)], [hint(3)]], 3, true],
    ["no way for one of two", [[hint(1)], []], 1, false],
  ])("%s", (_what, resources, nodes, isPreferred) => {
    expect(merged("best-effort", resources)).toEqual([nodes, isPreferred, true]);
    expect(merged("restricted", resources)[2]).toBe(isPreferred);
  });

  it("single-numa-node only takes single nodes that are preferred", () => {
    expect(merged("single-numa-node", [[hint(1), hint(3, false)], [hint(1)]])).toEqual([1, true, true]);
    expect(merged("single-numa-node", [[hint(3)]])).toEqual([undefined, false, false]);
    expect(merged("single-numa-node", [[hint(1)], [hint(2)]])).toEqual([undefined, false, false]);
    expect(merged("single-numa-node", [undefined])).toEqual([undefined, true, true]);
  });

  it("are not multiplied out: many resources with many hints are no matter", () => {
    const many = allMasks([0, 1, 2, 3, 4, 5, 6, 7]).map((mask) => hint(mask, nodesOf(mask).length === 1));
    expect(merged("restricted", [many, many, many, many], 0xff)).toEqual([1, true, true]);
  });
});

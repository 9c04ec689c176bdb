import fc from "fast-check";
import { expect, it } from "vitest";
import { isTolerated, secondsTolerated, type Taint, type Toleration } from "./tolerations.ts";

function tolerates({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: Taint): boolean {
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (key !== "" && value === (taint.value ?? ""));
}

/** How long one taint is tolerated, by looking at all; undefined: not at all. */
function plainly(taint: Taint, tolerations: readonly Toleration[]): number | undefined {
  const seconds = tolerations
    .filter((each) => tolerates(each, taint))
    .map(({ tolerationSeconds = Infinity }) => Math.max(0, tolerationSeconds));
  return seconds.length === 0 ? undefined : Math.min(...seconds);
}

const word = fc.constantFrom("a", "b", "c");
const effect = fc.constantFrom("NoSchedule", "NoExecute");
const taint: fc.Arbitrary<Taint> = fc.record({ key: word, value: word, effect }, { requiredKeys: ["key", "effect"] });
const toleration: fc.Arbitrary<Toleration> = fc.record(
  {
    key: fc.constantFrom("a", "b", "d"),
    operator: fc.constantFrom("Equal", "Exists"),
    value: word,
    effect,
    tolerationSeconds: fc.integer({ min: -1, max: 100 }),
  },
  { requiredKeys: [] },
);

it("tolerates what one of them does, be they few or many", () => {
  fc.assert(
    fc.property(
      fc.array(taint, { maxLength: 4 }),
      fc.array(toleration, { maxLength: 8 }),
      fc.boolean(),
      (taints, few, isMany) => {
        const others: readonly Toleration[] = isMany
          ? Array.from({ length: 40 }, (_, at) => ({ key: `other-${at}`, operator: "Exists" }))
          : [];
        const tolerations = [...few, ...others];
        for (const each of taints)
          expect(isTolerated(each, tolerations)).toBe(plainly(each, tolerations) !== undefined);
        const seconds = taints.map((each) => plainly(each, tolerations) ?? 0);
        expect(secondsTolerated(taints, tolerations)).toBe(Math.min(Infinity, ...seconds));
      },
    ),
    { seed: 9, numRuns: 1_000 },
  );
});

it("finds those of a key among a hundred thousand, and looks once at those without one", () => {
  const tolerations: readonly Toleration[] = Array.from({ length: 100_000 }, (_, at) =>
    at % 2 === 0 ? { key: `k${at}`, operator: "Exists" } : { operator: "Exists", effect: "PreferNoSchedule" },
  );
  const taints = Array.from({ length: 100_000 }, (_, at) => ({ key: `k${at}`, effect: "NoSchedule" }));
  expect(taints.filter((each) => isTolerated(each, tolerations))).toHaveLength(50_000);
});

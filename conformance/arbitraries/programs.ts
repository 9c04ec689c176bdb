import fc from "fast-check";
import type { Base, WriteStep } from "../model/write-step.ts";
import { anyName, anyTeam } from "./config-maps.ts";

const anyBase = fc.constantFrom<Base>("current", "current", "stale", "none");

/** Any step. `cuts`: one in ten loses its answer. */
export function anyStep(options: { readonly cuts: boolean } = { cuts: false }): fc.Arbitrary<WriteStep> {
  const cut = options.cuts
    ? fc.nat(9).map(
        (draw) => draw === 9,
        (cut) => (cut === true ? 9 : 0), // examples are made smaller as well
      )
    : fc.constant(false);
  const named = { name: anyName, cut };
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("create" as const), team: anyTeam, ...named }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("put" as const), team: anyTeam, base: anyBase, ...named }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("merge-patch" as const), team: anyTeam, base: anyBase, ...named }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("json-patch" as const), ...named }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("delete" as const), ...named }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("get" as const), ...named }) },
  );
}

/** One program a writer; the writers run at the same time. */
export function anyWriters(options: {
  readonly writersMax: number;
  readonly stepsMax: number;
  readonly cuts: boolean;
}): fc.Arbitrary<readonly (readonly WriteStep[])[]> {
  const steps = fc.array(anyStep({ cuts: options.cuts }), { minLength: 1, maxLength: options.stepsMax });
  return fc.array(steps, { minLength: 1, maxLength: options.writersMax });
}

/** A program in which everything happens once that watches stumble over: a life, a change of team, a second life. */
export const wholeLife: readonly WriteStep[] = [
  { do: "create", name: "a", team: "red", cut: false },
  { do: "create", name: "aa", team: "blue", cut: false },
  { do: "merge-patch", name: "a", team: "blue", base: "current", cut: false },
  { do: "put", name: "aa", team: "red", base: "current", cut: false },
  { do: "delete", name: "a", cut: false },
  { do: "create", name: "a", team: "red", cut: false },
  { do: "delete", name: "aa", cut: false },
];

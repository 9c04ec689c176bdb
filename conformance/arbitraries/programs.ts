import fc from "fast-check";
import { anyName, anyTeam, type Team } from "./config-maps.ts";

/** Which version a write names: the newest that any writer knows, one before that, or none. */
export type Base = "current" | "stale" | "none";

/** One write of a program. Data is a value of its own in every write, so that no two writes look alike. */
export type WriteStep = (
  | { readonly do: "create"; readonly name: string; readonly team: Team }
  | { readonly do: "put"; readonly name: string; readonly team: Team; readonly base: Base }
  | { readonly do: "merge-patch"; readonly name: string; readonly team: Team; readonly base: Base }
  | { readonly do: "json-patch"; readonly name: string }
  | { readonly do: "delete"; readonly name: string }
  | { readonly do: "get"; readonly name: string }
) & {
  /** Go away right after sending. */
  readonly cut: boolean;
};

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

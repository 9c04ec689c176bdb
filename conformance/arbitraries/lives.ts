/** Random lives of one object of any type: writes by every verb, through the object and its status, and time between them. */
import fc from "fast-check";

const lifeVerbs = ["put", "merge", "json", "strategic", "apply"] as const;
type LifeVerb = (typeof lifeVerbs)[number];

/** What a write changes. `nothing` is said in one of several ways, some of them odd. */
const lifeChanges = ["value", "label", "status", "nothing"] as const;
type LifeChange = (typeof lifeChanges)[number];

export interface LifeWrite {
  readonly do: "write";
  readonly verb: LifeVerb;
  readonly changes: LifeChange;
  readonly through: "object" | "status";
  readonly version: "none" | "current" | "stale";
  readonly dry: boolean;
  /** Which of the ways to say nothing, or to write what is written. */
  readonly spelling: number;
  /** Time that passes before. */
  readonly afterSeconds: number;
}

export interface LifeDelete {
  readonly do: "delete";
  readonly precondition: "none" | "current" | "stale" | "other uid";
  readonly dry: boolean;
  readonly held: boolean;
}

export type LifeStep = LifeWrite | LifeDelete;

const anyWrite: fc.Arbitrary<LifeWrite> = fc.record({
  do: fc.constant("write" as const),
  verb: fc.constantFrom(...lifeVerbs),
  changes: fc.constantFrom(...lifeChanges),
  through: fc.constantFrom("object", "object", "status"),
  version: fc.constantFrom("none", "none", "current", "stale"),
  dry: fc.nat(4).map((draw) => draw === 4),
  spelling: fc.nat(11),
  afterSeconds: fc.constantFrom(0, 0, 0, 1, 61, 3601),
});

const anyDelete: fc.Arbitrary<LifeDelete> = fc.record({
  do: fc.constant("delete" as const),
  precondition: fc.constantFrom("none", "current", "stale", "other uid"),
  dry: fc.nat(3).map((draw) => draw === 3),
  held: fc.boolean(),
});

export const anyLife: fc.Arbitrary<readonly LifeStep[]> = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<LifeStep>[]>(
    { weight: 7, arbitrary: anyWrite },
    { weight: 1, arbitrary: anyDelete },
  ),
  { minLength: 2, maxLength: 8 },
);

/**
 * Lives in which every verb meets every change, way, version and dryness at least once, for each place of a type among
 * `count`: what random programs meet only now and then, each run meets.
 */
export function coveringLives(count: number): readonly (readonly LifeStep[])[] {
  const versions = ["none", "stale", "current"] as const;
  return Array.from({ length: count }, (_, place) => {
    const steps: LifeStep[] = [];
    for (const [row, verb] of lifeVerbs.entries()) {
      for (const [column, changes] of lifeChanges.entries()) {
        const draw = place + row * lifeChanges.length + column;
        const through = changes === "status" && draw % 3 !== 0 ? "status" : "object";
        const version = versions[(draw + row) % versions.length] as (typeof versions)[number];
        steps.push({
          do: "write",
          verb,
          changes,
          through,
          version,
          dry: draw % 5 === 4,
          spelling: draw,
          afterSeconds: draw % 4 === 1 ? 1 : 0,
        }); // prettier-ignore
      }
    }
    for (const afterSeconds of [0, 1, 61]) {
      steps.push({
        do: "write",
        verb: "apply",
        changes: "nothing",
        through: "object",
        version: "none",
        dry: false,
        spelling: 0,
        afterSeconds,
      }); // prettier-ignore
    }
    steps.push({ do: "delete", precondition: "other uid", dry: false, held: false });
    steps.push({ do: "delete", precondition: "stale", dry: false, held: false });
    steps.push({ do: "delete", precondition: "current", dry: place % 2 === 0, held: place % 3 === 0 });
    return steps;
  });
}

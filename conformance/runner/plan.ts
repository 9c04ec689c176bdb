import type { SuiteLaw } from "../../reports/schema/suite-report.ts";
import { isUnjudged, type Requirement, type UnjudgedRequirement } from "../requirements/rows.ts";
import type { Check } from "./define-check.ts";
import { areaOf, meansNothing, type NamePattern, namePattern } from "./name-pattern.ts";

export interface Selection {
  /** Names of checks, requirements or areas; `*` stands for any characters, as in `watch.*`. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly law: SuiteLaw;
  /** The share of the checks that is run, every `count`-th from `index`, which counts from 1. Default all. */
  readonly shard?: Shard | undefined;
  /** False leaves out the checks that wait until the target forgets. */
  readonly aged: boolean;
}

export interface Shard {
  readonly index: number;
  readonly count: number;
}

export interface Plan {
  /** In the order of the tables. */
  readonly requirements: readonly Requirement[];
  /** In the order of the registry: to run. */
  readonly checks: readonly Check[];
  /** In scope, but a person asked to leave them out. */
  readonly skipped: readonly Check[];
  /** Rows in scope that this run does not judge, each with the reason. */
  readonly unjudged: readonly UnjudgedRequirement[];
  readonly partial: boolean;
}

/** The law `must` is what the documents promise; what is only observed of implementations is left open by them. */
export const isOfLaw = (law: SuiteLaw, row: Pick<Requirement, "level"> | undefined): boolean =>
  law === "observed" || row?.level !== "observed";

/**
 * `only`, `law` and `aged` say what the run is about; `skip` leaves things out of it, which then stay unproven.
 * Throws when a word means nothing that is judged: a typing error must not pass.
 */
export function makePlan(rows: ReadonlyMap<string, Requirement>, checks: readonly Check[], selection: Selection): Plan {
  const { aged, law } = selection;
  for (const word of [...selection.only, ...selection.skip]) requireMeaning(word, rows, checks);
  const [only, skip] = [selection.only.map(namePattern), selection.skip.map(namePattern)];
  const inLaw = (row: Requirement | undefined) => isOfLaw(law, row);
  const { index: share, count: shares } = selection.shard ?? { index: 1, count: 1 };
  const inScope = checks
    .filter(
      (check) =>
        check.requirements.some((id) => inLaw(rows.get(id))) &&
        (only.length === 0 || only.some((word) => means(word, check))),
    )
    .filter((_, at) => at % shares === share - 1);
  const wanted = inScope.filter((check) => aged || check.kind !== "aged");
  const skipped = wanted.filter((check) => skip.some((word) => means(word, check)));
  // Requirements asked for by name are alone in scope, though their checks judge others on the way.
  const narrow = only.length > 0 && only.every((word) => [...rows.keys()].some(word) && !checks.some(named(word)));
  const inSight = [...rows.values()].filter((row) => inLaw(row) && (!narrow || only.some((word) => word(row.id))));
  const judgedBy = (chosen: readonly Check[]) => {
    const ids = new Set(chosen.flatMap((check) => check.requirements));
    return inSight.filter((row) => ids.has(row.id));
  };
  const requirements = judgedBy(wanted);
  const leftOut = judgedBy(inScope).filter((row) => !requirements.includes(row));
  return {
    requirements,
    checks: wanted.filter((check) => !skipped.includes(check)),
    skipped,
    unjudged: [
      ...leftOut.map((row) => ({ ...row, judged: "level", why: leftOutWhy }) as const),
      ...(only.length > 0 ? [] : inSight.filter(isUnjudged)),
    ],
    partial: only.length > 0 || shares > 1 || law === "must" || leftOut.length > 0,
  };
}

const leftOutWhy = "It is shown by waiting until the target forgets; the level full does.";

function means(word: NamePattern, check: Check): boolean {
  return named(word)(check) || check.requirements.some((id) => word(id) || word(areaOf(id)));
}

const named = (word: NamePattern) => (check: Check) => word(check.id) || word(check.area);

function requireMeaning(word: string, rows: ReadonlyMap<string, Requirement>, checks: readonly Check[]): void {
  if (checks.some((check) => means(namePattern(word), check))) return;
  const unjudged = [...rows.values()].find((row) => namePattern(word)(row.id) || namePattern(word)(areaOf(row.id)));
  if (unjudged !== undefined) {
    throw new Error(`no check judges ${word}: ${unjudged.judged}, as in ${unjudged.id}: ${unjudged.why}`);
  }
  const areas = checks.flatMap((check) => [check.area, ...check.requirements.map(areaOf)]);
  throw meansNothing(
    word,
    areas,
    checks.flatMap(({ id, requirements }) => [id, ...requirements]),
  );
}

/** What a run found wrong, each with an id that stays the same from run to run, seed to seed and version to version. */
import type { SuiteReport } from "../schema/suite-report.ts";

export interface Finding {
  /** `requirement/check`, or `requirement/stale:deviation`. */
  readonly id: string;
  readonly requirement: string;
  readonly expected: string;
  readonly actual: string;
}

/** In the order of the report: broken promises by check, then declared deviations that no longer occur. */
export function findingsOf({ checks, deviations }: SuiteReport): Finding[] {
  const broken = checks.flatMap(({ failure }) => failure ?? []);
  const stale = deviations.filter(({ status }) => status === "stale");
  return [
    ...broken.map(({ finding, requirement, expected, actual }) => ({ id: finding, requirement, expected, actual })),
    ...stale.map(({ name, requirement, instead }) => ({
      id: staleFindingId(requirement, name),
      requirement,
      expected: `the declared deviation ${name}: ${instead}`,
      actual: "what the documents promise; the declaration is stale",
    })),
  ];
}

/** A check has one finding in a run: the promise that its shrunk program broke. */
export const findingId = (requirement: string, check: string): string => `${requirement}/${check}`;

const staleFindingId = (requirement: string, deviation: string): string => `${requirement}/stale:${deviation}`;

/** Several suite reports side by side: by area, and by requirement with the differences first. Pure. */
import type { RequirementLevel, SuiteReport } from "../schema/suite-report.ts";
import { type Outcome, type OutcomeStatus, outcomeStatuses } from "../schema/verdict.ts";
import { areaOf, counted, countsByArea, type StatusCounts, targetName } from "./describe.ts";

/** A report, and what to call it: names are unique within a comparison. */
export interface NamedReport {
  readonly name: string;
  readonly report: SuiteReport;
}

export interface Comparison {
  readonly columns: readonly NamedReport[];
  /** By column; undefined: the report has nothing in this area. */
  readonly areas: readonly { readonly area: string; readonly counts: readonly (StatusCounts | undefined)[] }[];
  /** Those that differ first, then those that a report lacks; of both those that failed somewhere, then in the order of the reports. */
  readonly rows: readonly ComparedRequirement[];
}

export interface ComparedRequirement {
  readonly id: string;
  readonly level: RequirementLevel;
  readonly text: string;
  /** By column; undefined: not in that report. */
  readonly outcomes: readonly (Outcome | undefined)[];
  /** Two reports judged it otherwise. One that lacks it, as that of a part of the requirements does, says nothing. */
  readonly differs: boolean;
  readonly isEverywhere: boolean;
}

export function compareReports(columns: readonly NamedReport[]): Comparison {
  const perColumn = columns.map(({ report }) => new Map(report.requirements.map((row) => [row.id, row] as const)));
  const all = columns.flatMap(({ report }) => report.requirements);
  const first = new Map(all.map((row) => [row.id, row] as const).reverse());
  const ids = [...new Set(all.map(({ id }) => id))];
  const rows = ids.flatMap((id) => {
    const row = first.get(id);
    if (row === undefined) return [];
    const outcomes = perColumn.map((own) => own.get(id)?.outcome);
    const judged = outcomes.filter((outcome) => outcome !== undefined);
    const differs = new Set(judged.map(({ status }) => status)).size > 1;
    return [
      { id, level: row.level, text: row.text, outcomes, differs, isEverywhere: judged.length === columns.length },
    ];
  });
  const counts = columns.map(({ report }) => countsByArea(report.requirements));
  const areas = [...new Set(ids.map(areaOf))].map((area) => ({ area, counts: counts.map((own) => own.get(area)) }));
  return { columns, areas, rows: rows.toSorted((one, other) => interest(one) - interest(other)) };
}

/** Rows of equal interest keep their order. */
function interest({ differs, isEverywhere, outcomes }: ComparedRequirement): number {
  if (!differs && isEverywhere) return 2 * outcomeStatuses.length;
  const worst = Math.min(
    ...outcomes
      .map((outcome) => outcomeStatuses.findIndex((status) => status === outcome?.status))
      .filter((place) => place >= 0),
  );
  return differs ? worst : outcomeStatuses.length + worst;
}

/** The last words of a comparison that shows the differences alone; empty when there is nothing to add. */
export function notComparedNote(rows: readonly ComparedRequirement[]): string {
  const count = rows.filter(({ differs, isEverywhere }) => !differs && !isEverywhere).length;
  return count === 0 ? "" : `Not in every report, and not compared: ${counted(count, "requirement")}.`;
}

/** `12/14`: proven of what applies. `–` where nothing applies. */
export function passedOf(counts: StatusCounts | undefined): string {
  if (counts === undefined) return "–";
  const applicable = Object.entries(counts).reduce(
    (sum, [status, count]) => sum + (status === "unsupported" ? 0 : count),
    0,
  );
  return applicable === 0 ? "–" : `${counts.passed}/${applicable}`;
}

export const statusOf = (outcome: Outcome | undefined): OutcomeStatus | "absent" => outcome?.status ?? "absent";

/** A second line under a column's name. */
export function columnNote({ report }: NamedReport): string {
  const { target, profile, conclusion } = report;
  return `${conclusion}, ${targetName(target)}${target.version === undefined ? "" : ` ${target.version}`}, profile ${profile}`;
}

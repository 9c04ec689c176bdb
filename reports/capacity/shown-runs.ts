/** Which runs of a report its figures are of, and what is said of those that were cut short or never began. */
import { type CapacityReport, type CapacityRun, isInterrupted } from "../schema/capacity-report.ts";
import { microsText } from "./metrics.ts";

export interface ShownRuns {
  /** As the heads of tables call the arm. */
  readonly title: string;
  readonly runs: readonly CapacityRun[];
  /** True where no run of the arm came to its end: its figures are those of one that was cut short, and nothing is judged. */
  readonly isCut: boolean;
}

/** Of an arm its runs that came to their end. Where there are none, the first one that was cut short, and it alone: each was cut elsewhere. */
export function shownRuns({ runs }: Pick<CapacityReport, "runs">, arm: string): ShownRuns {
  const all = runs.filter((run) => run.arm === arm);
  const whole = all.filter((run) => !isInterrupted(run));
  if (whole.length > 0 || all.length === 0) return { title: arm, runs: whole, isCut: false };
  return { title: `${arm} (cut short)`, runs: all.slice(0, 1), isCut: true };
}

/** Whether all runs that were to be played came to their end, or to that of a `stop` condition. */
export const isWholeReport = ({ runs, unmeasured = [], lacking = [] }: CapacityReport): boolean =>
  unmeasured.length === 0 && lacking.length === 0 && !runs.some(isInterrupted);

/** A line for each run that was stopped, and one for all that never began. */
export function leftOutLines(report: CapacityReport): readonly string[] {
  const { runs, unmeasured = [], lacking = [] } = report;
  return [
    ...runs.flatMap(({ arm, repetition, stoppedBy, virtualMicros }) =>
      stoppedBy === undefined
        ? []
        : [
            `STOPPED ${arm}, repetition ${repetition}, after ${microsText(virtualMicros)}: ${stoppedBy}${stoppedBy === "interrupted" ? consequence(report, arm, repetition) : ""}`,
          ],
    ),
    ...unmeasured.map(
      ({ arm, repetition }) =>
        `STOPPED ${arm}, repetition ${repetition}, before its measured time began: it counts for nothing`,
    ),
    ...(lacking.length === 0
      ? []
      : [
          `NOT PLAYED ${lacking.length} of ${runs.length + unmeasured.length + lacking.length} runs: ${lackingText(lacking)}`,
        ]),
  ];
}

function consequence(report: CapacityReport, arm: string, repetition: number): string {
  const { runs, isCut } = shownRuns(report, arm);
  return isCut && runs.some((run) => run.repetition === repetition)
    ? "; its figures are those up to then, and nothing is judged by them"
    : "; it counts for nothing";
}

const lackingShownMax = 5;

/** The first ones of them by name, and how many more there are. */
export function lackingText(lacking: NonNullable<CapacityReport["lacking"]>): string {
  const shown = lacking
    .slice(0, lackingShownMax)
    .map(({ arm, repetition }) => `${arm}, repetition ${repetition}`)
    .join("; ");
  return lacking.length > lackingShownMax ? `${shown}; and ${lacking.length - lackingShownMax} more` : shown;
}

/** Two arms side by side: what differs beyond chance and beyond a threshold, and whether it is worse. */
import { type CapacityReport, type CapacityRun, isInterrupted } from "../schema/capacity-report.ts";
import { type Metric, metrics } from "./metrics.ts";
import { type Difference, difference, type Estimate, estimate } from "./statistics.ts";

export type ComparedVerdict = "same" | "worse" | "better" | "other" | "unproven";

export interface ComparedFigure {
  readonly metric: Metric;
  readonly before: Estimate;
  readonly after: Estimate;
  readonly difference: Difference;
  readonly verdict: ComparedVerdict;
}

export interface Comparison {
  readonly before: string;
  readonly after: string;
  readonly repetitions: number;
  /** The arms have their chance in common, repetition by repetition. */
  readonly isPaired: boolean;
  readonly figures: readonly ComparedFigure[];
}

/** How often equal arms may be called different in any figure of a comparison. */
const falseAlarms = 0.001;

/** With fewer, an interval says next to nothing. */
const repetitionsMin = 3;

export interface Side {
  readonly name: string;
  readonly runs: readonly CapacityRun[];
}

/** `thresholdPercent`: smaller differences count as none. */
export function compareArms(before: Side, after: Side, thresholdPercent: number): Comparison {
  const pairs = paired(before.runs, after.runs);
  const isPaired = pairs !== undefined;
  const [left, right] = pairs ?? [before.runs, after.runs];
  const figures = metrics.flatMap((metric): readonly ComparedFigure[] => {
    const values = (runs: readonly CapacityRun[]): number[] =>
      runs.map(metric.of).filter((value) => value !== undefined);
    const [one, other] = [values(left), values(right)];
    const [was, is] = [estimate(one), estimate(other)];
    const found = difference(one, other, isPaired && one.length === left.length && other.length === right.length);
    if (was === undefined || is === undefined || found === undefined) return [];
    const verdict = judged(metric, found, Math.min(one.length, other.length), thresholdPercent / 100);
    return [{ metric, before: was, after: is, difference: found, verdict }];
  });
  return {
    before: before.name,
    after: after.name,
    repetitions: Math.min(left.length, right.length),
    isPaired,
    figures,
  };
}

function judged(
  { worse }: Metric,
  { relative, chance }: Difference,
  count: number,
  threshold: number,
): ComparedVerdict {
  if (Math.abs(relative) <= threshold) return "same";
  if (count < repetitionsMin) return "unproven";
  if (chance >= falseAlarms / metrics.length) return "same";
  if (worse === "neither") return "other";
  return relative > 0 === (worse === "more") ? "worse" : "better";
}

/** Runs of the same seeds, in the same order; undefined when they are of others. */
function paired(
  before: readonly CapacityRun[],
  after: readonly CapacityRun[],
): readonly [CapacityRun[], CapacityRun[]] | undefined {
  const bySeed = new Map(after.map((run) => [run.seed, run] as const));
  const both = before.flatMap((run) => {
    const other = bySeed.get(run.seed);
    return other === undefined ? [] : [[run, other] as const];
  });
  if (both.length === 0 || both.length < Math.min(before.length, after.length)) return undefined;
  return [both.map(([run]) => run), both.map(([, run]) => run)];
}

/** Of one report its first arm with each other one; of several, arms of the same name of the first with each other report. */
export function comparisonsOf(
  reports: readonly { readonly name: string; readonly report: CapacityReport }[],
  thresholdPercent: number,
): readonly Comparison[] {
  const [first, ...others] = reports;
  if (first === undefined) return [];
  const side = ({ name, report }: (typeof reports)[number], arm: string, named: boolean): Side => ({
    name: named ? `${name}: ${arm}` : arm,
    runs: report.runs.filter((run) => run.arm === arm && !isInterrupted(run)),
  });
  if (others.length === 0) {
    const [base, ...arms] = first.report.arms.map(({ name }) => name);
    return arms.map((arm) => compareArms(side(first, base ?? "", false), side(first, arm, false), thresholdPercent));
  }
  return others.flatMap((other) =>
    first.report.arms
      .filter(({ name }) => other.report.arms.some((arm) => arm.name === name))
      .map(({ name }) => compareArms(side(first, name, true), side(other, name, true), thresholdPercent)),
  );
}

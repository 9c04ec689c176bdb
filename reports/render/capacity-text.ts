/** A capacity report for a person at a terminal: what was asked, what came of it arm by arm, and what is only modelled. */
import { estimate } from "../capacity/statistics.ts";
import { figureText, metrics } from "../capacity/metrics.ts";
import { besideReality } from "../capacity/reality.ts";
import { isWholeReport, leftOutLines, shownRuns } from "../capacity/shown-runs.ts";
import {
  type CapacityReport,
  type CapacityRun,
  isInterrupted,
  type ObjectiveResult,
} from "../schema/capacity-report.ts";
import { renderTable } from "./table.ts";
import type { Paint } from "./text.ts";

/** Ends in a newline. */
export function renderCapacityText(report: CapacityReport, paint: Paint = (_tone, text) => text): string {
  const { name, question, form, repetitions, arms, runs, profile } = report;
  const wall = runs.reduce((sum, { measured }) => sum + measured.wallMillis, 0) / 1000;
  const virtual = runs.reduce((sum, { virtualMicros }) => sum + virtualMicros, 0) / 1_000_000;
  const times = repetitions === 1 ? "" : `, ${repetitions} repetitions`;
  return [
    `${paint("strong", name)}: ${question}`,
    paint(
      "quiet",
      `${arms.length} ${arms.length === 1 ? "arm" : "arms"}${times}, form ${form}, profile ${profile}; ${virtual.toFixed(0)} s of virtual time measured in ${wall.toFixed(1)} s of all threads together`,
    ),
    "",
    ...(runs.length === 0
      ? [nothingMeasured, ""]
      : [figuresTable(report, paint), "", requestsTable(report, paint), ""]),
    ...arms.flatMap((arm) => objectiveLines(report, arm.name, arms.length > 1, paint)),
    ...(runs.some((run) => run.objectives.length > 0 && !isInterrupted(run)) && repetitions > 1
      ? [paint("quiet", `Figures are means.${worstOf(report)}`)]
      : []),
    ...realityLines(report, paint),
    ...leftOutLines(report).map((line) => paint("doubtful", line)),
    paint(
      "quiet",
      "Counted figures are what the components really did. Modelled ones are times of the latency model, by published costs.",
    ),
    "",
  ].join("\n");
}

/** In the place of tables that would have no rows. */
export const nothingMeasured = "No run came to where it is measured: there are no figures.";

/** How an objective is judged where an arm was played several times; nothing otherwise. */
export const worstOf = (report: CapacityReport): string =>
  report.repetitions === 1 ? "" : ` An objective is judged by the worst of ${repetitionsText(report)}.`;

/** Which repetitions figures are means of. */
export const repetitionsText = (report: CapacityReport): string =>
  isWholeReport(report) ? `${report.repetitions} repetitions` : "those repetitions that came to their end";

function figuresTable(report: CapacityReport, paint: Paint): string {
  const shown = report.arms.map(({ name }) => shownRuns(report, name));
  const columns = shown.map(({ runs }) => runs);
  const rows = metrics.flatMap((metric) => {
    const cells = columns.map((ofArm) => {
      const values = ofArm.map(metric.of).filter((value) => value !== undefined);
      const found = estimate(values);
      if (found === undefined) return undefined;
      const spread = found.halfWidth === 0 ? "" : ` ± ${figureText(found.halfWidth, metric.unit)}`;
      return { text: figureText(found.mean, metric.unit) + spread, isZero: found.mean === 0 };
    });
    const isShown = cells.some((cell) => cell !== undefined && !cell.isZero);
    return isShown ? [[metric.name, metric.kind, ...cells.map((cell) => cell?.text ?? "–")]] : [];
  });
  return renderTable(["", "", ...shown.map(({ title }) => title)], rows, {
    paintHeader: (text) => paint("strong", text),
  });
}

const requestRowsMax = 12;

/** What was asked, by verb and resource, in one repetition of each arm; the rarest together. */
function requestsTable(report: CapacityReport, paint: Paint): string {
  const arms = report.arms.map(({ name }) => shownRuns(report, name));
  const counts = arms.map(({ runs }) => requestCounts(runs));
  const isPlayed = arms.map(({ runs }) => runs.length > 0);
  const totals = new Map<string, number>();
  for (const ofArm of counts) for (const [what, count] of ofArm) totals.set(what, (totals.get(what) ?? 0) + count);
  const names = [...totals].sort(([, one], [, other]) => other - one).map(([what]) => what);
  const shown = names.slice(0, requestRowsMax);
  const rest = names.slice(requestRowsMax);
  const row = (title: string, of: readonly string[]): readonly string[] => [
    title,
    ...counts.map((ofArm, at) =>
      isPlayed[at] === true
        ? figureText(
            of.reduce((sum, what) => sum + (ofArm.get(what) ?? 0), 0),
            "",
          )
        : "–",
    ),
  ];
  const rows = [
    ...shown.map((what) => row(what, [what])),
    ...(rest.length === 0 ? [] : [row(`${rest.length} others`, rest)]),
  ];
  return renderTable(["requests, counted", ...arms.map(({ title }) => title)], rows, {
    paintHeader: (text) => paint("strong", text),
  });
}

/** `update leases`: how many in a repetition, on the average. */
function requestCounts(runs: readonly CapacityRun[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { requests } of runs) {
    for (const { verb, resource, count } of requests) {
      const what = `${verb} ${resource}`;
      counts.set(what, (counts.get(what) ?? 0) + count / runs.length);
    }
  }
  return counts;
}

/** In the place of a verdict on runs none of which came to its end. */
export const notJudged = "not judged, since it was cut short";

/** Of several repetitions, an objective is met when all of them meet it. */
export function mergedObjectives(runs: readonly CapacityRun[]): readonly ObjectiveResult[] {
  const [first] = runs;
  return (first?.objectives ?? []).map((objective, index) =>
    runs.reduce<ObjectiveResult>((worst, { objectives }) => {
      const other = objectives[index] as ObjectiveResult;
      return (other.value ?? -1) > (worst.value ?? -1) ? other : worst;
    }, objective),
  );
}

function objectiveLines(report: CapacityReport, arm: string, isNamed: boolean, paint: Paint): readonly string[] {
  const prefix = isNamed ? `${arm}: ` : "";
  const { runs, isCut } = shownRuns(report, arm);
  return mergedObjectives(runs).map(({ text, value, unit, met, worst }) => {
    if (isCut) return `${paint("quiet", "NONE  ")} ${prefix}${text}: ${notJudged}`;
    const found = value === undefined ? "nothing to judge" : figureText(value, unit === "micros" ? "µs" : "");
    const where = worst === undefined ? "" : `, worst ${worst}`;
    const verdict =
      value === undefined ? paint("quiet", "NONE  ") : met ? paint("good", "PASS  ") : paint("bad", "BREACH");
    return `${verdict} ${prefix}${text}: ${found}${where}`;
  });
}

function realityLines(report: CapacityReport, paint: Paint): readonly string[] {
  const rows = besideReality(report);
  if (rows.length === 0) return [];
  const table = renderTable(
    ["a real cluster beside this one", "real", "here", "within", ""],
    rows.map(({ text, real, here, within, agrees }) => [
      text,
      String(real),
      String(here),
      within,
      agrees ? "agrees" : "DIFFERS",
    ]),
    { paintHeader: (text) => paint("strong", text) },
  );
  return ["", table, ""];
}

/** Charts of experiments as SVG text, which needs no script: colours come from the page's style, light or dark. */
import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { CapacityRun } from "../schema/capacity-report.ts";
import { figureText, type Metric } from "../capacity/metrics.ts";
import { LatencyHistogram } from "../capacity/latency-histogram.ts";
import type { Markup } from "./markup.ts";

const { document } = parseHTML("<!doctype html><html></html>") as unknown as {
  readonly document: object;
};

/** What is asked of a chart once it is drawn. */
interface Drawn {
  readonly outerHTML: string;
  setAttribute(name: string, value: string): void;
  querySelector(selector: string): { remove(): void } | null;
}

const width = 900;
const series = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `var(--series-${number})`);

type PlotOptions = NonNullable<Parameters<typeof Plot.plot>[0]>;

/** The style that charts come with stands in the page's: a page allows no other. */
function svgOf(options: PlotOptions, label: string): Markup {
  const element = Plot.plot({ ...options, document, width, figure: false } as PlotOptions) as unknown as Drawn;
  element.querySelector("style")?.remove();
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
  element.setAttribute("class", "chart");
  return { markup: element.outerHTML };
}

/** Requests a second by component: the busiest ones, the others together. */
export function loadOverTime(run: CapacityRun): Markup {
  const totals = run.byWho
    .map((row) => ({ ...row, total: row.seconds.reduce((sum, each) => sum + each, 0) }))
    .sort((one, other) => other.total - one.total);
  const [shown, rest] = [totals.slice(0, 7), totals.slice(7)];
  const points = shown.flatMap(({ who, seconds }) => seconds.map((requests, second) => ({ who, second, requests })));
  const others =
    rest.length === 0
      ? []
      : sumOf(rest.map(({ seconds }) => seconds)).map((requests, second) => ({ who: "others", second, requests }));
  return svgOf(
    {
      height: 260,
      marginLeft: 55,
      x: { label: "seconds" },
      y: { label: "requests a second", grid: true },
      color: { domain: [...shown.map(({ who }) => who), ...(rest.length === 0 ? [] : ["others"])], range: series },
      marks: [
        Plot.areaY([...points, ...others], { x: "second", y: "requests", z: "who", fill: "who", curve: "step" }),
        Plot.ruleY([0]),
      ],
    },
    "Requests a second by component, over the measurement",
  );
}

export function loadLegend(run: CapacityRun): readonly { readonly name: string; readonly color: number }[] {
  const totals = run.byWho
    .map(({ who, seconds }) => ({ who, total: seconds.reduce((sum, each) => sum + each, 0) }))
    .sort((one, other) => other.total - one.total);
  const names = [...totals.slice(0, 7).map(({ who }) => who), ...(totals.length > 7 ? ["others"] : [])];
  return names.map((name, index) => ({ name, color: index + 1 }));
}

/** How long the run went on, so that all charts of it have one scale. */
const secondsOf = ({ byWho }: Pick<CapacityRun, "byWho">): number =>
  byWho.reduce((most, { seconds }) => Math.max(most, seconds.length), 1);

/** Which component asks how much at which second: the stronger the colour, the more; by the square root, so that little is seen as well. */
export function heatMap(run: CapacityRun): Markup {
  const seconds = secondsOf(run);
  const step = Math.max(1, Math.ceil(seconds / 120));
  const cells = run.byWho.flatMap(({ who, seconds: counts }) =>
    merged(counts, step).map((requests, at) => ({ who, second: at * step, requests: requests / step })),
  );
  return svgOf(
    {
      height: 60 + 18 * run.byWho.length,
      marginLeft: 190,
      x: { label: "seconds", type: "linear", domain: [0, Math.ceil(seconds / step) * step] },
      y: { label: null, type: "band" },
      opacity: { type: "sqrt", range: [0, 1] },
      marks: [
        Plot.rect(
          cells.filter(({ requests }) => requests > 0),
          {
            x1: "second",
            x2: (cell: { second: number }) => cell.second + step,
            y: "who",
            fill: "var(--heat)",
            fillOpacity: "requests",
            inset: 0.25,
          },
        ),
      ],
    },
    "Heat map of requests by component and second",
  );
}

/** p50, p90 and p99 of one SLI over the measurement. */
export function percentilesOverTime(
  run: CapacityRun,
  sli: CapacityRun["latencyOverTime"][number]["sli"],
): Markup | undefined {
  const parts = run.latencyOverTime.find((row) => row.sli === sli)?.parts ?? [];
  const histograms = parts.map((part) => LatencyHistogram.of([part]));
  if (histograms.every(({ count }) => count === 0)) return undefined;
  // Where nothing was asked there is no figure, and no line.
  const points = histograms.flatMap((histogram, index) =>
    [50, 90, 99].map((percent) => ({
      percent: `p${percent}`,
      second: (index * run.partMicros) / 1e6,
      millis: histogram.count === 0 ? Number.NaN : Math.max(0.01, (histogram.percentile(percent) ?? 0) / 1000),
    })),
  );
  const ticks = logTicks(points.map(({ millis }) => millis).filter((millis) => !Number.isNaN(millis)));
  return svgOf(
    {
      height: 180,
      marginLeft: 65,
      x: { label: "seconds", domain: [0, secondsOf(run)] },
      y: {
        ...{ label: null, grid: true, type: "log", tickFormat: (millis: number) => figureText(millis * 1000, "µs") },
        ...{ domain: [ticks[0], ticks.at(-1)] as number[], ticks: labelled(ticks) },
      },
      color: { domain: ["p50", "p90", "p99"], range: [series[0], series[1], series[3]] as string[] },
      marks: [
        Plot.lineY(points, {
          x: "second",
          y: "millis",
          z: "percent",
          stroke: "percent",
          strokeWidth: 1.75,
          marker: "dot",
        }),
      ],
    },
    `Percentiles of ${sli} over the measurement`,
  );
}

/**
 * Of 1, 2 and 5 times each power of ten, those around and between the values, which are above zero: at least two, so that a scale
 * can be read however near the values lie to each other.
 */
export function logTicks(values: readonly number[]): readonly number[] {
  const least = values.reduce((one, other) => Math.min(one, other), Infinity);
  const most = values.reduce((one, other) => Math.max(one, other), 0);
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); ; power++) {
    for (const step of [1, 2, 5]) {
      const tick = Number(`${step}e${power}`);
      if (tick <= least) ticks[0] = tick;
      else ticks.push(tick);
      if (tick > least && tick >= most) return ticks;
    }
  }
}

const ticksMax = 8;

/** All of them, or where they are too many those that are powers of ten. */
const labelled = (ticks: readonly number[]): number[] =>
  ticks.length <= ticksMax ? [...ticks] : ticks.filter((tick) => tick.toExponential(0).startsWith("1"));

/** One figure over the arms of a sweep, with what its repetitions spread. */
export function curve(
  name: string,
  unit: Metric["unit"],
  points: readonly { readonly x: number; readonly y: number; readonly low: number; readonly high: number }[],
  parameter: string,
): Markup {
  return svgOf(
    {
      height: 220,
      marginLeft: 75,
      x: { label: parameter, ticks: points.map(({ x }) => x), tickFormat: (value: number) => String(value) },
      y: { label: null, grid: true, zero: true, tickFormat: (value: number) => figureText(value, unit) },
      marks: [
        Plot.ruleX(
          points.filter(({ low, high }) => high > low),
          { x: "x", y1: "low", y2: "high", stroke: "var(--series-1)" },
        ),
        Plot.lineY(points, { x: "x", y: "y", stroke: "var(--series-1)", strokeWidth: 1.75, marker: "dot" }),
      ],
    },
    `${name} by ${parameter}`,
  );
}

const sumOf = (lists: readonly (readonly number[])[]): readonly number[] =>
  Array.from({ length: Math.max(0, ...lists.map(({ length }) => length)) }, (_, at) =>
    lists.reduce((sum, list) => sum + (list[at] ?? 0), 0),
  );

function merged(counts: readonly number[], step: number): readonly number[] {
  return Array.from({ length: Math.ceil(counts.length / step) }, (_, at) =>
    counts.slice(at * step, (at + 1) * step).reduce((sum, each) => sum + each, 0),
  );
}

/** A capacity report as one page: the question, the answer, and what stands behind it. It needs no network and no manual. */
import { besideReality } from "../capacity/reality.ts";
import { figureText, type Metric, metrics } from "../capacity/metrics.ts";
import { estimate } from "../capacity/statistics.ts";
import { leftOutLines, shownRuns } from "../capacity/shown-runs.ts";
import { mergedObjectives, notJudged, nothingMeasured, repetitionsText, worstOf } from "../render/capacity-text.ts";
import type { CapacityReport, CapacityRun } from "../schema/capacity-report.ts";
import { curve, heatMap, loadLegend, loadOverTime, percentilesOverTime } from "./capacity-charts.ts";
import { renderPage } from "./document.ts";
import { type Markup, markup } from "./markup.ts";

const assets = { styles: ["page.css", "capacity.css"], script: "capacity-script.mjs" };

/** A whole HTML document. */
export function renderCapacityHtml(report: CapacityReport): string {
  const { name, question, arms } = report;
  const body = markup`<main class="capacity" id="findings">
<header><p class="quiet">${name}, form ${report.form}, profile ${report.profile}</p><h1>${question}</h1>${leftOutLines(report).map((line) => markup`<p class="broken">${line}</p>`)}${answer(report)}</header>
${drains(report)}
${sweepCurves(report)}
${figures(report)}
${reality(report)}
${arms.map((arm) => armSection(arm.name, report))}
${method(report)}
</main>`;
  return renderPage({ title: `${name}: ${question}`, body, assets });
}

/** Which objectives hold, arm by arm. */
function answer(report: CapacityReport): Markup {
  const rows = report.arms.map(({ name }) => {
    const { runs, ...shown } = shownRuns(report, name);
    return { ...shown, objectives: mergedObjectives(runs) };
  });
  const titles = rows.find(({ objectives }) => objectives.length > 0)?.objectives.map(({ text }) => text) ?? [];
  if (report.runs.length === 0) return markup`<section><p>${nothingMeasured}</p></section>`;
  if (titles.length === 0)
    return markup`<section><p>No objective was set: this only tells what was found.</p></section>`;
  return markup`<section class="wide"><table><caption>Objectives: what was wanted, and what was found.${worstOf(report)}</caption>
<thead><tr><th scope="col">arm</th>${titles.map((text) => markup`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ title, isCut, objectives }) =>
      markup`<tr><th scope="row">${title}</th>${objectives.length === 0 ? markup`<td class="none" colspan="${titles.length}">not played</td>` : undefined}${objectives.map(
        ({ value, unit, met, worst }) =>
          value === undefined || isCut
            ? markup`<td class="none">${isCut ? notJudged : "nothing to judge"}</td>`
            : markup`<td class="${met ? "met" : "broken"}"${worst === undefined ? "" : markup` title="${worst}"`}>${met ? "holds" : "broken"}: ${figureText(value, unit === "micros" ? "µs" : "")}</td>`,
      )}</tr>`,
  )}</tbody></table></section>`;
}

/** Figures of drains, as the table of them calls them. */
const drainColumns = [
  ["p50 of a node", "drain of a node, p50"],
  ["p90 of a node", "drain of a node, p90"],
  ["longest of a node", "drain of a node, longest"],
  ["all nodes", "drain of all nodes"],
  ["evictions refused", "evictions that a budget refused"],
].flatMap(([title, figure]) => metrics.filter(({ name }) => name === figure).map((metric) => ({ title, metric })));

/** Where nodes were drained: how many of them, and how long it took. */
function drains(report: CapacityReport): Markup | undefined {
  const rows = report.arms.flatMap(({ name }) => {
    const { title, runs } = shownRuns(report, name);
    const given = runs.flatMap(({ drains: found }) => found ?? []);
    return given.length === 0 ? [] : [{ title, runs, done: sumOf(given, "done"), nodes: sumOf(given, "nodes") }];
  });
  if (rows.length === 0) return undefined;
  const cell = (runs: readonly CapacityRun[], { of, unit }: Metric): string =>
    figureText(estimate(runs.map(of).filter((value) => value !== undefined))?.mean, unit);
  return markup`<section class="wide"><table><caption>Drains: from the first eviction on a node until the last of its pods runs elsewhere</caption>
<thead><tr><th scope="col">arm</th><th scope="col">nodes drained <span class="kind counted">counted</span></th>${drainColumns.map(({ title, metric: { kind } }) => markup`<th scope="col">${title} <span class="kind ${kind}">${kind}</span></th>`)}</tr></thead>
<tbody>${rows.map(
    ({ title, runs, done, nodes }) =>
      markup`<tr><th scope="row">${title}</th><td class="${done === nodes ? "met" : "broken"}">${done} of ${nodes}</td>${drainColumns.map(({ metric }) => markup`<td>${cell(runs, metric)}</td>`)}</tr>`,
  )}</tbody></table></section>`;
}

const sumOf = <Key extends string>(rows: readonly { readonly [K in Key]: number }[], key: Key): number =>
  rows.reduce((sum, row) => sum + row[key], 0);

function figures(report: CapacityReport): Markup | undefined {
  if (report.runs.length === 0) return undefined;
  const shown = report.arms.map(({ name }) => shownRuns(report, name));
  const columns = shown.map(({ runs }) => runs);
  const rows = metrics.flatMap(({ name, kind, unit, of }) => {
    const cells = columns.map((runs) => estimate(runs.map(of).filter((value) => value !== undefined)));
    if (!cells.some((cell) => cell !== undefined && cell.mean !== 0)) return [];
    return [
      markup`<tr><th scope="row">${name}</th><td class="kind ${kind}">${kind}</td>${cells.map((cell) => markup`<td>${cell === undefined ? "–" : figureText(cell.mean, unit)}${cell !== undefined && cell.halfWidth > 0 && markup`<span class="quiet"> ± ${figureText(cell.halfWidth, unit)}</span>`}</td>`)}</tr>`,
    ];
  });
  const spread =
    report.repetitions > 1 ? ` Means of ${repetitionsText(report)}, with intervals of 95 % confidence.` : "";
  return markup`<section class="wide"><table><caption>Figures.${spread} Counted: what the components really did. Modelled: times of the latency model.</caption>
<thead><tr><th scope="col">figure</th><th scope="col">kind</th>${shown.map(({ title }) => markup`<th scope="col">${title}</th>`)}</tr></thead><tbody>${rows}</tbody></table></section>`;
}

/** For a sweep of one parameter whose values are numbers: figures as curves. */
function sweepCurves(report: CapacityReport): Markup | undefined {
  const points = report.arms.flatMap(({ name, changes }) => {
    const [parameter, value] = changes.at(-1) ?? [];
    return typeof value === "number" && name.endsWith(`${parameter}=${value}`)
      ? [{ name, parameter: parameter as string, value }]
      : [];
  });
  const [first] = points;
  if (
    first === undefined ||
    points.length < 2 ||
    points.length < report.arms.length ||
    new Set(points.map(({ value }) => value)).size < points.length
  )
    return undefined;
  const charts = [
    "requests a second",
    "watch events",
    "store with its history, at most",
    "writes, p99",
    "lists, p99",
    "pod start-up, p99",
    "processors busy",
  ].flatMap((wanted) => {
    const metric = metrics.find(({ name }) => name === wanted);
    if (metric === undefined) return [];
    const values = points.flatMap(({ name, value }) => {
      const { runs, isCut } = shownRuns(report, name);
      if (isCut) return [];
      const found = estimate(runs.map(metric.of).filter((each) => each !== undefined));
      return found === undefined
        ? []
        : [{ x: value, y: found.mean, low: found.mean - found.halfWidth, high: found.mean + found.halfWidth }];
    });
    return values.length < 2 || values.every(({ y }) => y === 0)
      ? []
      : [
          markup`<figure><figcaption>${metric.name} <span class="kind ${metric.kind}">${metric.kind}</span></figcaption>${curve(metric.name, metric.unit, values, first.parameter)}</figure>`,
        ];
  });
  return markup`<section><h2>As ${first.parameter} grows</h2><div class="charts">${charts}</div></section>`;
}

const sliTitles = {
  mutating: "Writes",
  get: "Reads of one object",
  list: "Lists",
  podStartup: "Pod start-up",
  watchDelivery: "Watch delivery",
} as const;

/** The first of an arm's runs, second by second. */
function armSection(arm: string, report: CapacityReport): Markup | undefined {
  const [run] = shownRuns(report, arm).runs;
  if (run === undefined) return undefined;
  const which = report.repetitions === 1 ? "" : `: repetition ${run.repetition} of ${report.repetitions}`;
  const percentiles = (Object.keys(sliTitles) as (keyof typeof sliTitles)[]).flatMap((sli) => {
    const chart = percentilesOverTime(run, sli);
    return chart === undefined
      ? []
      : [
          markup`<figure><figcaption>${sliTitles[sli]}: p50, p90, p99 <span class="kind modelled">modelled</span></figcaption>${chart}</figure>`,
        ];
  });
  const isOpen = report.arms.length < 3 || report.arms[0]?.name === arm;
  return markup`<details${isOpen ? markup` open` : ""}><summary><h2>${report.arms.length > 1 ? `Arm ${arm}, ` : ""}second by second${which}</h2></summary>
${run.stoppedBy === undefined ? undefined : markup`<p class="broken">Stopped: ${run.stoppedBy}</p>`}
<figure><figcaption>Requests a second, by component <span class="kind counted">counted</span></figcaption>
<p class="legend">${loadLegend(run).map(({ name, color }) => markup`<span><span class="swatch series-${color}"></span>${name}</span> `)}</p>${loadOverTime(run)}</figure>
<figure><figcaption>Load by component and second: the stronger the colour, the more requests <span class="kind counted">counted</span></figcaption>${heatMap(run)}</figure>
<p class="legend"><span class="swatch series-1"></span>p50 <span class="swatch series-2"></span>p90 <span class="swatch series-4"></span>p99</p>
<div class="charts">${percentiles}</div>
${statusTable(run)}
${requestTable(run)}
</details>`;
}

/** Status × verb × second: the seconds in which anything was refused or broke, and the busiest ones. */
function statusTable(run: CapacityRun): Markup {
  const length = Math.max(0, ...run.byVerb.map(({ seconds }) => seconds.length));
  const total = (second: number): number => run.byVerb.reduce((sum, { seconds }) => sum + (seconds[second] ?? 0), 0);
  const bad = (second: number): number =>
    run.byVerb.reduce((sum, { code, seconds }) => sum + (code >= 400 ? (seconds[second] ?? 0) : 0), 0);
  const all = Array.from({ length }, (_, second) => second);
  const chosen = new Set(
    [...all].sort((one, other) => bad(other) - bad(one) || total(other) - total(one)).slice(0, 24),
  );
  const shown = all.filter((second) => chosen.has(second));
  const rows = [...run.byVerb]
    .sort((one, other) => other.code - one.code || (one.verb < other.verb ? -1 : 1))
    .filter(({ seconds }) => shown.some((second) => (seconds[second] ?? 0) > 0));
  return markup`<figure class="wide"><table class="seconds"><caption>Status by verb and second: the 24 seconds with most refusals, then most requests, of ${length} <span class="kind counted">counted</span></caption>
<thead><tr><th scope="col">status</th><th scope="col">verb</th>${shown.map((second) => markup`<th scope="col">${second} s</th>`)}</tr></thead>
<tbody>${rows.map(({ verb, code, seconds }) => markup`<tr${code >= 400 ? markup` class="bad"` : ""}><th scope="row">${code}</th><th scope="row">${verb}</th>${shown.map((second) => markup`<td>${(seconds[second] ?? 0) === 0 ? "" : (seconds[second] ?? 0)}</td>`)}</tr>`)}</tbody></table></figure>`;
}

function requestTable(run: CapacityRun): Markup {
  const rows = [...run.requests].sort((one, other) => other.count - one.count);
  const limit = 40;
  return markup`<details class="inner"><summary>Requests by component, verb, resource, scope and status (${rows.length} rows${rows.length > limit ? `, the first ${limit}; all are in requests.csv` : ""})</summary><div class="wide"><table>
<thead><tr><th scope="col">component</th><th scope="col">verb</th><th scope="col">resource</th><th scope="col">scope</th><th scope="col">status</th><th scope="col">count</th><th scope="col">bytes answered</th></tr></thead>
<tbody>${rows.slice(0, limit).map((row) => markup`<tr><th scope="row">${row.who}</th><td>${row.verb}</td><td>${row.resource}</td><td>${row.scope}</td><td>${row.code}</td><td>${row.count}</td><td>${figureText(row.bytesOut, "bytes")}</td></tr>`)}</tbody></table></div></details>`;
}

function reality(report: CapacityReport): Markup | undefined {
  const rows = besideReality(report);
  if (rows.length === 0) return undefined;
  return markup`<section class="wide"><table><caption>A real cluster was counted at the same workload</caption><thead><tr><th scope="col">what</th><th scope="col">real</th><th scope="col">here</th><th scope="col">within</th><th scope="col"></th></tr></thead>
<tbody>${rows.map(({ text, real, here, within, agrees }) => markup`<tr><th scope="row">${text}</th><td>${real}</td><td>${here}</td><td>${within}</td><td class="${agrees ? "met" : "broken"}">${agrees ? "agrees" : "differs"}</td></tr>`)}</tbody></table></section>`;
}

function method({ costs, experiment, build }: CapacityReport): Markup {
  return markup`<details><summary><h2>How this was found</h2></summary>
<p>Components run as they are (API server, controllers, scheduler, node agents) on virtual time; the same file and seed give the same figures. Build ${build}.</p>
<div class="wide"><table><caption>Constants of the latency model</caption><thead><tr><th scope="col">constant</th><th scope="col">value</th><th scope="col">is</th><th scope="col">source</th></tr></thead>
<tbody>${costs.map(({ name, value, is, source }) => markup`<tr><th scope="row">${name}</th><td>${value}</td><td class="text">${is}</td><td class="text">${source}</td></tr>`)}</tbody></table></div>
<pre>${experiment}</pre></details>`;
}

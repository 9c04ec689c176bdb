/** What `npm run bench` has printed, as one page that needs no network: by area, with what was promised and what was measured. */
import { type Markup, markup } from "../reports/html/markup.ts";
import { renderPage } from "../reports/html/document.ts";
import type { Machine, Measurement } from "./harness.ts";

const assets = { styles: ["page.css", "capacity.css"], script: "capacity-script.mjs" };

/** JSON lines, the machine first; what npm has said before them is passed over. Throws an error that says which line is wrong. */
export function readBenchLines(text: string): {
  readonly machine: Machine;
  readonly measurements: readonly Measurement[];
} {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("{"));
  const [machine, ...measurements] = lines
    .map((line, at) => [line, at + 1] as const)
    .filter(([line, at]) => at > first && line.trim() !== "")
    .map(([line, at]) => objectIn(line, at));
  if (machine === undefined || !("cpu" in machine))
    throw new Error("line 1: expected the machine: { cpu, coreCount … }");
  const wrong = measurements.findIndex(
    (each) => typeof each["name"] !== "string" || typeof each["median"] !== "number",
  );
  if (wrong >= 0) throw new Error(`measurement ${wrong + 1}: expected { name, unit, min, median, max, rounds }`);
  return { machine: machine as unknown as Machine, measurements: measurements as unknown as Measurement[] };
}

function objectIn(line: string, at: number): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`line ${at}: not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error(`line ${at}: expected an object`);
}

export function renderBenchPage(machine: Machine, measurements: readonly Measurement[]): string {
  const areas = Map.groupBy(measurements, ({ name }) => name.split(".", 1)[0] as string);
  const { cpu, coreCount, memoryBytes, platform, node } = machine;
  const body = markup`<main class="capacity" id="findings">
<header><p class="quiet">${cpu}, ${coreCount} cores, ${(memoryBytes / 2 ** 30).toFixed(0)} GiB, ${platform}, node ${node}</p><h1>Benchmarks of Touchstone</h1></header>
${[...areas].map(([area, rows]) => section(area, rows))}
</main>`;
  return renderPage({ title: "Benchmarks of Touchstone", body, assets });
}

function section(area: string, rows: readonly Measurement[]): Markup {
  return markup`<section class="wide"><table><caption>${area}</caption>
<thead><tr><th scope="col">benchmark</th><th scope="col">median</th><th scope="col">least</th><th scope="col">most</th><th scope="col">unit</th><th scope="col">promised</th><th scope="col">× promised</th></tr></thead>
<tbody>${rows.map(
    ({ name, unit, min, median, max, target, ratio }) =>
      markup`<tr><th scope="row">${name}</th><td>${figure(median)}</td><td>${figure(min)}</td><td>${figure(max)}</td><td>${unit}</td><td>${target === undefined ? "" : figure(target)}</td>${
        ratio === undefined ? markup`<td></td>` : markup`<td class="${ratio >= 1 ? "met" : "broken"}">${ratio}</td>`
      }</tr>`,
  )}</tbody></table></section>`;
}

const figure = (value: number): string => value.toLocaleString("en-US", { maximumSignificantDigits: 5 });

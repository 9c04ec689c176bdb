/** One failed check: what was promised, what came, how to make it again, and every exchange of the shrunk program. */
import { againText, areaOf } from "../render/describe.ts";
import { expectedBy } from "../gate/gate.ts";
import type { CheckResult, ExchangeRecord, SuiteFailure, SuiteReport } from "../schema/suite-report.ts";
import { type Markup, markup } from "./markup.ts";
import { command, definitions, filterable, statusChip } from "./parts.ts";
import { timeline } from "./timeline.ts";
import { isWatch } from "./watch-story.ts";

/** All findings that break one promise. The first is open, the others are folded: they mostly say the same again. */
export function findingCards(report: SuiteReport, failures: readonly SuiteFailure[]): Markup {
  const [first] = failures;
  if (first === undefined) return markup``;
  const { requirement, level, promised } = first;
  return markup`<article class="finding" ${filterable({ status: "failed", area: areaOf(requirement), level })}>
<h3>${statusChip("failed")} <a href="#${requirement}"><code>${requirement}</code></a> <span class="level">${level}</span>
<span class="quiet">${failures.length > 1 && `found by ${failures.length} checks`}</span></h3>
<p class="promise">${promised}</p>
${failures.map((failure, i) => findingDetails(report, failure, i === 0))}
</article>`;
}

function findingDetails(report: SuiteReport, failure: SuiteFailure, open: boolean): Markup {
  const { check, expected, actual, counterexampleText, shrinks, finding } = failure;
  const reason = expectedBy(report, finding);
  const property = report.checks.find(({ id }) => id === check)?.property;
  return markup`<details class="by-check" id="${finding}"${open && markup` open`}>
<summary><b>${check}</b> <span class="quiet">${property}</span>${
    reason !== undefined && markup` <span class="level expected">expected by the baseline</span>`
  }</summary>
${definitions([
  ["expected", pre(expected)],
  ["actual", markup`<div class="actual">${pre(actual)}</div>`],
  ["baseline", reason],
  ["program", counterexampleText !== "" && markup`${pre(counterexampleText)}${shrinkNote(shrinks)}`],
  ["replay", command(failure.replay)],
  ["curl", failure.curl !== "" && command(failure.curl)],
  ["again", failure.again !== undefined && againLines(failure.again)],
])}
${timeline(failure, `timeline-${check}`)}
${exchanges(failure)}
</details>`;
}

const shrinkNote = (shrinks: number): Markup | undefined =>
  shrinks === 0
    ? undefined
    : markup`<span class="quiet">made smaller ${shrinks === 1 ? "once" : `${shrinks} times`}</span>`;

/** For a report that says no more than the verdict. */
export function cardWithoutEvidence({ id, requirements, property, verdict }: CheckResult): Markup {
  const said = verdict.status === "failed" ? verdict : { expected: "", actual: "" };
  const area = areaOf(requirements[0] ?? id);
  return markup`<article class="finding" ${filterable({ status: "failed", area, level: "" })}>
<h3>${statusChip("failed")} <code>${requirements.join(", ")}</code></h3>
${definitions([
  ["expected", pre(said.expected)],
  ["actual", pre(said.actual)],
  ["check", `${id}: ${property}`],
])}</article>`;
}

/** The lines alone are what is copied. */
function againLines(lines: readonly string[]): Markup {
  const [sentence] = againText({ again: lines }).split("\n", 1);
  return markup`<span class="quiet">${sentence}</span>${lines.length > 0 && command(lines.join("\n"))}`;
}

const pre = (text: string): Markup => markup`<pre>${text}</pre>`;

function exchanges({ history, historyDropped }: SuiteFailure): Markup {
  const dropped = historyDropped === 0 ? "" : `, after ${historyDropped} older ones that were not kept`;
  return markup`<details class="exchanges"><summary>Evidence: ${history.length} requests with their answers${dropped}</summary>
<ol>${history.map((exchange) => markup`<li>${exchangeDetails(exchange)}</li>`)}</ol></details>`;
}

function exchangeDetails(exchange: ExchangeRecord): Markup {
  const { index, method, path, status, lost, sentAtMillis, endedAtMillis, curl } = exchange;
  const took = endedAtMillis === undefined ? "" : `${(endedAtMillis - sentAtMillis).toFixed(1)} ms`;
  const tone = status === undefined || status >= 500 ? "bad" : status >= 400 ? "doubtful" : "good";
  return markup`<details class="exchange"><summary><span class="quiet">${index}</span> <b>${method}</b> <code>${path}</code>
<span class="status ${tone}">${status ?? "no answer"}</span>${lost !== undefined && markup` <span class="quiet">${lost}</span>`} <span class="quiet">${isWatch(exchange) && "watch, "}${took}</span></summary>
<div class="sides">
<div><h4>Request</h4><pre>${headerText(exchange.requestHeaders)}</pre>${exchange.requestBody !== undefined && pre(readable(exchange.requestBody))}</div>
<div><h4>Answer</h4><pre>${headerText(exchange.responseHeaders)}</pre>${exchange.responseBody !== "" && pre(readable(exchange.responseBody))}</div>
</div>
${command(curl)}</details>`;
}

function headerText(headers: Readonly<Record<string, string | readonly string[]>>): string {
  return Object.entries(headers)
    .flatMap(([name, value]) =>
      typeof value === "string" ? [`${name}: ${value}`] : value.map((one) => `${name}: ${one}`),
    )
    .join("\n");
}

/** Bodies beyond this stay as they came. */
const readableCharsMax = 8192;

/** One JSON document is indented; a stream of them, or anything else, stays as it came. */
function readable(body: string): string {
  if (body.length > readableCharsMax) return body;
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

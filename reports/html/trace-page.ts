/**
 * A run as one page that stands alone: lanes over virtual time, messages as arrows, what goes wrong as bands, a scrubber with
 * the cluster's state at any moment. All that it shows lies in it as data; the script only draws.
 */
import type { SimulationFailure } from "../schema/simulation-report.ts";
import { type TraceDocument, traceLegend } from "../schema/trace-document.ts";
import { renderPage } from "./document.ts";
import { type Markup, markup } from "./markup.ts";

export function renderTracePage(trace: TraceDocument): string {
  const { scenario, seed, profile, mode, bugs, traceHash, failure, lanes, entries, messages } = trace;
  const planted = bugs.length === 0 ? "" : `, with ${bugs.join(", ")}`;
  const body = markup`<header class="trace-head">
<h1>${scenario}</h1>
<p class="quiet">seed ${seed}, profile ${profile}, mode ${mode}${planted}; ${lanes.length} lanes, ${entries.length} entries, ${messages.length} messages; trace <code>${traceHash}</code></p>
${failure === undefined ? markup`<p class="trace-good">No promise was broken.</p>` : failureCard(failure)}
</header>
<main id="findings">
<noscript><p>This page draws with a script. <code>npx touchstone run --trace FILE</code> writes the same as text.</p></noscript>
<form id="trace-controls" hidden aria-label="Filter and move">
<label>Text <input type="search" name="text" placeholder="a name, a version, 410 …"></label>
<fieldset><legend class="hidden-label">Show</legend>${kinds.map(([value, label]) => markup`<label><input type="checkbox" name="kind" value="${value}" checked> ${label}</label>`)}</fieldset>
<span class="trace-buttons"><button type="button" name="all">Whole run</button><button type="button" name="in">Zoom in</button><button type="button" name="out">Zoom out</button><button type="button" name="earlier">Earlier</button><button type="button" name="later">Later</button>${failure !== undefined && markup`<button type="button" name="failure">To the failure</button>`}</span>
</form>
<div class="trace-picture"><canvas id="trace-canvas" role="img" aria-label="Lanes of ${scenario} over virtual time" height="200"></canvas></div>
<div class="trace-scrub"><input type="range" id="trace-time" min="0" max="1000000" value="0" aria-label="Moment"><output id="trace-now">0 s</output></div>
<div class="trace-panels">
<section aria-labelledby="around-title"><h2 id="around-title">Around this moment</h2><p class="quiet" id="trace-active"></p><ol id="trace-around"></ol></section>
<section aria-labelledby="state-title"><h2 id="state-title">The store at this moment</h2><p class="quiet" id="trace-revision"></p><div class="trace-state"><table><thead><tr><th>object</th><th>version</th></tr></thead><tbody id="trace-state"></tbody></table></div></section>
<section aria-labelledby="write-title"><h2 id="write-title">Write</h2><p class="quiet" id="trace-write-head">Choose a version to see what it wrote.</p><pre id="trace-write"></pre></section>
</div>
<details class="trace-legend"><summary>Legend</summary><dl>${Object.entries(traceLegend).map(([sign, meaning]) => markup`<dt><code>${sign}</code></dt><dd>${meaning}</dd>`)}</dl></details>
</main>
<script type="application/json" id="trace-data">${{ markup: embedded(trace) }}</script>`;
  return renderPage({
    title: `${scenario}, seed ${seed}`,
    body,
    assets: { styles: ["page.css", "trace.css"], script: "trace-script.mjs" },
  });
}

const kinds = [
  ["requests", "requests"],
  ["writes", "writes"],
  ["events", "events of watches"],
  ["faults", "what goes wrong"],
  ["messages", "messages"],
] as const;

const formatMicros = (micros: number): string => `${micros / 1_000_000} s`;

function failureCard({ requirement, text, expected, actual, evidence, atMicros }: SimulationFailure): Markup {
  return markup`<section class="trace-failure" aria-label="The broken promise">
<h2>${requirement} <span class="quiet">at ${formatMicros(atMicros)}</span></h2>
<dl><dt>promised</dt><dd>${text}</dd><dt>expected</dt><dd>${expected}</dd><dt>actual</dt><dd>${actual}</dd>${evidence.length > 0 && markup`<dt>evidence</dt><dd><ul>${evidence.map((line) => markup`<li>${line}</li>`)}</ul></dd>`}</dl>
</section>`;
}

/** No text in it can end the element that it stands in. */
const embedded = (trace: TraceDocument): string =>
  JSON.stringify(trace).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

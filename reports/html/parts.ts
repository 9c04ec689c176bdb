/** Pieces that more than one page has. */
import { counted, type StatusCounts } from "../render/describe.ts";
import { type OutcomeStatus, outcomeStatuses } from "../schema/verdict.ts";
import { type Markup, markup, type MarkupValue } from "./markup.ts";

/** A sign beside the colour: nothing is told by colour alone. */
export const signs: Readonly<Record<OutcomeStatus, string>> = {
  failed: "✗",
  error: "!",
  inconclusive: "?",
  deviation: "≠",
  passed: "✓",
  unsupported: "–",
  skipped: "»",
};

export function statusChip(status: OutcomeStatus): Markup {
  return markup`<span class="chip ${status}"><span aria-hidden="true">${signs[status]}</span> ${status}</span>`;
}

/** Shares of a whole, as one bar. What it says is said in its label. */
export function statusBar(counts: StatusCounts): Markup {
  const shown = outcomeStatuses.filter((status) => counts[status] > 0);
  const total = shown.reduce((sum, status) => sum + counts[status], 0);
  const label = shown.map((status) => `${counts[status]} ${status}`).join(", ");
  let before = 0;
  const parts = shown.map((status) => {
    const x = (before / total) * 100;
    before += counts[status];
    return markup`<rect class="${status}" x="${x.toFixed(3)}%" width="${((counts[status] / total) * 100).toFixed(3)}%" height="100%"/>`;
  });
  return markup`<svg class="bar" role="img" aria-label="${label}" preserveAspectRatio="none">${parts}</svg>`;
}

/** Attributes by which the filters of the page choose. */
export function filterable(keys: { status: OutcomeStatus; area: string; level: string }): Markup {
  return markup`data-item data-verdict="${keys.status}" data-area="${keys.area}" data-level="${keys.level}"`;
}

export interface FilterChoices {
  readonly statuses: readonly (readonly [OutcomeStatus, number])[];
  readonly areas: readonly string[];
  readonly levels: readonly string[];
  /** Further controls. */
  readonly extra?: Markup;
}

/** Hidden until the script that obeys it runs. */
export function filterForm({ statuses, areas, levels, extra }: FilterChoices): Markup {
  return markup`<form id="filters" role="search" aria-label="Filter the report" hidden>
<label class="text">Find <input type="search" name="text" placeholder="any text" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></label>
<label>Area <select name="area"><option value="">all</option>${areas.map(option)}</select></label>
<label>Level <select name="level"><option value="">all</option>${levels.map(option)}</select></label>
<fieldset><legend>Verdict</legend>${statuses.map(
    ([status, count]) =>
      markup`<label class="chip ${status}"><input type="checkbox" name="verdict" value="${status}"><span aria-hidden="true">${signs[status]}</span> ${status} <b>${count}</b></label>`,
  )}</fieldset>
${extra}
<button type="reset">Clear</button>
<output aria-live="polite"></output>
</form>`;
}

const option = (value: string): Markup => markup`<option>${value}</option>`;

export function definitions(rows: readonly (readonly [string, MarkupValue | undefined])[]): Markup {
  const shown = rows.filter(([, value]) => value !== undefined && value !== "");
  return markup`<dl class="facts">${shown.map(([term, value]) => markup`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A command line with a button that copies it. */
export function command(text: string): Markup {
  return markup`<span class="command"><code>${text}</code><button type="button" class="copy" hidden>Copy</button></span>`;
}

export function folded(title: string, count: number, noun: string, body: MarkupValue): Markup {
  return markup`<details class="folded"><summary><h2>${title}</h2> <span class="quiet">${counted(count, noun)}</span></summary>${body}</details>`;
}

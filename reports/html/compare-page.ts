/** Several reports side by side as a page: area × implementation, then every requirement with the differences first. */
import {
  type ComparedRequirement,
  type Comparison,
  columnNote,
  compareReports,
  type NamedReport,
  passedOf,
} from "../render/compare.ts";
import { areaOf, counted, reasonOf } from "../render/describe.ts";
import { outcomeStatuses } from "../schema/verdict.ts";
import { renderPage } from "./document.ts";
import { type Markup, markup } from "./markup.ts";
import { filterForm, statusBar, statusChip } from "./parts.ts";

/** A whole document that stands alone. */
export function renderComparisonHtml(reports: readonly NamedReport[]): string {
  const comparison = compareReports(reports);
  const names = comparison.columns.map(({ name }) => name).join(", ");
  return renderPage({
    title: `${names} side by side – Touchstone`,
    body: markup`<header>
<p class="brand">Touchstone <span>implementations side by side</span></p>
<h1>${names}</h1>
</header>
<main>
${matrix(comparison)}
${filters(comparison)}
${requirements(comparison)}
</main>`,
  });
}

function matrix({ columns, areas }: Comparison): Markup {
  return markup`<section aria-labelledby="summary"><h2 id="summary">Passed of what applies, by area</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Areas by implementation">
<table class="matrix compare"><caption class="unseen">Requirements passed, by area and implementation</caption>
<thead><tr><th scope="col">area</th>${columns.map(
    (column) =>
      markup`<th scope="col"><span class="${column.report.conclusion}"><strong>${column.name}</strong></span><br>${columnNote(column)}</th>`,
  )}</tr></thead>
<tbody>${areas.map(
    ({ area, counts }) =>
      markup`<tr><th scope="row"><a href="#area=${area}">${area}</a></th>${counts.map(
        (own) => markup`<td>${passedOf(own)}${own !== undefined && statusBar(own)}</td>`,
      )}</tr>`,
  )}</tbody></table></div></section>`;
}

function filters({ rows, areas }: Comparison): Markup {
  const having = (status: string): number =>
    rows.filter(({ outcomes }) => outcomes.some((outcome) => outcome?.status === status)).length;
  return filterForm({
    statuses: outcomeStatuses.map((status) => [status, having(status)] as const).filter(([, count]) => count > 0),
    areas: areas.map(({ area }) => area),
    levels: [...new Set(rows.map(({ level }) => level))],
    extra: markup`<label><input type="checkbox" name="differences"> differences only</label>`,
  });
}

function requirements({ columns, rows }: Comparison): Markup {
  const differing = rows.filter(({ differs }) => differs);
  const lacking = rows.filter(({ differs, isEverywhere }) => !differs && !isEverywhere);
  const same = rows.filter(({ differs, isEverywhere }) => !differs && isEverywhere);
  const list = (own: readonly ComparedRequirement[]): Markup =>
    markup`<ul class="rows compared">${own.map((row) => requirementRow(columns, row))}</ul>`;
  return markup`<section class="area" aria-labelledby="findings"><h2 id="findings" tabindex="-1">${counted(differing.length, "difference")}</h2>
${differing.length === 0 && markup`<p class="quiet">All verdicts are the same.</p>`}
${list(differing)}</section>
${
  lacking.length > 0 &&
  markup`<section class="area" aria-labelledby="lacking"><h2 id="lacking">Not in every report <span class="quiet">${lacking.length}</span></h2>${list(lacking)}</section>`
}
<section class="area" aria-labelledby="same"><h2 id="same">The same everywhere <span class="quiet">${same.length}</span></h2>${list(same)}</section>`;
}

function requirementRow(columns: readonly NamedReport[], row: ComparedRequirement): Markup {
  const { id, level, text, outcomes, differs, isEverywhere } = row;
  const statuses = [...new Set(outcomes.flatMap((outcome) => outcome?.status ?? []))].join(" ");
  return markup`<li id="${id}" data-item data-verdict="${statuses}" data-area="${areaOf(id)}" data-level="${level}"${differs && markup` data-differs`}>
<div><code class="id">${id}</code> <span class="level">${level}</span><p>${text}</p>
<ul class="cells">${columns.map(({ name }, i) => {
    const outcome = outcomes[i];
    const reason = outcome === undefined ? "" : reasonOf(outcome);
    return markup`<li><b>${name}</b> ${outcome === undefined ? markup`<span class="quiet">not in its report</span>` : statusChip(outcome.status)}${
      !(isEverywhere && !differs) && reason !== "" && markup` <span class="quiet">${reason}</span>`
    }</li>`;
  })}</ul></div></li>`;
}

/** A suite report as a page: the verdict, the matrix by area, the findings with their evidence, every requirement. */
import { areaOf, caveatsOf, counted, countsByArea, durationText, reasonOf, targetName } from "../render/describe.ts";
import { baselineWords, gateOf } from "../gate/gate.ts";
import type { NotJudged, RequirementResult, SuiteReport } from "../schema/suite-report.ts";
import { outcomeStatuses } from "../schema/verdict.ts";
import { renderPage } from "./document.ts";
import { cardWithoutEvidence, findingCards } from "./finding-card.ts";
import { type Markup, markup } from "./markup.ts";
import { definitions, filterable, filterForm, folded, signs, statusBar, statusChip } from "./parts.ts";

/** A whole document that stands alone. */
export function renderSuiteHtml(report: SuiteReport): string {
  const title = `${report.conclusion}: ${targetName(report.target)}, profile ${report.profile}`;
  return renderPage({
    title: `${title} – Touchstone`,
    body: markup`${heading(report)}
<main>
${summary(report)}
${filters(report)}
${findings(report)}
${requirements(report)}
${otherSections(report)}
</main>`,
  });
}

const conclusionSigns = { conformant: "✓", nonconformant: "✗", inconclusive: "?", error: "!" } as const;

function heading(report: SuiteReport): Markup {
  const { target, conclusion, totals } = report;
  const notes = [...caveatsOf(report), ...baselineWords(report)];
  return markup`<header>
<p class="brand">Touchstone <span>conformance report</span></p>
<h1 class="verdict ${conclusion}"><span aria-hidden="true">${conclusionSigns[conclusion]}</span> ${conclusion}</h1>
<p class="target"><strong>${targetName(target)}</strong> ${target.version !== undefined && markup`<code>${target.version}</code>`}</p>
${notes.length > 0 && markup`<p class="notes gate-${gateOf(report)}">${notes.join("; ")}</p>`}
${definitions([
  ["profile", report.profile],
  ["seed", String(report.seed)],
  ["programs", `${counted(totals.runs, "program")}, ${report.options.runs} a property`],
  ["exchanges", counted(totals.exchanges, "request")],
  ["took", durationText(report)],
  ["began", report.startedAt],
  ["protocol", target.protocol],
  ["embedded with", embeddedDetails(target.details)],
])}
</header>`;
}

/** What the embedded server was told to do wrong or differently. */
function embeddedDetails(details: unknown): string | undefined {
  const { faults, rarity, featureGates } = (details ?? {}) as Record<string, unknown>;
  const gates = Object.entries((featureGates ?? {}) as Record<string, unknown>).map(([name, on]) => `${name}=${on}`);
  const planted = Array.isArray(faults) ? faults.map((name) => `fault ${name}`) : [];
  const rare = typeof rarity === "number" ? [`in one request of ${rarity}`] : [];
  return [...planted, ...rare, ...gates].join(", ") || undefined;
}

/** How it stands, as a whole and by area; each number leads to its rows. */
function summary({ requirements: rows, totals }: SuiteReport): Markup {
  const shown = outcomeStatuses.filter((status) => totals.requirements[status] > 0);
  const total = shown.reduce((sum, status) => sum + totals.requirements[status], 0);
  return markup`<section aria-labelledby="summary">
<h2 id="summary">${counted(total, "requirement")}</h2>
${total > 0 && statusBar(totals.requirements)}
<ul class="legend">${shown.map(
    (status) =>
      markup`<li><a href="#verdict=${status}" class="count ${status}"><b>${totals.requirements[status]}</b> <span>${signs[status]} ${status}</span></a></li>`,
  )}</ul>
<div class="scroll" tabindex="0" role="region" aria-label="Requirements by area">
<table class="matrix"><caption class="unseen">Requirements by area and verdict</caption>
<thead><tr><th scope="col">area</th>${shown.map((status) => markup`<th scope="col">${status}</th>`)}<th scope="col" class="wide"><span class="unseen">shares</span></th></tr></thead>
<tbody>${[...countsByArea(rows)].map(
    ([area, counts]) =>
      markup`<tr><th scope="row"><a href="#area=${area}">${area}</a></th>${shown.map((status) =>
        counts[status] === 0
          ? markup`<td class="none">·</td>`
          : markup`<td class="${status}"><a href="#area=${area}&amp;verdict=${status}">${counts[status]}</a></td>`,
      )}<td class="wide">${statusBar(counts)}</td></tr>`,
  )}</tbody></table>
</div>
</section>`;
}

function filters({ requirements: rows, totals }: SuiteReport): Markup {
  return filterForm({
    statuses: outcomeStatuses
      .filter((status) => totals.requirements[status] > 0)
      .map((status) => [status, totals.requirements[status]] as const),
    areas: [...countsByArea(rows).keys()],
    levels: [...new Set(rows.map(({ level }) => level))],
  });
}

function findings(report: SuiteReport): Markup {
  const failed = report.checks.filter(({ verdict }) => verdict.status === "failed");
  const stale = report.deviations.filter(({ status }) => status === "stale");
  const groups = Map.groupBy(
    failed.flatMap(({ failure }) => failure ?? []),
    ({ requirement }) => requirement,
  );
  const none = failed.length + stale.length === 0;
  return markup`<section aria-labelledby="findings">
<h2 id="findings" tabindex="-1">Findings <span class="quiet">${failed.length + stale.length}</span></h2>
${none && markup`<p class="quiet">No promise was seen broken.</p>`}
${[...groups.values()].map((failures) => findingCards(report, failures))}
${failed.map((check) => check.failure === undefined && cardWithoutEvidence(check))}
${stale.map(
  ({ name, requirement, reason, instead }) =>
    markup`<article class="finding" ${filterable({ status: "failed", area: areaOf(requirement), level: levelOf(report, requirement) })}>
<h3>${requirement}: the declared deviation ${name} is stale</h3>
${definitions([
  ["declared", instead],
  ["because", reason],
  ["actual", "The target behaves as promised: remove the declaration from the profile."],
])}</article>`,
)}
<p class="quiet nothing" hidden>No finding fits the filters.</p>
</section>`;
}

const levelOf = ({ requirements: rows }: SuiteReport, id: string): string =>
  rows.find((row) => row.id === id)?.level ?? "";

function requirements({ requirements: rows }: SuiteReport): Markup {
  const areas = Map.groupBy(rows, ({ id }) => areaOf(id));
  return markup`<section aria-labelledby="requirements">
<h2 id="requirements" tabindex="-1">Requirements</h2>
${[...areas].map(
  ([area, own]) =>
    markup`<section class="area" aria-label="${area}"><h3>${area}</h3><ul class="rows">${own.map(requirementRow)}</ul></section>`,
)}
<p class="quiet nothing" hidden>No requirement fits the filters.</p>
</section>`;
}

function requirementRow(row: RequirementResult): Markup {
  const { id, level, text, checks, outcome, source } = row;
  const reason = reasonOf(outcome);
  const proof = outcome.status === "passed" ? counted(outcome.runs, "program") : undefined;
  return markup`<li id="${id}" ${filterable({ status: outcome.status, area: areaOf(id), level })}>
${statusChip(outcome.status)}
<div><code class="id">${id}</code> <span class="level">${level}</span> <span class="quiet">${sourceText(source)}</span>
<p>${text}</p>
${reason !== "" && markup`<p class="reason">${reason}</p>`}
<p class="quiet">judged by ${checks.length === 0 ? "no check" : checks.join(", ")}${proof !== undefined && `, ${proof}`}</p></div>
</li>`;
}

function sourceText({ document, clause }: RequirementResult["source"]): string {
  return document === undefined ? `observed: ${clause}` : `document ${document}, ${clause}`;
}

function otherSections(report: SuiteReport): Markup {
  const { features, deviations, notJudged, leftovers, checks } = report;
  const unsupported = features.filter(({ supported }) => !supported).length;
  const met = deviations.filter(({ status }) => status !== "stale");
  return markup`${
    features.length > 0 &&
    folded(
      `Optional features, ${unsupported} not supported`,
      features.length,
      "feature",
      table(
        ["feature", "supported", "how it shows"],
        features.map(({ feature, supported, how }) => [feature, supported ? "yes" : "no", how]),
      ),
    )
  }
${
  met.length > 0 &&
  folded(
    "Declared deviations",
    met.length,
    "deviation",
    table(
      ["deviation", "requirement", "status", "what it does instead", "reason"],
      met.map(({ name, requirement, status, instead, reason }) => [name, requirement, status, instead, reason]),
    ),
  )
}
${folded(
  "Checks",
  checks.length,
  "check",
  table(
    ["check", "verdict", "programs", "requests", "property"],
    checks.map(({ id, verdict, runs, exchanges, property }) => [
      id,
      verdict.status,
      String(runs),
      String(exchanges),
      property,
    ]),
  ),
)}
${notJudged.length > 0 && folded("Not judged by a run against a server", notJudged.length, "requirement", notJudgedTable(notJudged))}
${
  leftovers.length > 0 &&
  folded(
    "Left behind",
    leftovers.length,
    "object",
    markup`<ul>${leftovers.map((path) => markup`<li><code>${path}</code></li>`)}</ul>`,
  )
}`;
}

function notJudgedTable(rows: readonly NotJudged[]): Markup {
  return table(
    ["requirement", "level", "judged by", "why not here", "promise"],
    rows.map(({ id, level, judged, why, text }) => [id, level, judged, why, text]),
  );
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): Markup {
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="Table, scrollable"><table class="list">
<thead><tr>${header.map((title) => markup`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(
    (cells) =>
      markup`<tr>${cells.map((cell, i) => (i === 0 ? markup`<th scope="row">${cell}</th>` : markup`<td>${cell}</td>`))}</tr>`,
  )}</tbody></table></div>`;
}

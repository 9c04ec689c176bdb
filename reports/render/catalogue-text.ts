/** The catalogue for a terminal: requirements by area, then checks. */
import type { Catalogue, CatalogueCheck, CatalogueRow } from "../schema/catalogue.ts";
import type { Paint } from "./text.ts";

export function renderCatalogueText({ requirements, checks }: Catalogue, paint: Paint = (_, text) => text): string {
  const areas = [...new Set(requirements.map(({ id }) => areaOf(id)))];
  return [
    paint("strong", `${requirements.length} requirements, ${checks.length} checks`),
    ...areas.map((area) => areaBlock(area, requirements, paint)),
    [paint("strong", `CHECKS (${checks.length})`), ...checks.map((check) => checkText(check, paint))].join("\n"),
  ]
    .join("\n\n")
    .concat("\n");
}

function areaBlock(area: string, requirements: readonly CatalogueRow[], paint: Paint): string {
  const rows = requirements.filter(({ id }) => areaOf(id) === area);
  return [paint("strong", `${area} (${rows.length})`), ...rows.map((row) => rowText(row, paint))].join("\n");
}

function rowText(
  { id, level, reading, source, text, judged, why, tests = [], checks }: CatalogueRow,
  paint: Paint,
): string {
  const where =
    source.document === undefined ? `observed: ${source.clause}` : `document ${source.document}, ${source.clause}`;
  return [
    `  ${id} (${level})  ${paint("quiet", where)}`,
    `      ${text}`,
    ...(reading === undefined ? [] : [`      our reading: ${reading}`]),
    judged === "url" ? `      by ${checks.join(", ")}` : paint("doubtful", `      ${judged}: ${why ?? ""}`),
    ...tests.map((path) => `      shown by ${path}`),
  ].join("\n");
}

function checkText({ id, area, level, property, requirements, waits }: CatalogueCheck, paint: Paint): string {
  const notes = waits ? `${area}, waits by URL: level full only` : area;
  return [
    `  ${id} (${level})  ${paint("quiet", notes)}`,
    `      ${property}`,
    `      judges ${requirements.join(", ")}`,
  ].join("\n");
}

const areaOf = (id: string): string => id.slice(0, id.indexOf("."));

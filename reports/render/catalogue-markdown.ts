/** The catalogue as a document for people: a summary by area, and then a table an area, one line a requirement. */
import type { Catalogue, CatalogueRow } from "../schema/catalogue.ts";
import type { RequirementLevel, UnjudgedBy } from "../schema/suite-report.ts";
import type { OutcomeStatus } from "../schema/verdict.ts";

/** By profile, what became of each requirement that was judged. */
export type LastVerdicts = Readonly<Record<string, Readonly<Record<string, OutcomeStatus>>>>;

export interface CatalogueMarkdownOptions {
  /** Stands before the summary. */
  readonly introduction: string;
  /** The project's root, seen from the document: `..`. */
  readonly rootFolder: string;
}

export function renderCatalogueMarkdown(
  catalogue: Catalogue,
  verdicts: LastVerdicts,
  { introduction, rootFolder }: CatalogueMarkdownOptions,
): string {
  const { requirements, checks } = catalogue;
  const areas = [...new Set(requirements.map(({ id }) => areaOf(id)))].sort();
  const rowsOf = (area: string) => requirements.filter(({ id }) => areaOf(id) === area);
  return [
    introduction.trim(),
    "## Summary",
    table(summaryHeader(verdicts), [
      ...areas.map((area) => summaryLine(`[${area}](#${area})`, rowsOf(area), verdicts)),
      summaryLine("**all**", requirements, verdicts),
    ]),
    ...areas.flatMap((area) => [
      `## ${area}`,
      table(
        ["requirement", "level", "source", "promise", "checks, or why none", ...Object.keys(verdicts)],
        rowsOf(area).map((row) => rowCells(row, verdicts, rootFolder)),
      ),
    ]),
    [...checks]
      .sort(byId)
      .map(({ id, area }) => `[${id}]: ${rootFolder}/conformance/checks/${area}/${id}.ts`)
      .join("\n"),
  ]
    .join("\n\n")
    .concat("\n");
}

const levels: readonly RequirementLevel[] = ["must", "should", "may", "observed"];
const judges: readonly (readonly ["url" | UnjudgedBy, string])[] = [
  ["url", "judged by checks"],
  ["pending", "pending"],
  ["process", "process"],
  ["simulation", "simulation"],
  ["no", "no"],
];

const summaryHeader = (verdicts: LastVerdicts): string[] => [
  "area",
  "all",
  ...levels,
  ...judges.map(([, name]) => name),
  ...Object.keys(verdicts).map((profile) => `passed, ${profile}`),
];

function summaryLine(name: string, rows: readonly CatalogueRow[], verdicts: LastVerdicts): string[] {
  const count = (wanted: (row: CatalogueRow) => boolean): string => String(rows.filter(wanted).length);
  return [
    name,
    String(rows.length),
    ...levels.map((level) => count((row) => row.level === level)),
    ...judges.map(([judged]) => count((row) => row.judged === judged)),
    ...Object.values(verdicts).map((of) => count((row) => row.judged === "url" && of[row.id] === "passed")),
  ];
}

function rowCells(row: CatalogueRow, verdicts: LastVerdicts, rootFolder: string): string[] {
  const { id, level, reading, source, text, judged, why, tests = [], checks } = row;
  const where = source.document === undefined ? source.clause : `${source.document}: ${source.clause}`;
  return [
    `\`${id}\``,
    level,
    plain(where),
    plain(reading === undefined ? text : `${text} (Our reading: ${reading})`),
    judged === "url"
      ? checks.map((check) => `[${check}]`).join(", ")
      : [plain(`${judged}: ${why ?? ""}`), ...tests.map((path) => `[test](${rootFolder}/${path})`)].join(" "),
    ...Object.values(verdicts).map((of) => (judged === "url" ? (of[id] ?? "not run yet") : "")),
  ];
}

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Words of our own, so that only what a table or a line of prose would take for markup is guarded. */
const plain = (text: string): string => text.replaceAll(/[\\|*_<[\]]/g, "\\$&");

const areaOf = (id: string): string => id.slice(0, id.indexOf("."));
const byId = (one: { readonly id: string }, other: { readonly id: string }): number => (one.id < other.id ? -1 : 1);

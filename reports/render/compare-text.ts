/** A comparison for a terminal: the areas, then the requirements that differ. */
import { columnNote, compareReports, type NamedReport, notComparedNote, passedOf, statusOf } from "./compare.ts";
import { counted } from "./describe.ts";
import { renderTable } from "./table.ts";

export function renderComparisonText(reports: readonly NamedReport[]): string {
  const { columns, areas, rows } = compareReports(reports);
  const names = columns.map(({ name }) => name);
  const differing = rows.filter(({ differs }) => differs);
  const blocks = [
    columns.map((column) => `${column.name}: ${columnNote(column)}`).join("\n"),
    renderTable(
      ["passed of applicable", ...names],
      areas.map(({ area, counts }) => [area, ...counts.map(passedOf)]),
    ),
    differing.length === 0
      ? "All verdicts are the same."
      : renderTable(
          [counted(differing.length, "difference"), ...names],
          differing.map(({ id, outcomes }) => [id, ...outcomes.map(statusOf)]),
        ),
    notComparedNote(rows),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** A table for a terminal: the first column to the left, the others to the right, two spaces between. */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  options: { readonly paintHeader?: (text: string) => string } = {},
): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ");
  const head = line(header);
  return [options.paintHeader?.(head) ?? head, ...rows.map(line)].join("\n");
}

/** Text that Markdown shows as it is. What a server sent must not become markup, a link or a mention. */

/** For running text and cells of tables. Line ends become spaces. */
export function plainText(text: string): string {
  return text
    .replace(/\s*\n\s*/g, " ")
    .replace(/[\\`*_{}[\]<>()#+!|~&@-]/g, (character) =>
      /[<>&@]/.test(character) ? `&#${character.charCodeAt(0)};` : `\\${character}`,
    );
}

/** A span of code: the fence is longer than any run of backticks inside. */
export function codeSpan(text: string): string {
  const flat = text.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|");
  const fence = "`".repeat(longestRun(flat) + 1);
  const pad = flat.startsWith("`") || flat.endsWith("`") ? " " : "";
  return `${fence}${pad}${flat}${pad}${fence}`;
}

export function codeBlock(text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}text\n${text}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map((_, i) => (i === 0 ? ":--" : "--:"))), ...rows.map(line)].join("\n");
}

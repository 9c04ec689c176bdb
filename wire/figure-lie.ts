/**
 * How figures of usage differ from what is used, as people write it: `stand still`, `are 3 times as much`, `lack memory`,
 * `are old by 5m`.
 */
import { parseGoDuration } from "./durations.ts";

export type FigureLie =
  /** Those that were told first are told for ever, with their time. */
  | { readonly is: "still" }
  /** Used amounts; what is available is what they leave. */
  | { readonly is: "times"; readonly factor: number }
  | { readonly is: "lack"; readonly part: FigurePart }
  /** Their time is so far back. */
  | { readonly is: "old"; readonly micros: number };

const parts = ["memory", "cpu", "disk", "processes"] as const;
export type FigurePart = (typeof parts)[number];

const FORMS = 'write "stand still", "are 3 times as much", "lack memory" (cpu, disk, processes) or "are old by 5m"';
const factorMax = 1_000_000;

export function parseFigureLie(text: string): FigureLie | { readonly error: string } {
  const said = text.trim();
  if (said === "stand still") return { is: "still" };
  const factor = Number(/^are (\d+(?:\.\d+)?) times as much$/.exec(said)?.[1] ?? "none");
  if (factor <= factorMax) return { is: "times", factor };
  const lacking = /^lack (\w+)$/.exec(said)?.[1];
  const part = parts.find((each) => each === lacking);
  if (part !== undefined) return { is: "lack", part };
  const micros = parseGoDuration(/^are old by (\S+)$/.exec(said)?.[1] ?? "") ?? 0;
  if (micros >= 1 && Number.isSafeInteger(micros)) return { is: "old", micros };
  return { error: `"${text}" is nothing that figures do: ${FORMS}` };
}

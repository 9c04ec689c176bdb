/** Usage from a file: `trace FILE`, or `trace FILE every 10m` to play it again and again. A line is a time and the amount from then on. */
import { fileText } from "./file-text.ts";
import { unreadable } from "./file-problem.ts";
import { UsageError } from "./usage-error.ts";

const LINES_MAX = 20_000;

/** As the runtime takes it: a trace is a table of steps. What is no trace stays as it is. */
export function usageText(flag: string, text: string): string {
  const [, path, every = ""] = /^trace (.+?)( every \S+)?$/.exec(text.trim()) ?? [];
  if (path === undefined) return text;
  return `steps ${stepsOf(`${flag}: ${path}`, contentOf(flag, path)).join(" ")}${every}`;
}

function contentOf(flag: string, path: string): string {
  try {
    return fileText(path);
  } catch (error) {
    throw new UsageError(`${flag}: ${path} ${unreadable(error)}. Name a file of usage.`);
  }
}

/** `30s,200Mi`, `30 200Mi`: a time without a unit is in seconds. Empty lines and those that begin with # are left out. */
function stepsOf(where: string, content: string): readonly string[] {
  const steps: string[] = [];
  for (const [at, line] of content.split("\n").entries()) {
    const written = line.trim();
    if (written === "" || written.startsWith("#")) continue;
    const [, time = "", amount = ""] = /^([^\s,:]+)(?:\s*,\s*|\s+)([^\s,:]+)$/.exec(written) ?? [];
    if (amount === "")
      throw new UsageError(
        `${where}, line ${at + 1}: "${written.slice(0, 60)}" is not a time and an amount, such as 30s,200Mi.`,
      );
    steps.push(`${/^\d+(?:\.\d+)?$/.test(time) ? `${time}s` : time}:${amount}`);
    if (steps.length > LINES_MAX) throw new UsageError(`${where}: more than ${LINES_MAX} lines. Leave some out.`);
  }
  if (steps.length === 0)
    throw new UsageError(`${where}: there is no line with a time and an amount, such as 30s,200Mi.`);
  return steps;
}

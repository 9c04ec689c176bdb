/** Comparisons of arms as tables for a terminal. */
import type { Comparison, ComparedFigure } from "../capacity/compare.ts";
import { figureText } from "../capacity/metrics.ts";
import { renderTable } from "./table.ts";
import type { Paint } from "./text.ts";

/** Ends in a newline. `withZeros`: figures that are zero on both sides are shown too. */
export function renderComparisons(
  comparisons: readonly Comparison[],
  paint: Paint = (_tone, text) => text,
  withZeros = false,
): string {
  return comparisons.map((comparison) => `${one(comparison, paint, withZeros)}\n`).join("\n");
}

const words = { same: "", worse: "WORSE", better: "better", other: "other", unproven: "UNPROVEN" } as const;

function one({ before, after, repetitions, isPaired, figures }: Comparison, paint: Paint, withZeros: boolean): string {
  const times = `${repetitions} ${repetitions === 1 ? "repetition" : "repetitions"}${isPaired ? " with their chance in common" : ", each with a chance of its own"}`;
  if (repetitions === 0)
    return `${paint("strong", after)} beside ${paint("strong", before)}: ${paint("doubtful", "nothing can be compared: one of them has no run that was played to its end")}`;
  const rows = figures
    .filter((figure) => withZeros || figure.before.mean !== 0 || figure.after.mean !== 0)
    .map((figure) => [
      figure.metric.name,
      figure.metric.kind,
      shown(figure, "before"),
      shown(figure, "after"),
      change(figure),
      words[figure.verdict],
    ]);
  const table = renderTable(["", "", before, after, "difference (95 %)", ""], rows, {
    paintHeader: (text) => paint("strong", text),
  });
  const worse = figures.filter(({ verdict }) => verdict === "worse").length;
  const unproven = figures.filter(({ verdict }) => verdict === "unproven").length;
  const verdict =
    worse > 0
      ? paint("bad", `${worse} ${worse === 1 ? "figure is" : "figures are"} worse`)
      : unproven > 0
        ? paint(
            "doubtful",
            `${unproven} ${unproven === 1 ? "figure differs" : "figures differ"}, which so few repetitions cannot prove: give --repetitions 3 or more`,
          )
        : paint("good", "nothing is worse");
  return [`${paint("strong", after)} beside ${paint("strong", before)}: ${times}`, "", table, "", verdict].join("\n");
}

function shown({ metric, ...figure }: ComparedFigure, side: "before" | "after"): string {
  const { mean, halfWidth } = figure[side];
  return figureText(mean, metric.unit) + (halfWidth === 0 ? "" : ` ± ${figureText(halfWidth, metric.unit)}`);
}

function change({ difference: { relative, low, high } }: ComparedFigure): string {
  if (relative === 0) return "=";
  if (!Number.isFinite(relative)) return "new";
  const percent = (part: number): string => `${part > 0 ? "+" : ""}${(100 * part).toFixed(1)}`;
  return low === high ? `${percent(relative)} %` : `${percent(relative)} % (${percent(low)} … ${percent(high)})`;
}

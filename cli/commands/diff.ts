/** `touchstone diff`: the same programs against two servers, and where their answers part. */
import { join } from "node:path";
import process from "node:process";
import { findDifferences } from "../../conformance/diff/find-differences.ts";
import { type TopicName, topicNames } from "../../conformance/diff/topic-names.ts";
import { renderDiffText } from "../../reports/render/diff-text.ts";
import { renderJson } from "../../reports/render/json.ts";
import type { DiffReport } from "../../reports/schema/diff-report.ts";
import type { DiffOptions } from "../command-line.ts";
import { type DiffSide, openSide } from "../targets/diff-side.ts";
import { onInterrupt } from "../output/interrupt.ts";
import { painter, progressLine } from "../output/terminal.ts";
import { type ExitCode, exitCodes } from "../flags/usage-error.ts";
import { prepareFolder, writeWhole } from "../output/written-files.ts";

export async function diff(options: DiffOptions): Promise<ExitCode> {
  const { seed, addressA, addressB } = options;
  const runs = options.runs ?? (addressA.kind === "embedded" && addressB.kind === "embedded" ? 100 : 20);
  const { signal, stopListening } = onInterrupt(
    "Stopping: the report will hold what is known so far. Again to stop at once.",
  );
  const opened: DiffSide[] = [];
  const progress = progressLine();
  try {
    const open = (letter: "a" | "b"): DiffSide => {
      const address = letter === "a" ? addressA : addressB;
      const side = openSide(letter, address, options[letter], seed, signal);
      opened.push(side);
      return side;
    };
    const [a, b] = [open("a"), open("b")];
    if (options.report !== undefined) prepareFolder(options.report, "--report");
    const report = await findDifferences({
      a: a.side,
      b: b.side,
      seed,
      runs,
      signal,
      topics: options.only.length === 0 ? topicNames : topicNames.filter((name) => options.only.flat().includes(name)),
      names: { a: a.text, b: b.text },
      replayOf: (topic) => replayLine(a, b, topic, seed, runs),
      onProgress: (text) => progress.show(text),
    });
    progress.clear();
    if (options.report !== undefined) writeReport(report, options.report);
    process.stdout.write(options.json ? renderJson(report) : renderDiffText(report, painter(process.stdout)));
    return exitCodeOf[report.conclusion];
  } finally {
    progress.clear();
    stopListening();
    await Promise.all(opened.map((side) => side.close()));
  }
}

const exitCodeOf: Readonly<Record<DiffReport["conclusion"], ExitCode>> = {
  same: exitCodes.good,
  different: exitCodes.targetFailed,
  inconclusive: exitCodes.inconclusive,
};

/** Programs are drawn one after the other, so a topic alone meets the same ones. Secrets are the user's to add. */
function replayLine(a: DiffSide, b: DiffSide, topic: TopicName, seed: number, runs: number): string {
  const flags = [...a.flags, ...b.flags].map((flag) => ` ${flag}`).join("");
  return `npx touchstone diff ${a.address} ${b.address}${flags} --only ${topic} --seed ${seed} --runs ${runs}`;
}

function writeReport(report: DiffReport, directory: string): void {
  writeWhole(join(directory, "diff.json"), renderJson(report));
  writeWhole(join(directory, "diff.txt"), renderDiffText(report));
}

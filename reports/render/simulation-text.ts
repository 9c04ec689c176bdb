/** A simulation's report for a person: verdicts in the order of judging, what the clients did, the hash. */
import type { ExpectationResult, SimulationReport } from "../schema/simulation-report.ts";
import type { Verdict } from "../schema/verdict.ts";
import type { Paint, Tone } from "./text.ts";

const tones: Readonly<Record<Verdict["status"], Tone>> = {
  passed: "good",
  failed: "bad",
  error: "bad",
  inconclusive: "doubtful",
  unsupported: "quiet",
  skipped: "quiet",
};

/** Ends in a newline. */
export function renderSimulationText(report: SimulationReport, paint: Paint = (_tone, text) => text): string {
  const { scenario, seed, profile, traceHash, traceRecords, virtualMicros } = report;
  return [
    `${paint("strong", scenario)}, profile ${profile}, seed ${seed}, ${seconds(virtualMicros)} of virtual time`,
    "",
    ...report.expectations.flatMap((expectation) => expectationLines(expectation, paint)),
    "",
    ...Object.entries(report.clients).map(([name, counts]) => `${name}  ${paint("quiet", countsText(counts))}`),
    "",
    `trace ${traceHash} (${traceRecords} records)`,
    "",
  ].join("\n");
}

function expectationLines({ requirement, text, byMicros, verdict }: ExpectationResult, paint: Paint): string[] {
  const head = `${paint(tones[verdict.status], verdict.status.toUpperCase())} ${requirement} by ${seconds(byMicros)}`;
  if (verdict.status === "failed") {
    return [head, `  promised  ${text}`, `  expected  ${verdict.expected}`, `  actual    ${verdict.actual}`];
  }
  return verdict.status === "inconclusive" ? [head, `  why       ${verdict.why}`] : [head];
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(", ");

const seconds = (micros: number): string => `${micros / 1_000_000} s`;

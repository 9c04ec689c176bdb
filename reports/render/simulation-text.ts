/** A simulation's report for a person: verdicts in the order of judging, what the clients did, the hash. */
import type { ExpectationResult, SimulationReport } from "../schema/simulation-report.ts";
import type { Verdict } from "../schema/verdict.ts";
import { counted } from "./describe.ts";
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
  const { scenario, seed, profile, traceHash, traceRecords, virtualMicros, mode, bugs, drawn, faultCount } = report;
  const planted = bugs.length === 0 ? "" : `, with ${bugs.join(", ")}`;
  return [
    `${paint("strong", scenario)}, profile ${profile}, seed ${seed}, ${seconds(virtualMicros)} of virtual time${planted}`,
    paint("quiet", `${counted(faultCount, "fault")}, mode ${mode}`),
    ...drawn.map((line) => paint("quiet", `  ${line}`)),
    "",
    ...report.expectations.flatMap((expectation) => expectationLines(expectation, paint)),
    ...brokenInvariant(report, paint),
    "",
    ...Object.entries(report.clients).map(([name, counts]) => `${name}  ${paint("quiet", countsText(counts))}`),
    "",
    ...coverageLines(report, paint),
    `trace ${traceHash} (${traceRecords} records)`,
    "",
  ].join("\n");
}

function expectationLines(
  { requirement, text, byMicros, verdict, evidence }: ExpectationResult,
  paint: Paint,
): string[] {
  const head = `${paint(tones[verdict.status], verdict.status.toUpperCase())} ${requirement} by ${seconds(byMicros)}`;
  if (verdict.status === "failed") return [head, ...failureLines({ text, ...verdict, evidence: evidence ?? [] })];
  return verdict.status === "inconclusive" ? [head, `  why       ${verdict.why}`] : [head];
}

/** A promise that is judged all the time, and no row of the scenario asks for. */
function brokenInvariant({ failure, expectations }: SimulationReport, paint: Paint): string[] {
  if (
    failure === undefined ||
    expectations.some((row) => row.verdict.status === "failed" && row.requirement === failure.requirement)
  )
    return [];
  return [
    `${paint("bad", "FAILED")} ${failure.requirement} at ${seconds(failure.atMicros)}, after record ${failure.atRecord}`,
    ...failureLines(failure),
  ];
}

function failureLines({
  text,
  expected,
  actual,
  evidence,
}: {
  text: string;
  expected: string;
  actual: string;
  evidence: readonly string[];
}): string[] {
  return [
    `  promised  ${text}`,
    `  expected  ${expected}`,
    `  actual    ${actual}`,
    ...evidence.map((line, index) => `  ${index === 0 ? "evidence" : "        "}  ${line}`),
  ];
}

function coverageLines({ coverage }: SimulationReport, paint: Paint): string[] {
  const seen = countsText(coverage);
  return seen === "" ? [] : [`seen  ${paint("quiet", seen)}`, ""];
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(", ");

const seconds = (micros: number): string => `${micros / 1_000_000} s`;

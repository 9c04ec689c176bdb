/** Many runs of one scenario for a person: a line for each that failed, and what they come to. */
import type { SimulationReport } from "../schema/simulation-report.ts";
import type { Paint } from "./text.ts";

/** `wanted`: how many seeds were to be played; fewer are there of a run that was cut short. Ends in a newline. */
export function renderSeedsText(
  reports: readonly SimulationReport[],
  wanted: number,
  paint: Paint = (_tone, text) => text,
): string {
  const failed = reports.filter(({ failure }) => failure !== undefined);
  const lines = failed.map(
    ({ seed, failure }) =>
      `${paint("bad", "FAILED")} seed ${seed} at ${(failure?.atMicros ?? 0) / 1_000_000} s: ${failure?.requirement}: ${failure?.actual}`,
  );
  const seen = new Map<string, number>();
  for (const { coverage } of reports)
    for (const [name, count] of Object.entries(coverage)) if (count > 0) seen.set(name, (seen.get(name) ?? 0) + 1);
  return [
    ...lines,
    `${reports.length} seeds, ${failed.length === 0 ? paint("good", "none failed") : paint("bad", `${failed.length} failed`)}`,
    ...(reports.length < wanted
      ? [paint("doubtful", `cut short: ${wanted - reports.length} of ${wanted} seeds were not played`)]
      : []),
    ...[...seen].map(([name, count]) => paint("quiet", `  ${name} in ${count} of them`)),
    "",
  ].join("\n");
}

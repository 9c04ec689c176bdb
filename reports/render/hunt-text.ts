/** A hunt's report for a person: failures by what they have in common, the coverage, and how fast it went. */
import type { HuntGroup, HuntReport } from "../schema/hunt-report.ts";
import type { Paint } from "./text.ts";

/** Capsules are named as in the report: whoever shows it makes them paths from where the reader is. Ends in a newline. */
export function renderHuntText(report: HuntReport, paint: Paint = (_tone, text) => text): string {
  const {
    scenario,
    hunt,
    profile,
    mode,
    bugs,
    seedCount,
    seedsWanted,
    seedsNow,
    wallSeconds,
    seedsPerSecond,
    failures,
    broke,
    neverSeen,
    shard,
  } = report;
  const planted = bugs.length === 0 ? "" : `, with ${bugs.join(", ")}`;
  const named = hunt === undefined ? "" : `, hunt ${hunt}`;
  const wanted = seedsWanted === undefined || seedsWanted <= seedCount ? "" : ` of ${seedsWanted}`;
  const now = seedsNow === undefined ? "" : `, ${seedsNow} of them now`;
  return [
    `${paint("strong", scenario)}, profile ${profile}, mode ${mode}${planted}${named}${shard === undefined ? "" : `, part ${shard}`}`,
    `${seedCount}${wanted} seeds${now} in ${wallSeconds.toFixed(1)} s, ${seedsPerSecond.toFixed(0)} a second`,
    "",
    ...failures.flatMap((group) => groupLines(group, paint)),
    ...broke.slice(0, 5).map(({ seed, message }) => `${paint("bad", "BROKE")} seed ${seed}: ${message}`),
    ...(failures.length + broke.length === 0 ? [paint("good", "no seed failed")] : []),
    "",
    ...coverageLines(report, paint),
    ...neverSeen.map(
      (name) => `${paint("doubtful", "NEVER SEEN")} ${name}: no seed has shown it, so the hunt did not test it`,
    ),
    "",
  ].join("\n");
}

function groupLines(
  { count, requirement, expected, actual, fastest, firstSeed, capsule }: HuntGroup,
  paint: Paint,
): string[] {
  return [
    `${paint("bad", "FAILED")} ${count} ${count === 1 ? "seed" : "seeds"}: ${requirement}`,
    `  expected  ${expected}`,
    `  actual    ${actual}`,
    `  seed      ${fastest.seed} at ${fastest.atMicros / 1_000_000} s is the soonest, ${firstSeed} the first`,
    ...(capsule === undefined ? [] : [`  replay    npx touchstone replay ${capsule}`]),
  ];
}

function coverageLines({ coverage, seedCount }: HuntReport, paint: Paint): string[] {
  const rows = Object.entries(coverage).sort(([, one], [, other]) => other - one);
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, count]) =>
    paint(
      "quiet",
      `  ${name.padEnd(width)}  ${((100 * count) / Math.max(1, seedCount)).toFixed(0).padStart(3)} % of the seeds`,
    ),
  );
}

/** What a hunt over many seeds has found. Reports of parts of one hunt merge into one. */
import { z } from "zod";

const group = z.object({
  signature: z.string(),
  requirement: z.string(),
  expected: z.string(),
  actual: z.string(),
  /** Seeds that fail so. Counted. */
  count: z.int().min(1),
  firstSeed: z.int().min(0),
  /** The one whose failure comes soonest in virtual time. */
  fastest: z.object({ seed: z.int().min(0), atMicros: z.int().min(0) }),
  /** Its file, relative to the report. */
  capsule: z.string().optional(),
});

export const huntReportSchema = z.object({
  apiVersion: z.literal("reports/v1"),
  kind: z.literal("HuntReport"),
  scenario: z.string(),
  /** What the names of its capsules end in: the same for the same scenario, word for word, profile, mode and bugs. */
  hunt: z.string().optional(),
  build: z.string(),
  profile: z.string(),
  mode: z.string(),
  bugs: z.array(z.string()),
  /** Seeds that were played. Counted. */
  seedCount: z.int().min(0),
  /** Of all that were asked for; absent when it was a matter of time. */
  seedsWanted: z.int().min(0).optional(),
  /** Seeds that were played in these seconds; absent: all. The others are from calls before, kept beside the report. */
  seedsNow: z.int().min(0).optional(),
  /** Measured. */
  wallSeconds: z.number().min(0),
  seedsPerSecond: z.number().min(0),
  failures: z.array(group),
  /** Seeds at which Touchstone itself broke. */
  broke: z.array(z.object({ seed: z.int().min(0), message: z.string() })),
  /** In how many seeds each thing happened. Counted. */
  coverage: z.record(z.string(), z.int().min(0)),
  /** What the scenario wants to see at least once, and no seed has shown. */
  neverSeen: z.array(z.string()),
  /** Which part of the hunt this is, as 2/3; absent for the whole. */
  shard: z.string().optional(),
  /** The order in which canaries and planted bugs are judged: over how many seeds the first failure came, on average. */
  meanSeedsToFailure: z.number().min(0).optional(),
});

export type HuntReport = z.infer<typeof huntReportSchema>;
export type HuntGroup = z.infer<typeof group>;

/** Of all parts of one hunt. Throws a sentence when they are not that, since every seed counts once. */
export function mergeHunts(parts: readonly HuntReport[], sometimes: readonly string[]): HuntReport {
  const [first] = parts;
  if (first === undefined) throw new Error("there is nothing to merge");
  requireOneHunt(parts, first);
  const groups = new Map<string, HuntGroup>();
  const coverage: Record<string, number> = {};
  for (const part of parts) {
    for (const found of part.failures) {
      const known = groups.get(found.signature);
      groups.set(found.signature, known === undefined ? found : mergeGroups(known, found));
    }
    for (const [name, count] of Object.entries(part.coverage)) coverage[name] = (coverage[name] ?? 0) + count;
  }
  const sum = (of: (part: HuntReport) => number): number => parts.reduce((total, part) => total + of(part), 0);
  const seedCount = sum((part) => part.seedCount);
  const wallSeconds = Math.max(...parts.map((part) => part.wallSeconds));
  const { shard: _shard, seedsWanted: _wanted, seedsNow: _now, meanSeedsToFailure: _mean, ...rest } = first;
  const failures = [...groups.values()].sort(
    (one, two) => two.count - one.count || (one.signature < two.signature ? -1 : 1),
  );
  const failed = failures.reduce((total, { count }) => total + count, 0);
  return {
    ...rest,
    seedCount,
    ...(parts.every((part) => part.seedsWanted !== undefined)
      ? { seedsWanted: sum((part) => part.seedsWanted ?? 0) }
      : {}),
    wallSeconds,
    seedsPerSecond: wallSeconds === 0 ? 0 : seedCount / wallSeconds,
    failures,
    broke: parts.flatMap((part) => part.broke),
    coverage,
    neverSeen: sometimes.filter((name) => (coverage[name] ?? 0) === 0),
    ...(failed === 0 ? {} : { meanSeedsToFailure: seedCount / failed }),
  };
}

function requireOneHunt(parts: readonly HuntReport[], first: HuntReport): void {
  const other = parts.find((part) => huntIdentity(part) !== huntIdentity(first));
  if (other !== undefined)
    throw new Error(`these are of different hunts: ${huntIdentity(first)}, and ${huntIdentity(other)}`);
  const given = parts.map(({ shard }) => shard ?? "");
  const count = Number(/^\d+\/(\d+)$/.exec(first.shard ?? "")?.[1] ?? 0);
  if (given.some((shard) => shard === "")) throw new Error("a report is of a whole hunt: give those of `hunt --shard`");
  if (given.some((shard) => !shard.endsWith(`/${count}`)))
    throw new Error(`these are parts of hunts that were divided differently: ${given.join(", ")}`);
  const missing = Array.from({ length: count }, (_, at) => `${at + 1}/${count}`).filter((one) => !given.includes(one));
  if (missing.length > 0)
    throw new Error(
      `${missing.length === 1 ? "part" : "parts"} ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing: give the reports of all`,
    );
  if (new Set(given).size !== given.length) throw new Error("a part is given twice: give each report once");
}

/** Which hunt a report is of, for a person. */
export const huntIdentity = ({ scenario, hunt, build, profile, mode, bugs }: HuntReport): string =>
  `${scenario}, profile ${profile}, mode ${mode}, build ${build}${hunt === undefined ? "" : `, hunt ${hunt}`}${bugs.length === 0 ? "" : `, with ${bugs.join(", ")}`}`;

function mergeGroups(one: HuntGroup, other: HuntGroup): HuntGroup {
  const faster = other.fastest.atMicros < one.fastest.atMicros ? other : one;
  return { ...faster, count: one.count + other.count, firstSeed: Math.min(one.firstSeed, other.firstSeed) };
}

/**
 * A cluster that does every lawful thing at random moments: no judge may mind, and whatever the suite changes there is its
 * own. `HOSTILE_SEEDS=200` tries more moments, `HOSTILE_ONLY=watch` fewer checks.
 */
import { describe, expect, it } from "vitest";
import { hostileTransport } from "../../conformance/testing/hostile-transport.fixture.ts";
import { planSuite, runPart } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withFrontEnds } from "../../sim/http/embedded-front-ends.fixture.ts";
import { type GuestBook, noting } from "./good-guest.fixture.ts";

const firstSeed = Number(process.env["HOSTILE_FIRST"] ?? 1);
const seedCount = Number(process.env["HOSTILE_SEEDS"] ?? 1);
/** Each profile has its own: what goes wrong at a moment mostly does so under both. */
const seedsOf = (place: number): readonly number[] =>
  Array.from({ length: seedCount }, (_, index) => firstSeed + place * seedCount + index);
const only = process.env["HOSTILE_ONLY"]?.split(",") ?? [];
const runs = Number(process.env["HOSTILE_RUNS"] ?? 2);

const differing = [
  { cacheLagMicros: 40_000, skewMillis: 1500 },
  { cacheLagMicros: 150_000, skewMillis: -2500 },
];

/** For these a cluster needs nodes, agents, an issuer of tokens or an authorizer that can be set, or gates that are off. */
const playedElsewhere = [
  "unsafe-deletions-are-refused",
  "cbor-is-whole",
  "tokens-are-who-their-claims-say",
  "tokens-end-with-their-lifetime",
  "forged-tokens-are-refused",
  "keys-are-found-where-the-file-says",
  "keys-of-an-issuer-change",
  "anonymous-callers-come-in-at-named-paths",
  "authorizers-are-asked-in-order",
  "authorizers-that-fail-decide-by-policy",
  "decisions-are-kept-for-their-lifetime",
  "joined-nodes-evict-lawfully",
  "agents-keep-to-their-thresholds",
  "agents-are-set-lawfully",
  "joined-nodes-run-pods-lawfully",
  "joined-nodes-admit-lawfully",
  "joined-nodes-give-what-pods-say",
  "joined-nodes-keep-what-others-write",
];

describe.each([
  ["svc", seedsOf(0)],
  ["kubernetes", seedsOf(1)],
] as const)("a hostile but lawful cluster, profile %s", (profile, seeds) => {
  it.each(seeds)("has no finding, and changes its own alone, with seed %i", { timeout: 300_000 }, async (seed) => {
    const runId = `h${seed}`;
    const selection = { profile, seed, runs, level: "quick", targetKind: "embedded", only, runId } as const;
    const planned = planSuite(selection);
    const bad: unknown[] = [];
    const unseen: string[] = [];
    const book: GuestBook = { asked: 0, others: new Set() };
    for (const check of planned.plan.checks) {
      const server = {
        seed: `${seed}/${check.id}`,
        profile: profiles[profile],
        latencyMicros: { min: 50, max: 2000 },
        authorizationModes: ["RBAC"] as const,
        featureGates: { WatchList: true },
        others: differing,
      };
      const part = await withFrontEnds(server, ({ transport, others, clock, webhooks }) => {
        const further = others.map((each, index) => ({
          transport: each,
          skewMillis: differing[index]?.skewMillis ?? 0,
        }));
        const frontEnds = [{ transport, skewMillis: 0 }, ...further] as const;
        const hostile = hostileTransport({ frontEnds, clock, seed: seed * 7919, anyCreateIs200: profile === "svc" });
        const noted = noting(book, check.id, runId, hostile);
        return runPart({ ...selection, transport: noted, clock, webhooks }, planned, [check]);
      });
      for (const { verdict, failure } of part.outcomes) {
        if (verdict.status === "unsupported") unseen.push(check.id);
        if (verdict.status !== "failed" && verdict.status !== "error") continue;
        bad.push({
          check: check.id,
          requirement: failure?.requirement,
          ...verdict,
          curl: failure?.curl,
          program: failure?.counterexampleText,
        });
      }
    }
    expect(bad).toEqual([]);
    expect([...book.others]).toEqual([]);
    if (only.length > 0) return;
    expect(book.asked).toBeGreaterThan(1000);
    expect(unseen).toEqual(playedElsewhere);
  });
});

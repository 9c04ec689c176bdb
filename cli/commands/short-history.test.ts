/** A history that is too short for a slow run, and one that is too short for anybody: only the second is the server's fault. */
import { expect, it } from "vitest";
import { runSuite } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";

/** Verdict and broken requirement, when an answer takes `roundTripMicros` and what is older than the window is forgotten. */
function judge(roundTripMicros: number, historyWindowMicros: number): Promise<(string | undefined)[]> {
  const latencyMicros = { min: roundTripMicros / 2, max: roundTripMicros / 2 };
  return withEmbeddedServer({ seed: "1", profile: profiles.svc, latencyMicros, historyWindowMicros }, async (ports) => {
    const only = ["watch-starts-after-its-version"];
    const report = await runSuite({ ...ports, profile: "svc", targetKind: "embedded", only, runs: 4 });
    return report.checks.flatMap(({ verdict, failure }) => [verdict.status, failure?.requirement]);
  });
}

it("does not blame a server for a slow run", async () => {
  expect(await judge(400_000, 2_000_000)).toEqual(["inconclusive", undefined]);
});

it("blames one that forgets at once", async () => {
  expect(await judge(1000, 2000)).toEqual(["failed", "watch.stream"]);
});

it("passes one that a slow run is not too slow for", async () => {
  expect(await judge(400_000, 300_000_000)).toEqual(["passed", undefined]);
});

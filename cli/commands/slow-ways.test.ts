/** What takes seconds on its way is late, and not wrong. Each of these checks was once misled by it. */
import { expect, it } from "vitest";
import { runSuite } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";

/** A clock and a transport of an embedded server, judged as a URL is: by time. */
it("has fewer programs of a check where every answer takes seconds, and all that were asked for", {
  timeout: 60_000,
}, async () => {
  const server = { seed: "1", profile: profiles.svc, latencyMicros: { min: 1_500_000, max: 1_500_000 } };
  const judged = (runs?: number) =>
    withEmbeddedServer(server, ({ transport, clock }) =>
      runSuite({
        transport,
        clock,
        targetKind: "url",
        profile: "svc",
        only: ["names-follow-their-grammar"],
        ...(runs === undefined ? {} : { runs }),
      }),
    );
  const { checks, conclusion } = await judged();
  expect([conclusion, checks[0]?.verdict.status]).toEqual(["conformant", "passed"]);
  expect(checks[0]?.leftOut).toBeGreaterThan(5);
  const whole = await judged(20);
  expect([whole.checks[0]?.leftOut, whole.checks[0]?.runs]).toEqual([undefined, 24]);
});

const only = ["bookmarks-can-be-resumed-from", "grace-only-shortens", "joined-nodes-evict-lawfully", "lists"];

it("is no finding, with up to three seconds for a message", { timeout: 240_000 }, async () => {
  const server = { seed: "1", profile: profiles.kubernetes, authorizationModes: ["RBAC"] as const };
  const latencyMicros = { min: 0, max: 3_000_000 };
  const report = await withEmbeddedServer({ ...server, latencyMicros }, ({ transport, ...ports }) =>
    runSuite({ ...ports, transport, targetKind: "embedded", profile: "kubernetes", runs: 3, only }),
  );
  const bad = report.checks.filter(({ verdict }) => !["passed", "unsupported"].includes(verdict.status));
  expect(bad.map(({ id, verdict }) => ({ id, ...verdict }))).toEqual([]);
  expect(report.totals.checks.passed).toBeGreaterThan(3);
});

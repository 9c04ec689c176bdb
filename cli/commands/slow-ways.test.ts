/** What takes seconds on its way is late, and not wrong. Each of these checks was once misled by it. */
import { expect, it } from "vitest";
import { runSuite } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";

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

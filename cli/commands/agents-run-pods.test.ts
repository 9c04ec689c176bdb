import { expect, it } from "vitest";
import { runSuite } from "../../conformance/run-suite.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";

const only = [
  "joined-nodes-run-pods-lawfully",
  "joined-nodes-admit-lawfully",
  "joined-nodes-give-what-pods-say",
  "joined-nodes-keep-what-others-write",
];

/** The suite's nodes, run by real agents with simulated runtimes on the embedded cluster. */
const judge = (profile: "svc" | "kubernetes") =>
  withEmbeddedServer({ seed: "pods", profile: profiles[profile] }, (ports) =>
    runSuite({ ...ports, profile, targetKind: "embedded", only, runs: 1, level: "quick" }),
  );

it.each(["svc", "kubernetes"] as const)("agents pass in every requirement of their pods, %s", async (profile) => {
  const { requirements, leftovers } = await judge(profile);
  const wrong = requirements.filter(({ outcome }) => outcome.status !== "passed");
  expect(wrong.map(({ id, outcome }) => `${id}: ${JSON.stringify(outcome)}`)).toEqual([]);
  expect(requirements.length).toBeGreaterThan(30);
  expect(leftovers).toEqual([]);
});

import { describe, expect, it } from "vitest";
import { exitCodeOf } from "../reports/schema/verdict.ts";
import { planSuite, reportOf, runSuite, type SuiteOptions, SuiteUsageError } from "./run-suite.ts";
import { jumpingClock, type Script, scriptedTransport } from "./testing/scripted-target.fixture.ts";

function run(script: Script, options: Partial<SuiteOptions> = {}) {
  return runSuite({
    transport: scriptedTransport(script),
    clock: jumpingClock(),
    profile: "svc",
    targetKind: "embedded",
    runs: 2,
    ...options,
  });
}

const discovery = { kind: "APIResourceList", groupVersion: "v1", resources: [] as object[] };
const noConfigMaps: Script = ({ path }) =>
  path.startsWith("/api/v1") && !path.includes("?") ? { status: 200, json: discovery } : { status: 404, json: {} };

const row = (name: string, kind: string, namespaced: boolean) => ({
  name,
  kind,
  namespaced,
  singularName: "",
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
});
const served = {
  ...discovery,
  resources: [row("configmaps", "ConfigMap", true), row("namespaces", "Namespace", false)],
};
/** It says what it serves, and breaks at everything else. */
const broken: Script = ({ method, path }) =>
  method === "GET" && path === "/api/v1" ? { status: 200, json: served } : { status: 500, json: {} };

it("tells each thing that was left behind once, and of an embedded server, which is gone, none", () => {
  const leftovers = (kind: "url" | "embedded") => {
    const options = { profile: "svc", targetKind: kind } as const;
    const part = (...paths: string[]) => ({
      target: { kind, address: "here", version: undefined, details: null },
      features: new Map(),
      outcomes: [],
      leftovers: paths,
      startedMillis: 0,
      durationMillis: 1,
    });
    return reportOf(options, planSuite(options), [part("/a", "/a"), part("/b", "/a")]).leftovers;
  };
  expect(leftovers("url")).toEqual(["/a", "/b"]);
  expect(leftovers("embedded")).toEqual([]);
});

describe("levels", () => {
  const planned = (level: "quick" | "full", targetKind: "url" | "embedded") => {
    const { plan, settings } = planSuite({ profile: "svc", level, targetKind });
    return { waits: plan.checks.some(({ kind }) => kind === "aged"), runs: settings.runs, partial: plan.partial };
  };

  it("quick waits for no expiry by URL, and says that it is a part", () => {
    expect(planned("quick", "url")).toEqual({ waits: false, runs: 20, partial: true });
    expect(planned("full", "url")).toEqual({ waits: true, runs: 20, partial: false });
  });

  it("quick leaves nothing out embedded, where waiting takes no time, but runs fewer programs", () => {
    expect(planned("quick", "embedded")).toEqual({ waits: true, runs: 20, partial: false });
    expect(planned("full", "embedded")).toEqual({ waits: true, runs: 100, partial: false });
  });
});

describe("runSuite", () => {
  it("blames nobody when no answer comes: nothing is proven", async () => {
    const report = await run(() => (sink) => sink.failed(new Error("connect ECONNREFUSED")));
    expect(report.conclusion).toBe("inconclusive");
    expect(exitCodeOf[report.conclusion]).toBe(3);
    expect(report.totals.checks.inconclusive).toBe(report.checks.length);
    expect(report.checks[0]?.verdict).toMatchObject({ why: expect.stringContaining("ECONNREFUSED") });
  });

  it("proves nothing by a target that claims nothing", async () => {
    const report = await run(noConfigMaps, { only: ["writes"] });
    expect(report.totals.checks.unsupported).toBe(report.checks.length);
    expect(report.conclusion).toBe("inconclusive");
  });

  it("says that credentials do not reach instead of failing the target", async () => {
    const report = await run(() => ({ status: 403, json: { kind: "Status", code: 403 } }), {
      only: ["writes-are-linearizable"],
    });
    expect(report.checks[0]?.verdict).toMatchObject({
      status: "inconclusive",
      why: expect.stringContaining("credentials"),
    });
  });

  it("says that credentials are not accepted, once and of everything", async () => {
    const report = await run(() => ({ status: 401, json: { kind: "Status", code: 401 } }));
    expect([report.conclusion, report.totals.checks.inconclusive]).toEqual(["inconclusive", report.checks.length]);
    expect(report.totals.exchanges).toBe(0);
    expect(report.checks[0]?.verdict).toMatchObject({
      why: expect.stringContaining("the credentials are not accepted: GET /api/v1 answers 401"),
    });
  });

  it("takes what answers 500 to everything for no cluster API, and blames nobody", async () => {
    const report = await run(() => ({ status: 500, json: {} }), { only: ["writes-are-linearizable"] });
    expect(report.conclusion).toBe("inconclusive");
  });

  it("fails a target that answers 500, with the exchange, a curl line and a replay line as evidence", async () => {
    const report = await run(broken, { only: ["writes-are-linearizable"], seed: 9 });
    const [check] = report.checks;
    expect(report.conclusion).toBe("nonconformant");
    expect(check?.failure).toMatchObject({
      requirement: "objects.verbs",
      replay: expect.stringMatching(
        /^npx touchstone conform --profile svc --only writes-are-linearizable --seed 9 --path \S+$/,
      ),
      curl: expect.stringContaining("-X POST"),
    });
    expect(check?.failure?.history.at(-1)).toMatchObject({ method: "POST", path: "/api/v1/namespaces", status: 500 });
    // The requirement that broke is shown, though the check is about another.
    expect(report.requirements.find(({ id }) => id === "objects.verbs")).toMatchObject({
      outcome: { status: "failed" },
      evidence: ["failures/writes-are-linearizable.json"],
    });
    expect(report.requirements.find(({ id }) => id === "writes.linearizable")?.outcome.status).toBe("inconclusive");
  });

  it("replays by the law that was asked for", async () => {
    const report = await run(broken, { only: ["writes-are-linearizable"], law: "must" });
    expect(report.checks[0]?.failure?.replay).toContain("--seed 1 --law must");
  });

  it("proves nothing when it is stopped, and says that it was", async () => {
    const report = await run(() => ({ status: 200, json: {} }), { signal: AbortSignal.abort() });
    expect([report.complete, report.conclusion]).toEqual([false, "inconclusive"]);
  });

  it("refuses a selection that would prove nothing", async () => {
    await expect(run(noConfigMaps, { only: ["no-such-check"] })).rejects.toThrow(SuiteUsageError);
    await expect(run(noConfigMaps, { path: "1:2" })).rejects.toThrow(SuiteUsageError);
  });
});

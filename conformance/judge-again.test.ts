import { describe, expect, it } from "vitest";
import type { ExchangeRecord, SuiteFailure } from "../reports/schema/suite-report.ts";
import type { WireRequest } from "../wire/ports.ts";
import { judgeAgain, type RecordedHistory } from "./judge-again.ts";
import { runSuite } from "./run-suite.ts";
import { jumpingClock, type ScriptedAnswer, scriptedTransport } from "./testing/scripted-target.ts";

/** A server that takes deletions of namespaces that must stay. */
function target({ method, path }: WireRequest): ScriptedAnswer {
  if (method === "DELETE" && path.includes("/default?")) return { status: 200, json: { kind: "Status" } };
  if (method === "DELETE") return { status: 405, json: { kind: "Status" } };
  return { status: 404, json: { kind: "Status" } };
}

async function failure(): Promise<RecordedHistory & Pick<SuiteFailure, "requirement" | "expected" | "actual">> {
  const report = await runSuite({
    transport: scriptedTransport(target),
    clock: jumpingClock(),
    profile: "svc",
    targetKind: "embedded",
    only: ["some-namespaces-stay"],
  });
  // As it comes back from its file.
  const found = JSON.parse(JSON.stringify(report.checks[0]?.failure)) as SuiteFailure;
  return { ...found, profile: "svc" };
}

const changed = (history: readonly ExchangeRecord[], change: Partial<ExchangeRecord>): ExchangeRecord[] =>
  history.map((exchange) => ({ ...exchange, ...change }));

describe("judgeAgain", () => {
  it("rejects the history that was rejected, with the same words", async () => {
    const recorded = await failure();
    expect(recorded.requirement).toBe("namespaces.protected");
    const { requirement, expected, actual } = recorded;
    expect(await judgeAgain(recorded)).toEqual({ result: "failed", requirement, violation: { expected, actual } });
  });

  it("accepts a lawful history", async () => {
    const recorded = await failure();
    const [first] = recorded.history as [ExchangeRecord];
    const answer = { status: 403, began: 3, ended: 4 };
    const second = {
      ...first,
      ...answer,
      index: 1,
      status: 405,
      path: first.path.replace(/\/default.*/, "?dryRun=All&labelSelector=touchstone-run%3Dnobody"),
      requestBody: undefined,
    };
    const history = [{ ...first, status: 403 }, second];
    expect(await judgeAgain({ ...recorded, history })).toEqual({ result: "lawful" });
  });

  it("claims nothing of a history that does not hold what the check asks", async () => {
    const recorded = await failure();
    const unknown = async (parts: Partial<RecordedHistory>) => judgeAgain({ ...recorded, ...parts });
    expect(await unknown({ history: [] })).toMatchObject({
      result: "unknown",
      why: expect.stringContaining("holds no DELETE"),
    });
    expect(await unknown({ historyDropped: 2 })).toMatchObject({ result: "unknown" });
    expect(await unknown({ check: "no-such-check" })).toMatchObject({ result: "unknown" });
    const cut = changed(recorded.history, { responseBody: "{…(12 more bytes)" });
    expect(await unknown({ history: cut })).toMatchObject({ result: "unknown", why: expect.stringContaining("whole") });
    const packed = changed(recorded.history, { responseHeaders: { "content-encoding": "gzip" } });
    expect(await unknown({ history: packed })).toMatchObject({
      result: "unknown",
      why: expect.stringContaining("packed"),
    });
  });
});

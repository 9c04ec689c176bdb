import { describe, expect, it } from "vitest";
import type { ExchangeRecord, SuiteFailure } from "../reports/schema/suite-report.ts";
import type { WireRequest } from "../wire/ports.ts";
import { judgeAgain, type RecordedHistory } from "./judge-again.ts";
import { runSuite } from "./run-suite.ts";
import { jumpingClock, type ScriptedAnswer, scriptedTransport } from "./testing/scripted-target.fixture.ts";

const verbsOfNamespaces = (...verbs: readonly string[]) => ({ resources: [{ name: "namespaces", verbs }] });

/** A server that would delete all namespaces at once. */
function target({ path }: WireRequest): ScriptedAnswer {
  if (path === "/api/v1") return { status: 200, json: verbsOfNamespaces("delete", "deletecollection") };
  return { status: 404, json: { kind: "Status" } };
}

async function failure(): Promise<RecordedHistory & Pick<SuiteFailure, "requirement" | "expected" | "actual">> {
  const report = await runSuite({
    transport: scriptedTransport(target),
    clock: jumpingClock(),
    profile: "svc",
    targetKind: "embedded",
    only: ["namespaces-go-one-by-one"],
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
    expect(recorded.requirement).toBe("namespaces.no-collection-delete");
    const { requirement, expected, actual } = recorded;
    expect(await judgeAgain(recorded)).toEqual({ result: "failed", requirement, violation: { expected, actual } });
  });

  it("accepts a lawful history", async () => {
    const recorded = await failure();
    const history = changed(recorded.history, { responseBody: JSON.stringify(verbsOfNamespaces("delete")) });
    expect(await judgeAgain({ ...recorded, history })).toEqual({ result: "lawful" });
  });

  it("claims nothing of a history that does not hold what the check asks", async () => {
    const recorded = await failure();
    const unknown = async (parts: Partial<RecordedHistory>) => judgeAgain({ ...recorded, ...parts });
    expect(await unknown({ history: [] })).toMatchObject({
      result: "unknown",
      why: expect.stringContaining("holds no GET"),
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

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireRequest } from "../../wire/ports.ts";
import { objectOf } from "../client/collection.ts";
import { CheckFailure } from "../client/findings.ts";
import { suiteProfiles } from "../profiles/index.ts";
import { jumpingClock, type ScriptedAnswer, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { type Cost, defineAgedCheck, defineCheck } from "./define-check.ts";
import { Furnishing } from "./lodging.ts";
import { captureCheck, runCheck, type SuiteRun } from "./run-check.ts";
import { nameSource } from "./run-part.ts";

const unreached: ScriptedAnswer = { status: 502, headers: { "content-type": "text/html" } };

/** A target that takes every write, behind a gateway that does not reach it for those that `isAway` says. */
function runBehind(isAway: (request: WireRequest) => boolean) {
  const transport = scriptedTransport((request) =>
    isAway(request) ? unreached : { status: 200, json: JSON.parse(String(request.body ?? "{}")) as unknown },
  );
  const clock = jumpingClock();
  const run: SuiteRun = {
    transport,
    clock,
    profile: suiteProfiles.svc,
    rows: new Map(),
    law: "observed",
    names: nameSource("r"),
    features: new Map(),
    furnishing: new Furnishing(),
    lodgings: [],
    seed: 1,
    path: undefined,
    runs: 1,
    mayRunFewer: false,
    target: { kind: "url", address: "http://target", version: undefined, details: null },
    curl: { address: "http://target", flags: [] },
    replayFlags: [],
    signal: undefined,
    leaving: [],
  };
  const madeIn = (name: string): string[] =>
    transport.requests
      .filter(({ method, body }) => method === "POST" && String(body).includes(`"name":"${name}"`))
      .map(({ path }) => path);
  return { run, madeIn };
}

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

/** Writes an object when it captures, and another when it judges. */
const check = (settled: () => void = () => {}) =>
  defineAgedCheck({
    id: "old-things-are-old",
    area: "expiry",
    property: "What is old is old.",
    requirements: ["expiry.old"],
    features: [],
    async capture(attempt) {
      const collection = await attempt.target.collection("configmaps");
      objectOf(await collection.create(configMap("captured")));
      return collection;
    },
    async settle(attempt, collection) {
      objectOf(await collection.create(configMap("settled")));
      settled();
      attempt.holds("expiry.old", undefined);
    },
  });

/** The first `count` requests to write an object of this name. */
const firstWrites = (name: string, count: number) => {
  let seen = 0;
  return ({ method, body }: WireRequest) =>
    method === "POST" && String(body).includes(`"name":"${name}"`) && (seen += 1) <= count;
};

describe("a check of what has grown old, when a gateway does not reach the target", () => {
  it("captures anew in a namespace of its own", async () => {
    const { run, madeIn } = runBehind(firstWrites("captured", 1));
    const { verdict, exchanges } = await (await captureCheck(run, check())).settle(0);
    expect(verdict).toEqual({ status: "passed", runs: 1 });
    const [lost, captured] = madeIn("captured");
    expect(captured).not.toBe(lost);
    expect(madeIn("settled")).toEqual([captured]);
    expect(run.leaving.map(({ namespace }) => namespace)).toEqual(["touchstone-r-1", "touchstone-r-2"]);
    expect(exchanges).toBe(5); // two namespaces, and three objects of which one was lost
  });

  it("judges again what it has captured, where that is", async () => {
    const { run, madeIn } = runBehind(firstWrites("settled", 2));
    const { verdict } = await (await captureCheck(run, check())).settle(0);
    expect(verdict).toEqual({ status: "passed", runs: 1 });
    expect(madeIn("captured")).toHaveLength(1);
    expect(new Set(madeIn("settled"))).toEqual(new Set(madeIn("captured")));
    expect(madeIn("settled")).toHaveLength(3);
  });

  it.each(["captured", "settled"])("is inconclusive when it stays so, with what was %s", async (name) => {
    const { run, madeIn } = runBehind(firstWrites(name, Number.POSITIVE_INFINITY));
    const { verdict, failure } = await (await captureCheck(run, check())).settle(0);
    expect(verdict).toMatchObject({ status: "inconclusive", why: expect.stringContaining("a gateway answered 502") });
    expect([failure, madeIn(name).length]).toEqual([undefined, 3]);
  });

  it("does not judge again what has failed", async () => {
    let judged = 0;
    const failing = check(() => {
      judged += 1;
      throw new CheckFailure("expiry.old", { expected: "old", actual: "new" });
    });
    const { run } = runBehind(() => false);
    const { verdict } = await (await captureCheck(run, failing)).settle(0);
    expect([verdict, judged]).toEqual([{ status: "failed", expected: "old", actual: "new" }, 1]);
  });
});

describe("a check of programs", () => {
  const lodged = (
    seen: string[],
    isBroken: (namespace: string, value: number) => boolean,
    violation = { expected: "", actual: "" },
  ) =>
    defineCheck({
      id: "namespaces-are-told",
      area: "writes",
      property: "Namespaces are told.",
      requirements: ["writes.told"],
      features: [],
      input: fc.nat(1000),
      async run(attempt, value) {
        const namespace = await attempt.target.namespace();
        seen.push(namespace);
        attempt.holds("writes.told", isBroken(namespace, value) ? violation : undefined);
      },
    });

  it("that fail where others lived are tried in namespaces of their own, and made smaller there", async () => {
    const { run } = runBehind(() => false);
    const lodgings = [{ prefix: "used", suffixes: [""] }];
    const seen: string[] = [];
    const { failure } = await runCheck(
      { ...run, lodgings },
      lodged(seen, () => true),
    );
    expect([seen[0], seen.length > 2, new Set(seen).size]).toEqual(["used", true, seen.length]);
    expect(JSON.stringify(failure?.history)).not.toContain("used");
  });

  it("that find nothing where something should be tell that", async () => {
    const { run } = runBehind(() => false);
    const check = lodged([], () => true, { expected: "a series", actual: JSON.stringify(undefined) });
    const { failure } = await runCheck(run, check);
    expect(JSON.parse(JSON.stringify(failure))).toMatchObject({ expected: "a series", actual: "nothing" });
  });

  it("that fail only where others lived are told as they failed", async () => {
    const { run } = runBehind(() => false);
    const lodgings = [{ prefix: "used", suffixes: [""] }];
    const seen: string[] = [];
    const check = lodged(seen, (namespace) => namespace === "used");
    const { verdict, failure } = await runCheck({ ...run, lodgings }, check);
    expect([verdict.status, failure?.shrinks, new Set(seen).size]).toEqual(["failed", 0, seen.length]);
    expect(failure?.replay).toMatch(/ --path \d+$/);
  });

  it.each<[Cost, "url" | "embedded", number]>([
    ["quick", "url", 30],
    ["waiting", "url", 30],
    ["slow", "url", 3],
    ["slow", "embedded", 30],
    ["heavy", "url", 3],
    ["heavy", "embedded", 3],
  ])("that are %s runs, %s, %i of thirty, and its example", async (cost, kind, count) => {
    let runs = 0;
    const counted = defineCheck({
      id: "programs-are-counted",
      area: "writes",
      property: "Programs are counted.",
      requirements: ["writes.counted"],
      features: [],
      cost,
      input: fc.nat(),
      examples: [7],
      run: async () => void runs++,
    });
    const { run } = runBehind(() => false);
    await runCheck({ ...run, runs: 30, target: { ...run.target, kind } }, counted);
    expect(runs).toBe(count + 1);
  });
});

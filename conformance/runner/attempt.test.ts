import { describe, expect, it } from "vitest";
import { Client } from "../client/client.ts";
import { Recorder } from "../client/recorder.ts";
import { suiteProfiles } from "../profiles/index.ts";
import { jumpingClock, type Script, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { Attempt, JudgedRequirements } from "./attempt.ts";
import { Sandbox } from "./sandbox.ts";

const gone = { kind: "Status", code: 410, reason: "Expired" };
const refusal: Script = () => ({ status: 410, json: gone });
/** As the known implementation does it: the watch is accepted, and then is told. */
const lateRefusal: Script = () => (sink) => {
  sink.head(200, {});
  sink.chunk(new TextEncoder().encode(JSON.stringify({ type: "ERROR", object: gone })));
  sink.end();
};

function attemptAt(script: Script) {
  const clock = jumpingClock();
  const client = new Client(scriptedTransport(script), clock, new Recorder(clock), "touchstone/1 (test)");
  const target = new Sandbox(client, { runId: "t", next: () => "touchstone-t-1" });
  const attempt = new Attempt(client, target, suiteProfiles.svc, new Map(), new JudgedRequirements());
  return { attempt, clock, everywhere: target.everywhere("configmaps") };
}

/** What comes of a watch from `resourceVersion`, opened and read `heldMillis` after the attempt began. */
async function endOf(script: Script, resourceVersion: string | undefined, heldMillis: number): Promise<unknown> {
  const { attempt, clock, everywhere } = attemptAt(script);
  if (heldMillis > 0) await clock.sleep(heldMillis);
  const fence = { metadata: { name: "fence", uid: "1" } };
  const read = async () => attempt.untilFence(await attempt.openWatch(everywhere, { resourceVersion }), fence);
  return read().catch((error: unknown) => error);
}

describe.each([
  ["by its response", refusal],
  ["by its first event", lateRefusal],
])("a watch that is answered 410, %s", (_name, script) => {
  it("says nothing against the target when its version had been held for long", async () => {
    expect(await endOf(script, "7", 20_000)).toMatchObject({
      name: "Inconclusive",
      message: expect.stringMatching(/^version 7 was forgotten within 20\d\d\d ms/),
    });
  });

  it.each([
    ["its version was just given out", "7", 0],
    ["it asked for any version", "0", 20_000],
    ["it asked for the newest", undefined, 20_000],
  ])("breaks the promise when %s", async (_why, version, heldMillis) => {
    expect(await endOf(script, version, heldMillis)).toMatchObject({
      name: "CheckFailure",
      requirement: "watch.stream",
      violation: { actual: expect.stringContaining("Expired") },
    });
  });
});

it("goes by when the version was given out, where that is known", async () => {
  const { attempt, clock, everywhere } = attemptAt(refusal);
  await clock.sleep(20_000);
  const open = attempt.openWatch(everywhere, { resourceVersion: "7" }, clock.nowMillis());
  await expect(open).rejects.toMatchObject({ name: "CheckFailure", requirement: "watch.stream" });
});

it("says nothing against a target whose connection broke before a watch had begun", async () => {
  const end = await endOf(() => (sink) => sink.failed(new Error("connection refused")), "7", 0);
  expect(end).toMatchObject({ name: "Inconclusive", message: expect.stringContaining("connection refused") });
});

describe("a watch that is answered by that the target is too busy", () => {
  const busyTimes = (count: number): Script => {
    let asked = 0;
    return () => ((asked += 1) <= count ? { status: 429, headers: { "retry-after": "4" } } : { status: 200 });
  };

  it("is asked for again, as late as was said", async () => {
    const { attempt, clock, everywhere } = attemptAt(busyTimes(2));
    expect((await attempt.openWatch(everywhere)).status).toBe(200);
    expect(clock.nowMillis()).toBe(8000);
  });

  it("says nothing against a target that always is, or that is not reached", async () => {
    for (const script of [
      busyTimes(1000),
      (() => ({ status: 503, headers: { "content-type": "text/html" } })) satisfies Script,
    ]) {
      const { attempt, everywhere } = attemptAt(script);
      await expect(attempt.openWatch(everywhere)).rejects.toMatchObject({ name: "Inconclusive" });
    }
  });
});

describe("a promise that is not kept", () => {
  const judged = async (status: number, as?: "nobody"): Promise<unknown> => {
    const { attempt } = attemptAt(() => ({ status, json: {} }));
    await attempt.client.request("GET", "/api", { as });
    try {
      attempt.expect("discovery.shape", false, "versions", String(status));
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it("fails the target, unless it only says that it does not know the run's credentials", async () => {
    expect(await judged(500)).toMatchObject({ name: "CheckFailure" });
    expect(await judged(401, "nobody")).toMatchObject({ name: "CheckFailure" });
    expect(await judged(401)).toMatchObject({
      name: "Inconclusive",
      message: "the credentials are not accepted: GET /api answers 401",
    });
  });
});

it("asks for a watch again that only a gateway has answered", async () => {
  let count = 0;
  const { attempt, everywhere, clock } = attemptAt(() =>
    (count += 1) <= 2 ? { status: 502, headers: { "content-type": "text/html" } } : { status: 200 },
  );
  expect((await attempt.openWatch(everywhere)).status).toBe(200);
  expect([count, clock.nowMillis()]).toEqual([3, 3000]);
});

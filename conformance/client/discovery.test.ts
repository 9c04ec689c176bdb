import { describe, expect, it } from "vitest";
import { jumpingClock, type Script, scriptedTransport } from "../testing/scripted-target.fixture.ts";
import { Client } from "./client.ts";
import { DiscoveryWalk, servedTypes } from "./discovery.ts";
import { Recorder } from "./recorder.ts";

const documents: Readonly<Record<string, object>> = {
  "/apis": { groups: [{ name: "batch", versions: [{ groupVersion: "batch/v1" }, { groupVersion: "batch/v2" }] }] },
  "/api/v1": { resources: [{ name: "nodes", kind: "Node", namespaced: false, verbs: ["get", "list"] }] },
  "/apis/batch/v1": { resources: [{ name: "jobs/status", kind: "Job", namespaced: true, verbs: ["get"] }] },
};
const script: Script = ({ path }) => {
  const json = documents[path];
  return json === undefined ? { status: 503, json: {} } : { status: 200, json };
};

it("reads the types of all groups, and passes over what does not answer", async () => {
  const clock = jumpingClock();
  const types = await servedTypes(new Client(scriptedTransport(script), clock, new Recorder(clock), "test"));
  expect(types).toEqual([
    {
      prefix: "/api/v1",
      groupVersion: "v1",
      name: "nodes",
      kind: "Node",
      namespaced: false,
      verbs: new Set(["get", "list"]),
    },
    {
      prefix: "/apis/batch/v1",
      groupVersion: "batch/v1",
      name: "jobs/status",
      kind: "Job",
      namespaced: true,
      verbs: new Set(["get"]),
    },
  ]);
});

const versions = (count: number): object => ({
  groups: Array.from({ length: count }, (_, at) => ({ name: `g${at}.x`, versions: [{ groupVersion: `g${at}.x/v1` }] })),
});
const types = (count: number): object => ({
  resources: Array.from({ length: count }, (_, at) => ({ name: `r${at}`, kind: "R", namespaced: true, verbs: [] })),
});

describe("a walk over what a target names", () => {
  it.each([
    [1000, 9, 1002, undefined],
    [1001, 9, 1, "discovery names 1,001 versions of groups or more, and the suite looks at 1,000 at most"],
    [1000, 10, 1002, "discovery names 10,010 types or more, and the suite looks at 10,000 at most"],
    [100_000, 9, 1, "discovery names 100,000 versions of groups or more, and the suite looks at 1,000 at most"],
  ])("of %i versions of %i types each asks %i times", async (versionCount, typeCount, asked, why) => {
    const clock = jumpingClock();
    const documentsOf = [versions(versionCount), types(typeCount)];
    const transport = scriptedTransport(({ path }) => ({ status: 200, json: documentsOf[path === "/apis" ? 0 : 1] }));
    const found = servedTypes(new Client(transport, clock, new Recorder(clock), "test"));
    if (why === undefined) expect(await found).toHaveLength((versionCount + 1) * typeCount);
    else await expect(found).rejects.toThrow(why);
    expect(transport.requests).toHaveLength(asked);
  });

  it("ends when its time is up", async () => {
    const clock = jumpingClock();
    const walk = new DiscoveryWalk(new Client(scriptedTransport(script), clock, new Recorder(clock), "test"));
    const seen: string[] = [];
    const go = async (): Promise<void> => {
      for (const each of walk.through(["a", "b", "c", "d"])) {
        seen.push(each);
        await clock.sleep(250_000);
      }
    };
    await expect(go()).rejects.toThrow("10 minutes were over after 3 of 4 that discovery names");
    expect(seen).toEqual(["a", "b", "c"]);
  });
});

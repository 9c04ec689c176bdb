import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { assertRepeatable, type Cluster, createCluster } from "../testing.ts";
import { MirrorController } from "./mirror-controller.ts";

const objects = `
apiVersion: v1
kind: Namespace
metadata: { name: team }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: first, namespace: team, labels: { mirror: "true" } }
data: { colour: red }
`;

const source = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "team", labels: { mirror: "true" } },
  data,
});

function begin(cluster: Cluster): { log: string[]; controller: MirrorController } {
  const log: string[] = [];
  const at = (line: string): void => void log.push(`${cluster.nowMicros() / 1000} ${line}`);
  const controller = new MirrorController({ fetch: cluster.fetch, url: cluster.url, namespace: "team", log: at });
  void controller.run();
  return { log, controller };
}

const lines = (log: readonly string[]): string[] => log.map((line) => line.replace(/^[\d.]+ /, ""));

/** The base64 of every copy. */
async function copies(cluster: Cluster): Promise<Record<string, Record<string, string>>> {
  const response = await cluster.direct(`${cluster.url}/api/v1/namespaces/team/secrets`);
  const { items } = (await response.json()) as {
    items: { metadata: { name: string }; data: Record<string, string> }[];
  };
  return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data]));
}

describe("the mirror controller", () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await createCluster({ objects, noticeAfter: "10s" });
  });
  afterEach(() => cluster.close());

  it("copies what is there and what comes, and removes what goes", async () => {
    const { log, controller } = begin(cluster);
    await cluster.settle();
    await cluster.create([source("second", { colour: "blue" })]);
    await cluster.settle();
    expect(await copies(cluster)).toEqual({ first: { colour: "cmVk" }, second: { colour: "Ymx1ZQ==" } });
    await cluster.direct(`${cluster.url}/api/v1/namespaces/team/configmaps/first`, { method: "DELETE" });
    await cluster.settle();
    expect(Object.keys(await copies(cluster))).toEqual(["second"]);
    expect(lines(log)).toEqual(["listed 1", "mirrored first", "mirrored second", "removed first"]);
    controller.stop();
    await cluster.settle();
    expect(cluster.openRequestCount()).toBe(0);
  });

  it("reads again when somebody else was quicker", async () => {
    // On a slow link there is time between its read and its write.
    await cluster.close();
    cluster = await createCluster({ objects, latencyMicros: 50_000 });
    const { log } = begin(cluster);
    await cluster.runUntil(() => cluster.writes({ kind: "Secret" }).length === 1);
    await cluster.advance("1s");
    await cluster.direct(`${cluster.url}/api/v1/namespaces/team/configmaps/first`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ data: { colour: "green" } }),
    });
    await cluster.advance("125ms"); // the event, and half of the read's way
    await cluster.direct(`${cluster.url}/api/v1/namespaces/team/secrets/first`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ metadata: { labels: { touched: "true" } } }),
    });
    await cluster.advance("5s");
    expect(lines(log).slice(-2)).toEqual(["conflict on first", "mirrored first"]);
    expect(await copies(cluster)).toEqual({ first: { colour: "Z3JlZW4=" } });
  });

  it("goes on after a disconnect from where it was", async () => {
    const { log } = begin(cluster);
    await cluster.settle();
    cluster.disconnect();
    await cluster.create([source("missed", {})]);
    await cluster.advance("2s");
    expect(lines(log)).toEqual(["listed 1", "mirrored first", "watch broke: terminated", "mirrored missed"]);
  });

  it("lists again after a 410", async () => {
    const { log } = begin(cluster);
    await cluster.settle();
    cluster.partition();
    await cluster.create([source("missed", {})]);
    cluster.compact();
    await cluster.advance("11s");
    cluster.heal();
    await cluster.advance("1m");
    expect(lines(log)).toContain("listed 2");
    expect(Object.keys(await copies(cluster))).toEqual(["first", "missed"]);
  });

  it("backs off while the server is away", async () => {
    const { log } = begin(cluster);
    await cluster.settle();
    cluster.restartServer({ downFor: "1m" });
    await cluster.advance("3m");
    const failures = log.filter((line) => line.includes("failed: fetch failed"));
    expect(failures.length).toBeGreaterThanOrEqual(3);
    expect(failures.length).toBeLessThan(10);
    expect(lines(log).at(-1)).toBe("mirrored first");
  });
});

describe("a run with random trouble", () => {
  /** Jitter, retries by timers and random names, all of them the code's own. */
  async function trouble(cluster: Cluster): Promise<string[]> {
    const { log } = begin(cluster);
    for (let i = 0; i < 6; i++) {
      await cluster.advance({ millis: Math.floor(Math.random() * 20_000) });
      await cluster.create([source(`c-${crypto.randomUUID()}`, { i: String(i) })]);
      if (i === 1) cluster.disconnect();
      if (i === 2) cluster.restartServer({ downFor: "15s" });
      if (i === 2) await cluster.advance("20s");
      if (i === 4) cluster.compact();
    }
    await cluster.advance("2m");
    expect(Object.keys(await copies(cluster))).toHaveLength(7);
    return log;
  }

  const options = { objects, latencyMicros: { min: 500, max: 80_000 } };

  it("is the same 20 times, to the last line and the last record", async () => {
    const logs = new Set<string>();
    const play = async (cluster: Cluster): Promise<void> => void logs.add((await trouble(cluster)).join("\n"));
    const hash = await assertRepeatable(play, { ...options, runs: 20 });
    expect(logs.size).toBe(1);
    expect(await assertRepeatable(play, { ...options, seed: "2", runs: 2 })).not.toBe(hash);
    expect(logs.size).toBe(2);
  });

  it("is found out when it is not", async () => {
    let run = 0;
    const play = async (cluster: Cluster): Promise<void> => {
      await cluster.create([source(`run-${++run}`, {})]);
    };
    await expect(assertRepeatable(play, options)).rejects.toThrow(
      /run 2 is not run 1 again: .*part at record \d+[^]*run-1[^]*run-2/,
    );
  });
});

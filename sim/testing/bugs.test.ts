import { afterEach, describe, expect, it } from "vitest";
import type { Cluster, ClusterOptions } from "./cluster.ts";
import { createCluster } from "./testing.ts";

let cluster: Cluster;
afterEach(() => cluster.close());
const begin = async (options: ClusterOptions = {}): Promise<void> => {
  cluster = await createCluster(options);
};

const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string) => [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name } }];
const get = (query = ""): Promise<Response> => cluster.fetch(`${cluster.url}${configMaps}${query}`);
const list = async (query = "") => {
  const body = (await (await get(query)).json()) as {
    items: { metadata: { name: string } }[] | null;
    metadata: { resourceVersion: string };
  };
  return { names: body.items?.map(({ metadata }) => metadata.name), version: body.metadata.resourceVersion };
};
const seconds = (): number => cluster.nowMicros() / 1_000_000;

/** Reads a watch to its end: the types of its events, and how and when it ended. */
async function watched(query: string): Promise<{ types: string[]; end: string; at: number; status: number }> {
  const response = await get(`?watch=1&${query}`);
  const types: string[] = [];
  const outcome = { types, status: response.status };
  try {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() as string;
      types.push(...lines.map((line) => (JSON.parse(line) as { type: string }).type));
    }
    return { ...outcome, end: "closed", at: seconds() };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return { ...outcome, end: cause?.code ?? (error as Error).name, at: seconds() };
  }
}

describe("what a client sees of", () => {
  it("a planted bug, while it is on", async () => {
    await begin({ bugs: ["list-null-items"] });
    expect((await list("?resourceVersion=0")).names).toBeUndefined();
    cluster.setBug("list-null-items", false);
    expect((await list("?resourceVersion=0")).names).toEqual([]);
    expect(() => cluster.setBug("no-such" as never, true)).toThrow(/no bug is named no-such; there are: /);
  });

  it("a partition: silence, then a dead connection; what others write is there after the heal", async () => {
    await begin({ noticeAfter: "30s" });
    const watch = cluster.run(() => watched(""));
    await cluster.advance("1s");
    cluster.partition();
    const request = get().catch((error: { cause: { code: string } }) => error.cause.code);
    await cluster.create(configMap("by-others"));
    await cluster.advance("29s");
    expect(cluster.openRequestCount()).toBe(2);
    await cluster.advance("1s");
    expect(await request).toBe("ECONNRESET");
    expect(await watch).toMatchObject({ types: [], end: "ECONNRESET", at: 31 });
    cluster.heal();
    expect((await list()).names).toEqual(["by-others"]);
  });

  it("a restart: a reset, refusals while it is down, a relist after, and history lost", async () => {
    await begin();
    const { version } = await list();
    await cluster.create(configMap("a"));
    const watch = cluster.run(() => watched(`resourceVersion=${version}`));
    await cluster.settle();
    cluster.restartServer({ downFor: "20s" });
    expect(await watch).toMatchObject({ types: ["ADDED"], end: "ECONNRESET", at: 0 });
    await expect(get()).rejects.toMatchObject({ message: "fetch failed", cause: { code: "ECONNREFUSED" } });
    await expect(cluster.create(configMap("b"))).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
    await cluster.advance("20s");
    expect((await list()).names).toEqual(["a"]);
    expect((await get(`?watch=1&resourceVersion=${version}`)).status).toBe(200);
    expect(await cluster.run(() => watched(`resourceVersion=${version}`))).toMatchObject({ types: ["ERROR"] });
    cluster.restartServer();
    expect((await list()).names).toEqual(["a"]);
  });

  it.each(["kubernetes", "svc"] as const)(
    "a compaction, under the profile %s: 410 for what is older, in every form",
    async (profile) => {
      await begin({ profile });
      const { version } = await list();
      await cluster.create([...configMap("a"), ...configMap("b"), ...configMap("c")]);
      const page = (await (await get("?limit=1")).json()) as { metadata: { continue: string } };
      const openWatch = cluster.run(() => watched("timeoutSeconds=30"));
      await cluster.settle();
      await cluster.create(configMap("d"));
      cluster.compact();
      const old = await get(`?resourceVersion=${version}&resourceVersionMatch=Exact`);
      const token = await get(`?limit=1&continue=${encodeURIComponent(page.metadata.continue)}`);
      expect([old.status, token.status]).toEqual([410, 410]);
      const late = await cluster.run(() => watched(`resourceVersion=${version}`));
      expect(late.status === 200 ? late.types : late.status).toEqual(profile === "kubernetes" ? ["ERROR"] : 410);
      await cluster.create(configMap("e"));
      const { types, end } = await openWatch;
      expect([types.slice(-2), end]).toEqual([["ADDED", "ADDED"], "closed"]);
    },
  );

  it("a cache that lags: old lists from it, new ones from the store", async () => {
    await begin({ cacheLag: "5s" });
    await cluster.create(configMap("a"));
    expect((await list("?resourceVersion=0")).names).toEqual([]);
    await cluster.advance("5s");
    expect((await list("?resourceVersion=0")).names).toEqual(["a"]);
    cluster.setCacheLag("0s");
    await cluster.create(configMap("b"));
    expect((await list("?resourceVersion=0")).names).toEqual(["a", "b"]);
  });

  it("latency: each way takes its time, within the range and by the seed", async () => {
    const roundTrips = async (seed: string): Promise<number[]> => {
      await begin({ seed, latencyMicros: { min: 1000, max: 20_000 } });
      const times: number[] = [];
      await cluster.run(async () => {
        for (let i = 0; i < 10; i++) {
          const before = cluster.nowMicros();
          await get();
          times.push(cluster.nowMicros() - before);
        }
      });
      await cluster.close();
      return times;
    };
    const times = await roundTrips("1");
    expect(times.every((time) => time >= 2000 && time <= 40_000)).toBe(true);
    expect(new Set(times).size).toBeGreaterThan(1);
    expect(await roundTrips("1")).toEqual(times);
    expect(await roundTrips("2")).not.toEqual(times);
  });

  it("silence: a quiet watch without bookmarks is given up as undici gives it up, one with them is not", async () => {
    await begin();
    const quiet = cluster.run(() => watched("timeoutSeconds=1200"));
    // A bookmark says that something has happened elsewhere.
    const elsewhere = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "x-", namespace: "kube-system" },
    };
    const marking = setInterval(() => void cluster.create([elsewhere]), 60_000);
    const marked = cluster.run(() => watched("timeoutSeconds=1200&allowWatchBookmarks=true"));
    expect(await quiet).toMatchObject({ types: [], end: "UND_ERR_BODY_TIMEOUT", at: 300 });
    const { types, end, at } = await marked;
    clearInterval(marking);
    expect([new Set(types), end, at]).toEqual([new Set(["BOOKMARK"]), "closed", 1200]);
    await cluster.settle();
  });
});

describe("the history of writes", () => {
  it("has every write in order, with its time, and by what is asked for", async () => {
    await begin({
      objects: `
apiVersion: v1
kind: Namespace
metadata: { name: team }
---
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: team }, data: { mode: "one" } }
  - { apiVersion: v1, kind: Secret, metadata: { name: b, namespace: team } }
`,
    });
    await cluster.advance("3s");
    const path = "/api/v1/namespaces/team/configmaps/a";
    await cluster.fetch(cluster.url + path, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ data: { mode: "two" } }),
    });
    await cluster.fetch(cluster.url + path, { method: "DELETE" });
    expect(cluster.writes().map(({ type, kind, name }) => `${type} ${kind} ${name}`)).toEqual([
      "created Namespace team",
      "created ConfigMap a",
      "created Secret b",
      "updated ConfigMap a",
      "deleted ConfigMap a",
    ]);
    const ofA = cluster.writes({ kind: "ConfigMap", namespace: "team", name: "a" });
    expect(ofA.map(({ atMicros, object }) => [atMicros, object["data"]])).toEqual([
      [0, { mode: "one" }],
      [3_000_000, { mode: "two" }],
      [3_000_000, { mode: "two" }],
    ]);
    expect(cluster.writes({ type: "deleted" })).toHaveLength(1);
    const revisions = cluster.writes().map(({ revision }) => revision);
    expect(revisions).toEqual([...revisions].sort((one, other) => one - other));
    expect(cluster.trace.records().filter(({ kind }) => kind === "write").length).toBeGreaterThanOrEqual(5);
  });

  it.each([
    ["kind: ConfigMap\n\tapiVersion: v1", /part 1 of the YAML: .*line 2/],
    ["- a\n- b", /part 1 of the YAML is no object/],
    ["apiVersion: v1\nkind: ConfigMap\nkind: Secret", /line 3: key "kind" already set/],
    ["apiVersion: v1\nkind: Confimap\nmetadata: { name: a }", /v1 Confimap a: no served resource/],
    ["apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndatta: {}", /unknown field "datta"/],
    ["apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: none }", /a was not created: 404 .*none/],
  ])("begins with no objects that are wrong: %s", async (objects, message) => {
    await begin();
    await expect(cluster.create(objects)).rejects.toThrow(message);
    await cluster.close();
    await expect(createCluster({ objects })).rejects.toThrow(message);
    await begin(); // the failed one has given back the clock
  });
});

it("an object that cannot be read is an error until it is deleted unsafely; its watchers list anew", async () => {
  await begin({ objects: configMap("a"), featureGates: { AllowUnsafeMalformedObjectDeletion: true } });
  const { version } = await list();
  const watch = watched(`resourceVersion=${version}`);
  await cluster.settle();
  expect(() => cluster.makeUnreadable(configMaps)).toThrow("no object's path");
  cluster.makeUnreadable(`${configMaps}/a`);
  expect([(await get("/a")).status, (await list("?resourceVersion=0")).names]).toEqual([500, ["a"]]);
  const url = `${cluster.url}${configMaps}/a?ignoreStoreReadErrorWithClusterBreakingPotential=true`;
  expect((await cluster.fetch(url, { method: "DELETE" })).status).toBe(200);
  expect(await watch).toEqual({ types: [], end: "closed", at: 0, status: 200 });
  expect((await list()).names).toEqual([]);
});

import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
  Watch,
} from "@kubernetes/client-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { assertRepeatable, type Cluster, createCluster } from "../testing.ts";

/** A `KubeConfig` whose every request goes into the simulated cluster. */
function simulatedConfig(cluster: Cluster): KubeConfig {
  const config = new KubeConfig();
  // The client refuses plain HTTP unless verification is off.
  const server = { name: "simulated", server: cluster.url, skipTLSVerify: true };
  config.loadFromClusterAndUser(server, { name: "test", token: cluster.token });
  // It asks this method, private in its types, for undici's dispatcher before each request.
  Object.assign(config, { createDispatcher: () => cluster.dispatcher });
  return config;
}

const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? "";

interface Follower {
  readonly informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;
  readonly log: string[];
}

/** An informer as its documentation has it: restarted a while after every error. */
function follow(cluster: Cluster): Follower {
  const config = simulatedConfig(cluster);
  const api = config.makeApiClient(CoreV1Api);
  const namespace = "default";
  const log: string[] = [];
  const say = (line: string): void => void log.push(`${cluster.nowMicros() / 1000} ${line}`);
  const informer = makeInformer<V1ConfigMap>(config, `/api/v1/namespaces/${namespace}/configmaps`, async () => {
    const list = await api.listNamespacedConfigMap({ namespace });
    say(`listed ${list.items.length}`);
    return list;
  });
  informer.on("add", (object) => say(`add ${nameOf(object)}`));
  informer.on("update", (object) => say(`update ${nameOf(object)} ${JSON.stringify(object.data)}`));
  informer.on("delete", (object) => say(`delete ${nameOf(object)}`));
  informer.on("connect", () => say("connect"));
  informer.on("error", (error: Error) => {
    say(`error ${error.name}`);
    setTimeout(() => void informer.start(), 5000);
  });
  void informer.start();
  return { informer, log };
}

const lines = (log: readonly string[]): string[] => log.map((line) => line.replace(/^[\d.]+ /, ""));

describe("@kubernetes/client-node", () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await createCluster();
  });
  afterEach(() => cluster.close());

  it("creates, lists and meets errors as such", async () => {
    const api = simulatedConfig(cluster).makeApiClient(CoreV1Api);
    const namespace = "default";
    await api.createNamespacedConfigMap({ namespace, body: configMap("a", { k: "v" }) });
    const list = await api.listNamespacedConfigMap({ namespace });
    expect(list.items.map((item) => [nameOf(item), item.data])).toEqual([["a", { k: "v" }]]);
    expect(list.items[0]?.metadata?.creationTimestamp).toEqual(new Date());
    await expect(api.readNamespacedConfigMap({ namespace, name: "b" })).rejects.toMatchObject({ code: 404 });
    await expect(api.createNamespacedConfigMap({ namespace, body: configMap("a") })).rejects.toMatchObject({
      code: 409,
    });
    expect(cluster.writes().map(({ kind, name }) => `${kind} ${name}`)).toEqual(["ConfigMap a"]);
  });

  it("watches: its events, and its own patience with a quiet collection", async () => {
    const watch = new Watch(simulatedConfig(cluster));
    const seen: string[] = [];
    await watch.watch(
      "/api/v1/namespaces/default/configmaps",
      { allowWatchBookmarks: true },
      (type: string, object: KubernetesObject) => seen.push(`${type} ${nameOf(object)}`),
      (error: Error | null) => seen.push(`${cluster.nowMicros() / 1e6} ${error?.name ?? "closed"}`),
    );
    await cluster.advance("20s");
    await cluster.create([configMap("a")]);
    await cluster.advance("29s");
    expect(seen).toEqual(["ADDED a"]);
    await cluster.advance("2s");
    expect(seen).toEqual(["ADDED a", "50 TimeoutError"]);
    expect(cluster.openRequestCount()).toBe(0);
  });

  it("follows with an informer", async () => {
    await cluster.create([configMap("before")]);
    const { informer, log } = follow(cluster);
    await cluster.settle();
    await cluster.create([configMap("after")]);
    await cluster.direct(`${cluster.url}/api/v1/namespaces/default/configmaps/before`, { method: "DELETE" });
    await cluster.settle();
    expect(lines(log)).toEqual(["connect", "listed 1", "add before", "add after", "delete before"]);
    expect(informer.list().map(nameOf)).toEqual(["after"]);
    await informer.stop();
    await cluster.settle();
    expect(cluster.openRequestCount()).toBe(0);
  });

  it("follows through a disconnect", async () => {
    const { log } = follow(cluster);
    await cluster.advance("1s");
    cluster.disconnect();
    await cluster.create([configMap("missed")]);
    await cluster.advance("10s");
    expect(lines(log)).toEqual(["connect", "listed 0", "error TypeError", "connect", "add missed"]);
  });

  it("follows through a 410 by listing again", async () => {
    const { informer, log } = follow(cluster);
    await cluster.advance("1s");
    await cluster.create([configMap("seen")]);
    await cluster.settle();
    cluster.disconnect();
    await cluster.create([configMap("missed")]);
    cluster.compact();
    await cluster.advance("1m");
    expect(lines(log)).toContain("listed 2");
    expect(informer.list().map(nameOf)).toEqual(["seen", "missed"]);
  });

  it("follows a quiet collection for an hour without a gap", async () => {
    const { informer, log } = follow(cluster);
    await cluster.advance("1h");
    // It gives up a silent watch after 30 s, and begins another from the version that it has.
    expect(lines(log).filter((line) => line === "connect").length).toBeGreaterThanOrEqual(119);
    expect(lines(log).filter((line) => line.startsWith("listed"))).toEqual(["listed 0"]);
    await cluster.create([configMap("at-last")]);
    await cluster.settle();
    expect(informer.list().map(nameOf)).toEqual(["at-last"]);
    expect(cluster.openRequestCount()).toBe(1);
  });

  it("does the same 20 times through all of that, and something else by another seed", async () => {
    const logs = new Set<string>();
    const play = async (run: Cluster): Promise<void> => {
      const { informer, log } = follow(run);
      for (let i = 0; i < 5; i++) {
        await run.advance({ millis: 1 + Math.floor(Math.random() * 90_000) });
        await run.create([configMap(`c-${crypto.randomUUID()}`)]);
        if (i === 1) run.disconnect();
        if (i === 2) run.restartServer({ downFor: "7s" });
        if (i === 2) await run.advance("8s");
        if (i === 3) run.disconnect();
        if (i === 3) run.compact();
      }
      await run.advance("2m");
      expect(informer.list()).toHaveLength(5);
      await informer.stop();
      logs.add(log.join("\n"));
    };
    await cluster.close();
    const options = { latencyMicros: { min: 200, max: 30_000 } };
    const hash = await assertRepeatable(play, { ...options, runs: 20 });
    expect(logs.size).toBe(1);
    expect(await assertRepeatable(play, { ...options, seed: "2" })).not.toBe(hash);
    expect(logs.size).toBe(2);
  });
});

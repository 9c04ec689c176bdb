/** What a user does wrong, and what is said about it. */
import { request as request6, fetch as fetch6 } from "undici6";
import { request as request7, fetch as fetch7 } from "undici7";
import { request as request8, fetch as fetch8 } from "undici";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Cluster, ClusterOptions } from "./cluster.ts";
import { createCluster, RequestBudgetError } from "./testing.ts";

let cluster: Cluster | undefined;
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});

const start = async (options: ClusterOptions = {}): Promise<Cluster> => {
  cluster = await createCluster(options);
  return cluster;
};

const configMapsOf = ({ url }: Cluster): string => `${url}/api/v1/namespaces/default/configmaps`;

describe("options", () => {
  it.each([
    [{ sed: "1" }, "createCluster has no option sed. Did you mean seed?"],
    [{ profile: "kubernets" }, 'profile is "kubernets", and must be "svc" or "kubernetes"'],
    [{ seed: 1 }, 'seed is 1, and must be text, such as "1"'],
    [{ bugs: ["no-such-bug"] }, "and must be names of planted bugs"],
    [{ controllers: "no" }, "controllers"],
    [{ requestsPerInstantMax: 0 }, "requestsPerInstantMax is 0, and must be an integer from 1 on"],
    [{ hosts: "a" }, "hosts"],
    [{ historyWindow: "soon" }, "not a duration"],
  ])("are refused: %j", async (options, message) => {
    await expect(createCluster(options as ClusterOptions)).rejects.toThrow(message);
    await (await createCluster()).close(); // nothing was left behind
  });

  it("may be undefined", async () => {
    await start({ seed: undefined } as unknown as ClusterOptions);
  });
});

describe("hosts", () => {
  it("that are none of the cluster's are refused, by fetch and by the dispatcher", async () => {
    const { fetch, dispatcher } = await start({ hosts: ["api.staging.example"] });
    await expect(fetch("https://example.com/api")).rejects.toThrow(/https:\/\/example.com\/api is not the simulated/);
    await expect(request8("https://example.com/api", { dispatcher })).rejects.toThrow(/is not the simulated cluster/);
    expect((await fetch("https://api.staging.example/api")).status).toBe(200);
    expect((await fetch("https://kubernetes.default.svc/api")).status).toBe(200);
  });
});

describe("undici of every age, and Node's own fetch", () => {
  const fetches = { fetch6, fetch7, fetch8, node: globalThis.fetch } as unknown as Record<string, typeof fetch8>;
  it.each(Object.keys(fetches))("%s goes through the dispatcher: bodies, watches, aborts", async (name) => {
    const { dispatcher } = await start();
    const fetch = fetches[name] as typeof fetch8;
    const url = configMapsOf(cluster as Cluster);
    const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
    const created = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      dispatcher,
    });
    expect([created.status, ((await created.json()) as { kind: string }).kind]).toEqual([201, "ConfigMap"]);
    const abort = new AbortController();
    const watch = await fetch(`${url}?watch=1&resourceVersion=0`, { dispatcher, signal: abort.signal });
    const reader = watch.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value as Uint8Array)).toContain('"ADDED"');
    expect(cluster?.openRequests()).toMatchObject([{ method: "GET", isAnswered: true }]);
    abort.abort();
    await expect(reader?.read()).rejects.toThrow();
    expect(cluster?.openRequestCount()).toBe(0);
    cluster?.restartServer({ downFor: "10s" });
    await expect(fetch(url, { dispatcher })).rejects.toThrow("fetch failed");
  });

  it.each([
    ["6", request6],
    ["7", request7],
    ["8", request8],
  ] as unknown as [string, typeof request8][])(
    "request of undici %s does, a slow reader included",
    async (_, request) => {
      const { dispatcher } = await start();
      const url = configMapsOf(cluster as Cluster);
      await cluster?.create(
        Array.from({ length: 50 }, (_unused, index) => ({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: `c-${index}` },
          data: { text: "x".repeat(10_000) },
        })),
      );
      const { statusCode, headers, body } = await request(url, { dispatcher, highWaterMark: 1 });
      expect([statusCode, headers["content-type"]]).toEqual([200, "application/json"]);
      expect(((await body.json()) as { items: unknown[] }).items).toHaveLength(50);
    },
  );
});

describe("a loop without a pause", () => {
  const askForEver = async ({ fetch }: Cluster): Promise<void> => {
    for (;;) await fetch("http://touchstone.test/nowhere").catch(() => undefined);
  };

  it("fails the run, and says who asked for what", async () => {
    const tried = await start({ requestsPerInstantMax: 100 });
    const failure = await tried.run(() => askForEver(tried)).catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(RequestBudgetError);
    expect((failure as Error).message).toMatch(/^100 requests .* GET \/nowhere, at askForEver.*missteps\.test\.ts:\d+/);
  });

  it("is no loop when time passes in it, however long", async () => {
    const tried = await start({ requestsPerInstantMax: 3 });
    let count = 0;
    await tried.run(async () => {
      for (; count < 50; count++) {
        await tried.fetch(`${tried.url}/healthz`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    expect(count).toBe(50);
  });
});

describe("what was forgotten", () => {
  it("is named, with the request that nobody ended", async () => {
    const tried = await start();
    await tried.advance("3s");
    await tried.fetch(`${configMapsOf(tried)}?watch=1`);
    expect(tried.openRequests()).toEqual([
      {
        method: "GET",
        path: "/api/v1/namespaces/default/configmaps?watch=1",
        sinceMicros: 3_000_000,
        isAnswered: true,
      },
    ]);
  });

  it("leads from the next cluster to the one that is open and to the sleep that nobody ends", async () => {
    const tried = await start();
    void new Promise((resolve) => setTimeout(resolve, 30_000));
    await tried.run(async () => void setTimeout(() => undefined, 1000)); // somebody lets time pass here
    await expect(createCluster()).rejects.toThrow(
      /created at .*missteps\.test\.ts:\d+.* is still open.*a timer of 30000 ms, made at .*missteps\.test\.ts:\d+/,
    );
    await expect(createCluster()).rejects.not.toThrow(/1000 ms/);
  });

  it("is warned of while the test hangs", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const real = globalThis.setTimeout;
    await start();
    const sleep = new Promise((resolve) => setTimeout(resolve, 60_000));
    await new Promise((resolve) => real(resolve, 4000));
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining("a timer of 60000 ms"), { type: "TouchstoneWarning", code: "standstill" }],
    ]);
    await cluster?.advance("1m");
    await sleep;
    warn.mockRestore();
  });
});

import { text } from "node:stream/consumers";
import { FormData, fetch, getGlobalDispatcher, request, setGlobalDispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "./cluster.ts";
import { createCluster } from "./testing.ts";

let cluster: Cluster;
let configMaps: string;
beforeEach(async () => {
  cluster = await createCluster();
  configMaps = `${cluster.url}/api/v1/namespaces/default/configmaps`;
});
afterEach(() => cluster.close());

const json = { "content-type": "application/json" };
const configMap = (name: string): string => JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

describe("cluster.dispatcher", () => {
  it("serves as the global dispatcher", async () => {
    const before = getGlobalDispatcher();
    setGlobalDispatcher(cluster.dispatcher);
    try {
      expect((await fetch(configMaps)).status).toBe(200);
    } finally {
      setGlobalDispatcher(before);
    }
  });

  it("takes headers and a query in every form that undici does", async () => {
    const forms = [json, Object.entries(json).flat(), new Map(Object.entries(json))];
    for (const [index, headers] of forms.entries()) {
      const { statusCode, body } = await request(configMaps, {
        method: "POST",
        headers: headers as Record<string, string>,
        query: { dryRun: "All" },
        body: configMap(`a-${index}`),
        dispatcher: cluster.dispatcher,
      });
      await body.dump();
      expect(statusCode).toBe(201);
    }
    expect(cluster.writes()).toEqual([]);
  });

  it("sends generated and form bodies", async () => {
    async function* pieces(): AsyncGenerator<string> {
      yield* configMap("pieces").match(/.{1,7}/g) as string[];
    }
    const options = { method: "POST", headers: json, dispatcher: cluster.dispatcher } as const;
    expect((await request(configMaps, { ...options, body: pieces() as never })).statusCode).toBe(201);
    const form = new FormData();
    form.set("a", "b");
    const refused = await request(configMaps, { ...options, headers: {}, body: form });
    expect(refused.statusCode).toBe(415);
  });

  it("waits for a reader that has paused", async () => {
    const options = { dispatcher: cluster.dispatcher, highWaterMark: 1 };
    const { body } = await request(`${configMaps}?watch=1&timeoutSeconds=5`, options);
    for (let i = 0; i < 20; i++) await cluster.create(JSON.parse(`[${configMap(`c-${i}`)}]`) as never);
    await cluster.advance("10s");
    expect((await text(body)).match(/"ADDED"/g)).toHaveLength(20);
  });

  it.each([
    [{}, 300, "UND_ERR_HEADERS_TIMEOUT"],
    [{ headersTimeout: 10_000 }, 10, "UND_ERR_HEADERS_TIMEOUT"],
    [{ headersTimeout: 0 }, 3600, "ECONNRESET"],
  ])("heeds the patience with headers: %o", async (options, seconds, code) => {
    await cluster.close();
    cluster = await createCluster({ noticeAfter: "1h" });
    cluster.partition();
    const failed = request(configMaps, { dispatcher: cluster.dispatcher, ...options }).catch((error: unknown) => error);
    expect(await cluster.run(() => failed)).toMatchObject({ code });
    expect(cluster.nowMicros()).toBe(seconds * 1_000_000);
  });

  it("heeds the patience with the body", async () => {
    const options = { dispatcher: cluster.dispatcher, bodyTimeout: 0 };
    const { body } = await request(`${configMaps}?watch=1&timeoutSeconds=900`, options);
    expect(await cluster.run(() => text(body))).toBe("");
    expect(cluster.nowMicros()).toBe(900_000_000);
  });

  it("ends what is open when it is destroyed", async () => {
    const watch = await request(`${configMaps}?watch=1`, { dispatcher: cluster.dispatcher });
    const rest = text(watch.body).catch((error: Error) => error.message);
    await cluster.dispatcher.destroy(new Error("over"));
    expect(await rest).toBe("over");
    expect(cluster.openRequestCount()).toBe(0);
  });
});

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

const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } });

describe("cluster.fetch", () => {
  it("takes a Request, a URL, and any port of its hosts", async () => {
    const request = new Request(configMaps, { method: "POST", body, headers: { "content-type": "application/json" } });
    expect((await cluster.fetch(request)).status).toBe(201);
    const response = await cluster.fetch(
      new URL("https://kubernetes.default.svc:6443/api/v1/namespaces/default/configmaps/a"),
    );
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.ok, response.url]).toEqual([
      200,
      true,
      "https://kubernetes.default.svc:6443/api/v1/namespaces/default/configmaps/a",
    ]);
  });

  it("says who it is as Node's own does, or as it is told", async () => {
    const managers: unknown[] = [];
    for (const headers of [{}, { "user-agent": "my-controller/v1" }]) {
      const name = `m${managers.length}`;
      const response = await cluster.fetch(configMaps, {
        method: "POST",
        body: body.replace('"a"', `"${name}"`),
        headers: { "content-type": "application/json", ...headers },
      });
      const { metadata } = (await response.json()) as { metadata: { managedFields: { manager: string }[] } };
      managers.push(metadata.managedFields[0]?.manager);
    }
    expect(managers).toEqual(["node", "my-controller"]);
  });

  it("brings no body for HEAD", async () => {
    const head = await cluster.fetch(`${cluster.url}/healthz`, { method: "HEAD" });
    expect(await head.text()).toBe("");
  });

  it("asks nothing when it is aborted before", async () => {
    const aborted = cluster.fetch(configMaps, { method: "POST", body, signal: AbortSignal.abort(new Error("mine")) });
    await expect(aborted).rejects.toThrow("mine");
    expect(cluster.writes()).toEqual([]);
  });

  it("is aborted while it waits for the answer, by its reason", async () => {
    cluster.partition();
    const controller = new AbortController();
    const request = cluster.fetch(configMaps, { signal: controller.signal });
    await cluster.advance("1s");
    expect(cluster.openRequestCount()).toBe(1);
    controller.abort(new Error("too slow"));
    await expect(request).rejects.toThrow("too slow");
    expect(cluster.openRequestCount()).toBe(0);
  });

  it("ends the exchange when its body is cancelled", async () => {
    const watch = await cluster.fetch(`${configMaps}?watch=1`);
    expect(cluster.openRequestCount()).toBe(1);
    await watch.body?.cancel();
    expect(cluster.openRequestCount()).toBe(0);
  });

  it("fails when nobody is there any more", async () => {
    await cluster.close();
    await expect(cluster.fetch(configMaps)).rejects.toMatchObject({ message: "fetch failed" });
  });
});

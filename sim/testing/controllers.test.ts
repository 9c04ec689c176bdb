import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import type { Cluster } from "./cluster.ts";
import { createCluster } from "./testing.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

async function family(cluster: Cluster): Promise<void> {
  const parent = (await cluster.create([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "parent" } }]))[0];
  const { uid = "" } = metadataOf(parent as JsonObject);
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "parent", uid, blockOwnerDeletion: true }];
  await cluster.create([{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "child", ownerReferences } }]);
}

const has = async (cluster: Cluster, name: string): Promise<boolean> =>
  (await cluster.direct(`${cluster.url}${configMaps}/${name}`)).ok;

const remove = (cluster: Cluster, policy: string): Promise<Response> =>
  cluster.direct(`${cluster.url}${configMaps}/parent?propagationPolicy=${policy}`, { method: "DELETE" });

describe("the controllers of a simulated cluster", () => {
  it("delete what lost its owner, and keep it in a cluster that was asked to have none", async () => {
    for (const controllers of [true, false]) {
      await using cluster = await createCluster({ controllers });
      await family(cluster);
      await cluster.advance("1s");
      await remove(cluster, "Background");
      await cluster.advance("1m");
      expect(await has(cluster, "child")).toBe(!controllers);
    }
  });

  it.each([0, 5, 10, 11, 15, 20, 25, 30])("finish what was begun %i ms before the server's crash", async (millis) => {
    await using cluster = await createCluster();
    await family(cluster);
    await cluster.advance("1s");
    await remove(cluster, "Foreground");
    await cluster.advance(`${millis}ms`);
    cluster.restartServer({ downFor: "2s" });
    await cluster.advance("10s");
    expect([await has(cluster, "parent"), await has(cluster, "child")]).toEqual([false, false]);
  });

  it("have one history for one seed", async () => {
    const hashes: string[] = [];
    for (let run = 0; run < 2; run++) {
      await using cluster = await createCluster({ seed: "controllers" });
      await family(cluster);
      await remove(cluster, "Orphan");
      await cluster.advance("1s");
      expect([await has(cluster, "parent"), await has(cluster, "child")]).toEqual([false, true]);
      hashes.push(cluster.trace.hash());
    }
    expect(hashes[1]).toBe(hashes[0]);
  });
});

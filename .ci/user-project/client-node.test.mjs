import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { createCluster } from "touchstone/testing";

it("serves an unmodified client", async () => {
  await using cluster = await createCluster();
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: "simulated", server: cluster.url, skipTLSVerify: true },
    { name: "test", token: cluster.token },
  );
  Object.assign(config, { createDispatcher: () => cluster.dispatcher });
  const api = config.makeApiClient(CoreV1Api);
  await api.createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "a" } } });
  expect((await api.listNamespacedConfigMap({ namespace: "default" })).items).toHaveLength(1);
});

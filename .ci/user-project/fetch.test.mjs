// A controller's test as a user writes it first: a loop of watches that must survive a disconnect.
import { expect, it } from "vitest";
import { createCluster } from "touchstone/testing";

async function follow(cluster, seen) {
  for (;;) {
    try {
      const watch = await cluster.fetch(`${cluster.url}/api/v1/namespaces/default/configmaps?watch=1`);
      const lines = watch.body.pipeThrough(new TextDecoderStream());
      for await (const text of lines) seen.push(...text.matchAll(/"name":"(\w+)"/g).map(([, name]) => name));
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

it("follows through a disconnect", async () => {
  await using cluster = await createCluster();
  const seen = [];
  void follow(cluster, seen);
  await cluster.settle();
  await cluster.create("{ apiVersion: v1, kind: ConfigMap, metadata: { name: a } }");
  cluster.disconnect();
  await cluster.advance("2s");
  await cluster.create("{ apiVersion: v1, kind: ConfigMap, metadata: { name: b } }");
  await cluster.settle();
  expect(seen).toContain("b");
});

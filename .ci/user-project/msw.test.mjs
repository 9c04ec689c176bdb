import { setupServer } from "msw/node";
import { expect, it } from "vitest";
import { createCluster } from "touchstone/testing";

it("is reached through msw by the global fetch, watches included", async () => {
  await using cluster = await createCluster();
  const server = setupServer(...(await cluster.mswHandlers()));
  server.listen();
  try {
    const configMaps = `${cluster.url}/api/v1/namespaces/default/configmaps`;
    expect((await (await fetch(configMaps)).json()).kind).toBe("ConfigMapList");
    const reader = (await fetch(`${configMaps}?watch=1`)).body.pipeThrough(new TextDecoderStream()).getReader();
    await cluster.create("{ apiVersion: v1, kind: ConfigMap, metadata: { name: a } }");
    let text = "";
    while (!text.includes("ADDED")) text += (await reader.read()).value;
    cluster.disconnect();
    await expect(reader.read()).rejects.toThrow();
  } finally {
    server.close();
  }
});

import { expect, it } from "vitest";
import { startWallServer } from "./wall-server.ts";

it("tells clients where it listens, although its own controllers ask before it does", async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  const server = await startWallServer({ seed: "s", port: 0, bindAddress: "127.0.0.1", anonymousAuth: true, onError });
  try {
    const said = async (path: string): Promise<unknown> => (await fetch(server.url + path)).json();
    expect(await said("/api")).toMatchObject({
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: `127.0.0.1:${server.port}` }],
    });
    expect(await said("/.well-known/openid-configuration")).toMatchObject({ jwks_uri: `${server.url}/openid/v1/jwks` });
  } finally {
    await server.close(0);
  }
  expect(errors).toEqual([]);
});

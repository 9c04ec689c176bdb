import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Client, LostAnswer } from "./client.ts";
import { Recorder } from "./recorder.ts";
import { urlTransport, type UrlTransportOptions } from "./url-transport.ts";
import { wallClock } from "./wall-clock.ts";

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function clientOf(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  pathPrefix = "",
  options: Partial<UrlTransportOptions> = {},
): Promise<{ client: Client; server: Server }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const transport = urlTransport(`http://127.0.0.1:${port}${pathPrefix}`, { token: "secret", ...options });
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    async () => server.closeAllConnections(),
    () => transport.close(),
  );
  return { client: new Client(transport, wallClock, new Recorder(wallClock), "test"), server };
}

describe("urlTransport", () => {
  it("puts the URL's path before each request and sends the token", async () => {
    const { client } = await clientOf((request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ url: request.url, authorization: request.headers.authorization }));
    }, "/clusters/one/");
    const answer = await client.request("GET", "/api/v1/pods", { query: { limit: 2, labelSelector: "a in (b, c)" } });
    expect(answer.json).toEqual({
      url: "/clusters/one/api/v1/pods?limit=2&labelSelector=a%20in%20(b%2C%20c)",
      authorization: "Bearer secret",
    });
  });

  it("says which header HTTP cannot carry, and asks what it can all the same", async () => {
    const { client } = await clientOf((_, response) => response.end("{}"), "", { token: "two\nlines" });
    await expect(client.request("GET", "/")).rejects.toThrow("invalid authorization header");
    expect((await client.request("GET", "/", { as: "nobody" })).status).toBe(200);
  });

  it("asks as another, or as nobody", async () => {
    const { client } = await clientOf((request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(request.headers.authorization ?? null));
    });
    expect((await client.request("GET", "/", { as: { token: "other" } })).json).toBe("Bearer other");
    expect((await client.request("GET", "/", { as: "nobody" })).json).toBe(null);
    expect((await client.request("GET", "/")).json).toBe("Bearer secret");
  });

  it("acts as whom it was told to, but for what others ask", async () => {
    const { client } = await clientOf(
      ({ headers }, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify([headers["impersonate-user"] ?? "", headers["impersonate-group"] ?? ""]));
      },
      "",
      { impersonation: { "impersonate-user": "alice", "impersonate-group": ["devs", "ops"] } },
    );
    expect((await client.request("GET", "/")).json).toEqual(["alice", "devs, ops"]);
    expect((await client.request("GET", "/", { as: { token: "other" } })).json).toEqual(["", ""]);
    // Who asks to act as another is not made to act as the run's own besides: neither in its name nor in its groups.
    expect((await client.request("GET", "/", { headers: { "impersonate-user": "jane" } })).json).toEqual(["jane", ""]);
  });

  it("delivers watch events as they come and tells the server when the suite goes away", async () => {
    let gone: () => void = () => {};
    const left = new Promise<void>((resolve) => (gone = resolve));
    const { client } = await clientOf((request, response) => {
      request.on("close", gone);
      response.on("close", gone);
      response.flushHeaders();
      response.write('{"type":"ADDED","object":{"a":1}}\n{"type":"MODI');
      setTimeout(() => response.write('FIED","object":{"a":2}}\n'), 5);
    });
    const watch = client.watch("/api/v1/pods", {});
    expect(await watch.until(() => watch.events.length === 2)).toBe(true);
    expect(watch.events.map((event) => event.type)).toEqual(["ADDED", "MODIFIED"]);
    watch.close();
    await left;
    expect(watch.ended).toBe("closed by the suite");
  });

  it("reports a connection that breaks in the middle of an answer as a lost answer", async () => {
    const { client } = await clientOf((_request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    const result = await client.attempt("GET", "/");
    expect(result).toBeInstanceOf(LostAnswer);
  });

  it("holds no more of all answers together than it has room for: the largest is lost, the others come whole", async () => {
    const part = Buffer.alloc(40 * 1024 * 1024, "a");
    const open = new Set<ServerResponse>();
    const { client } = await clientOf((_request, response) => {
      open.add(response);
      response.on("close", () => {
        open.delete(response);
        for (const other of open) other.end();
      });
      response.write(part);
    });
    const results = await Promise.all(["/a", "/b", "/c", "/d"].map((path) => client.attempt("GET", path)));
    const lost = results.filter((result) => result instanceof LostAnswer);
    expect(lost.map(({ exchange }) => exchange.lost)).toEqual([
      "the answers under way bring more than 128 MiB in all, and this one most of them",
    ]);
    const whole = results.flatMap((result) => (result instanceof LostAnswer ? [] : [result.bytes.length]));
    expect(whole).toEqual([part.length, part.length, part.length]);
  });

  it("waits as Retry-After says and asks again", async () => {
    let asked = 0;
    const { client } = await clientOf((_request, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(429, { "retry-after": "1" }).end();
      else response.end("ok");
    });
    expect((await client.request("GET", "/")).text).toBe("ok");
    expect(asked).toBe(2);
  });
});

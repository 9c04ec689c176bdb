import { request as httpRequest, Agent, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApiHandler, Responder } from "../contract/http-message.ts";
import type { AccessEntry } from "./exchange.ts";
import { Desk, text } from "./fixtures/desk.fixture.ts";
import { listenHttp } from "./http-server.ts";
import { type HttpServerOptions, type Listening, listenHttp1 } from "./http1-server.ts";

let open: Listening | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await open?.close(0);
  open = undefined;
});

let listenAs: typeof listenHttp1;

async function listenWith(desk: ApiHandler, options: Partial<HttpServerOptions> = {}): Promise<Listening> {
  open = await listenAs({ handler: desk, turn: (work) => work(), bodyBytesMax: 8, ...options }, 0, "127.0.0.1");
  return open;
}

function ask(
  listening: Listening,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string; agent?: Agent } = {},
): Promise<{ status: number; headers: IncomingMessage["headers"]; raw: Buffer; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      listening.url + path,
      { method, headers: options.headers ?? {}, agent: options.agent ?? false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () => {
          const raw = Buffer.concat(chunks);
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, raw, body: raw.toString() });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(options.body);
  });
}

/** A raw connection: what it received so far, and a wait for a pattern in it or for its end. */
function raw(
  listening: Listening,
  send: string,
): { socket: Socket; until(pattern: RegExp): Promise<string>; ended: Promise<string> } {
  const socket = connect({ port: listening.port, host: "127.0.0.1", allowHalfOpen: true });
  sockets.push(socket);
  let received = "";
  const watchers: { pattern: RegExp; resolve: (text: string) => void }[] = [];
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    for (const watcher of watchers) if (watcher.pattern.test(received)) watcher.resolve(received);
  });
  const ended = new Promise<string>((resolve) => {
    socket.on("end", () => resolve(received));
    socket.on("error", () => resolve(received));
  });
  socket.write(send);
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => (pattern.test(received) ? resolve(received) : watchers.push({ pattern, resolve })));
  return { socket, until, ended };
}

describe.each([
  ["HTTP/1.1 adapter, all read by node's parser", listenHttp1],
  ["HTTP/1.1 adapter, plain requests read on the socket", listenHttp],
])("%s", (_name, listen) => {
  beforeEach(() => {
    listenAs = listen;
  });

  it("hands on method, path, query, lower-case headers and body, and writes status, repeated headers and length", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const answer = await ask(listening, "POST", "/a%20b?x=1&y=%2F", { headers: { "X-Thing": "v" }, body: "12345678" });
    expect(answer.status).toBe(200);
    expect(answer.body).toBe("POST /a%20b?x=1&y=%2F 12345678");
    expect(answer.headers["content-length"]).toBe(String(answer.raw.length));
    expect(answer.headers["warning"]).toBe("299 - a, 299 - b");
    expect(desk.seen[0]?.headers["x-thing"]).toBe("v");
  });

  it("passes one byte more than the limit on, so that the handler refuses; the connection stays usable", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const refused = await ask(listening, "POST", "/x", { body: "x".repeat(100_000), agent });
    expect(refused.status).toBe(413);
    expect(desk.seen[0]?.body).toHaveLength(9);
    const next = await ask(listening, "GET", "/again", { agent });
    expect(next.body).toBe("GET /again? ");
    agent.destroy();
  });

  it("serves many requests on one connection, pipelined ones in order", async () => {
    const listening = await listenWith(new Desk(8));
    const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
    const { until } = raw(listening, one("/1") + one("/2") + one("/3"));
    const received = await until(/GET \/3\? /);
    expect(received.match(/GET \/\d/g)).toEqual(["GET /1", "GET /2", "GET /3"]);
  });

  it("accepts the absolute form", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    await raw(listening, "GET http://elsewhere/p?q=1 HTTP/1.1\r\nHost: h\r\n\r\n").until(/GET \/p/);
    expect(desk.seen[0]).toMatchObject({ path: "/p", query: "q=1" });
  });

  it("answers HEAD without a body and passes unusual methods on", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const head = await ask(listening, "HEAD", "/h");
    expect(head.status).toBe(200);
    expect(head.raw.length).toBe(0);
    expect(Number(head.headers["content-length"])).toBeGreaterThan(0);
    expect((await ask(listening, "PURGE", "/p")).body).toBe("PURGE /p? ");
  });

  it.each([
    ["garbage", "\x16\x03\x01 nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request"],
    ["a method that no parser knows", "FROBNICATE / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"],
    ["CONNECT", "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"],
    [
      "two different lengths",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 400 Bad Request",
    ],
    ["a missing Host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request"],
    ["headers over the limit", `GET / HTTP/1.1\r\nHost: h\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, "HTTP/1.1 431 "],
  ])("refuses %s", async (_name, send, start) => {
    const desk = new Desk(8);
    const listening = await listenWith(desk, { headerBytesMax: 16_384 });
    expect(await raw(listening, send).ended).toContain(start);
    expect(desk.seen).toEqual([]);
  });

  it("cancels a parked request when its client goes away", async () => {
    const desk = new Desk(8);
    const entries: AccessEntry[] = [];
    const listening = await listenWith(desk, { accessLog: (entry) => entries.push(entry) });
    const { socket } = raw(listening, "GET /park HTTP/1.1\r\nHost: h\r\n\r\n");
    await desk.until(() => desk.held.length === 1);
    socket.destroy();
    await desk.until(() => desk.cancelled.length === 1);
    expect(entries).toMatchObject([{ url: "/park", outcome: "client-gone", status: 0 }]);
    desk.held[0]?.respond(200, {}, text("late")); // must be harmless
  });

  it("answers a client that half-closes after its request", async () => {
    const listening = await listenWith(new Desk(8));
    const { socket, ended } = raw(listening, "GET /half HTTP/1.1\r\nHost: h\r\n\r\n");
    socket.end();
    expect(await ended).toContain("GET /half");
  });

  it("ends the watch of a client that half-closes, as the real server does", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const { socket, until } = raw(listening, "GET /watch HTTP/1.1\r\nHost: h\r\n\r\n");
    await until(/200 OK[\s\S]*\r\n\r\n/);
    socket.end();
    await desk.until(() => desk.cancelled.length === 1);
  });

  it("sends a watch's headers before its first event, and the events of one turn in one chunk", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const { until } = raw(listening, "GET /watch HTTP/1.1\r\nHost: h\r\n\r\n");
    const head = await until(/\r\n\r\n/);
    expect(head).toMatch(/Transfer-Encoding: chunked/i);
    const responder = desk.held[0] as Responder;
    for (const event of ["a\n", "b\n", "c\n"]) responder.frame(text(event));
    expect((await until(/c\n/)).split("\r\n\r\n")[1]).toBe("6\r\na\nb\nc\n\r\n");
    responder.frame(text("d\n"));
    responder.close();
    expect(await until(/0\r\n\r\n$/)).toContain("2\r\nd\n\r\n");
  });

  it("reports what a slow reader leaves waiting, and nothing once it has read", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const { socket, until } = raw(listening, "GET /watch HTTP/1.1\r\nHost: h\r\n\r\n");
    await until(/\r\n\r\n/);
    socket.pause();
    const responder = desk.held[0] as Responder;
    const big = text("x".repeat(1 << 20));
    let waiting = 0;
    // The kernel's buffers hold a few megabytes at most; past them every event stays with us.
    for (let sent = 0; sent < 64 && waiting < 8 << 20; sent++) {
      waiting = responder.frame(big);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(waiting).toBeGreaterThanOrEqual(8 << 20);
    responder.frame(text("END"));
    socket.resume();
    await until(/END/);
    expect(responder.frame(text("!"))).toBe(1);
  });

  it("gzips when told to", async () => {
    const listening = await listenWith(new Desk(8), {
      compress: (request, status) => status === 200 && request.headers["accept-encoding"] === "gzip",
    });
    const answer = await ask(listening, "GET", "/z", { headers: { "accept-encoding": "gzip" } });
    expect(answer.headers).toMatchObject({
      "content-encoding": "gzip",
      vary: "Accept-Encoding",
      "content-length": String(answer.raw.length),
    });
    expect(gunzipSync(answer.raw).toString()).toBe("GET /z? ");
    expect((await ask(listening, "GET", "/z")).headers["content-encoding"]).toBeUndefined();
  });

  it("ends gracefully: watches end cleanly, requests finish, new connections are refused", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const watch = raw(listening, "GET /watch HTTP/1.1\r\nHost: h\r\n\r\n");
    const parked = ask(listening, "GET", "/park");
    await watch.until(/\r\n\r\n/);
    await desk.until(() => desk.held.length === 2);
    desk.held[0]?.frame(text("last\n"));
    const closed = listening.close();
    expect(await watch.until(/0\r\n\r\n$/)).toContain("last\n");
    expect(desk.cancelled).toEqual(["/watch"]);
    await expect(ask(listening, "GET", "/new")).rejects.toThrow(/ECONNREFUSED/);
    watch.socket.end();
    desk.held[1]?.respond(200, {}, text("finished"));
    expect((await parked).body).toBe("finished");
    await closed;
  });

  it("cuts what is left when the grace is over", async () => {
    const desk = new Desk(8);
    const listening = await listenWith(desk);
    const parked = ask(listening, "GET", "/park");
    await desk.until(() => desk.held.length === 1);
    const [, broken] = await Promise.allSettled([listening.close(20), parked]);
    expect(broken).toMatchObject({ status: "rejected", reason: { code: "ECONNRESET" } });
    await desk.until(() => desk.cancelled.length === 1);
  });

  it("says why it cannot listen", async () => {
    const listening = await listenWith(new Desk(8));
    const again = listenHttp1({ handler: new Desk(8), turn: (work) => work() }, listening.port, "127.0.0.1");
    await expect(again).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

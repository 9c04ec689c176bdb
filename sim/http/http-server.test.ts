import { request as httpRequest, Agent as HttpAgent } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { ApiHandler } from "../contract/http-message.ts";
import { Desk, text } from "./fixtures/desk.fixture.ts";
import { listenHttp, type TlsOptions } from "./http-server.ts";
import type { Listening } from "./http1-server.ts";
import { selfSignedCertificate } from "./certificates/self-signed.ts";

const tls: TlsOptions = selfSignedCertificate({
  hosts: ["127.0.0.1"],
  notBeforeMillis: Date.now() - 3_600_000,
  notAfterMillis: Date.now() + 3_600_000,
});

let open: Listening | undefined;
let session: ClientHttp2Session | undefined;

afterEach(async () => {
  session?.destroy();
  await open?.close(0);
  open = undefined;
  session = undefined;
});

async function serve(desk: ApiHandler, withTls: boolean): Promise<Listening> {
  open = await listenHttp({ handler: desk, turn: (work) => work() }, 0, "127.0.0.1", withTls ? tls : undefined);
  return open;
}

function http1(
  listening: Listening,
  path: string,
  agent: HttpAgent | false = false,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const secure = listening.url.startsWith("https:");
    const options = { agent, ...(secure ? { ca: tls.certificate } : {}) } as object;
    const outgoing = (secure ? httpsRequest : httpRequest)(listening.url + path, options, (incoming) => {
      let body = "";
      incoming.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, body }));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

function http2(listening: Listening): ClientHttp2Session {
  session = connectHttp2(listening.url, { ca: tls.certificate });
  return session;
}

function stream(client: ClientHttp2Session, headers: Record<string, string>, body?: string) {
  const request = client.request(headers, { endStream: body === undefined });
  if (body !== undefined) request.end(body);
  let received = "";
  const watchers: { pattern: RegExp; resolve: () => void }[] = [];
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    received += chunk;
    for (const watcher of watchers) if (watcher.pattern.test(received)) watcher.resolve();
  });
  const head = new Promise<IncomingHttpHeaders>((resolve) => request.on("response", resolve));
  const ended = new Promise<string>((resolve) => request.on("end", () => resolve(received)));
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => (pattern.test(received) ? resolve() : watchers.push({ pattern, resolve })));
  return { request, head, ended, until };
}

describe.each([
  ["in the clear", false],
  ["under TLS", true],
])("HTTP/1.1 and HTTP/2 on one port, %s", (_name, withTls) => {
  it("answers both versions alike", async () => {
    const desk = new Desk();
    const listening = await serve(desk, withTls);
    expect(listening.url).toMatch(withTls ? /^https:/ : /^http:/);
    expect(await http1(listening, "/one?a=b")).toEqual({ status: 200, body: "GET /one?a=b " });
    const post = stream(http2(listening), { ":method": "POST", ":path": "/two?c=d", "x-a": "1" }, "body");
    expect((await post.head)["content-type"]).toBe("text/plain");
    expect(await post.ended).toBe("POST /two?c=d body");
    expect(desk.seen[1]?.headers["x-a"]).toBe("1");
  });

  it("streams watches over HTTP/2 beside other requests, and hears of a reset", async () => {
    const desk = new Desk();
    const client = http2(await serve(desk, withTls));
    const watch = stream(client, { ":path": "/watch" });
    expect((await watch.head)[":status"]).toBe(200);
    desk.held[0]?.frame(text("a\n"));
    await watch.until(/a\n/);
    expect(await stream(client, { ":path": "/beside" }).ended).toBe("GET /beside? ");
    watch.request.close();
    await desk.until(() => desk.cancelled.length === 1);
    desk.held[0]?.frame(text("late")); // must be harmless
  });

  it("reports what a slow reader over HTTP/2 leaves waiting", async () => {
    const desk = new Desk();
    const watch = stream(http2(await serve(desk, withTls)), { ":path": "/watch" });
    await watch.head;
    watch.request.pause();
    const big = text("x".repeat(1 << 20));
    let waiting = 0;
    for (let sent = 0; sent < 64 && waiting < 8 << 20; sent++) {
      waiting = desk.held[0]?.frame(big) ?? 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(waiting).toBeGreaterThanOrEqual(8 << 20);
  });

  it("ends gracefully: watches end cleanly, parked requests finish", async () => {
    const desk = new Desk();
    const listening = await serve(desk, withTls);
    const client = http2(listening);
    const watch = stream(client, { ":path": "/watch" });
    const parked = stream(client, { ":path": "/park" });
    const agent = withTls ? false : new HttpAgent({ keepAlive: true });
    const parkedOverHttp1 = http1(listening, "/park", agent);
    await desk.until(() => desk.held.length === 3);
    await watch.head;
    desk.held[0]?.frame(text("last\n"));
    const closed = listening.close();
    expect(await watch.ended).toBe("last\n");
    for (const responder of desk.held.slice(1)) responder.respond(200, {}, text("finished"));
    expect(await parked.ended).toBe("finished");
    expect((await parkedOverHttp1).body).toBe("finished");
    await closed;
  });

  it("cuts what is left when the grace is over", async () => {
    const desk = new Desk();
    const listening = await serve(desk, withTls);
    const client = http2(listening);
    client.on("error", () => {});
    const parked = stream(client, { ":path": "/park" });
    parked.request.on("error", () => {});
    await desk.until(() => desk.held.length === 1);
    await listening.close(20);
    await desk.until(() => desk.cancelled.length === 1);
  });
});

describe("telling the versions apart", () => {
  it("waits for enough bytes to tell", async () => {
    const listening = await serve(new Desk(), false);
    const socket = connect(listening.port, "127.0.0.1");
    const received = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(chunk.toString())));
    socket.write("P");
    await new Promise((resolve) => setTimeout(resolve, 10));
    socket.write("UT /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok");
    expect(await received).toContain("PUT /slow? ok");
    socket.destroy();
  });

  it("is not held up at the end by a connection that never said anything", async () => {
    const listening = await serve(new Desk(), false);
    const socket = connect(listening.port, "127.0.0.1");
    await new Promise<void>((resolve) => socket.on("connect", resolve));
    socket.on("error", () => {});
    await listening.close();
    socket.destroy();
  });
});

describe("a warning in another alphabet", () => {
  const warning = '299 - "naïve 漢字"';
  const warns: ApiHandler = {
    start(request, responder) {
      if (request.path === "/watch") {
        responder.open(200, { warning: [warning] });
        responder.close();
      } else responder.respond(200, { warning: [warning, warning] }, text("ok"));
      return () => {};
    },
  };
  const headOf = (url: string, path: string): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const asked = url.startsWith("https:")
        ? httpsRequest(url + path, { ca: tls.certificate })
        : httpRequest(url + path);
      asked.on("error", reject).on("response", (incoming) => {
        incoming.resume();
        const { rawHeaders } = incoming;
        resolve(rawHeaders.filter((_, at) => rawHeaders[at - 1]?.toLowerCase() === "warning"));
      });
      asked.end();
    });
  const utf8 = (texts: readonly string[]): string[] =>
    texts.map((each) => Buffer.from(each, "latin1").toString("utf8"));

  it("goes out as its UTF-8, and nothing breaks", async () => {
    for (const withTls of [false, true]) {
      const { url, close } = await serve(warns, withTls);
      expect(utf8(await headOf(url, "/one"))).toEqual([warning, warning]);
      expect(utf8(await headOf(url, "/watch"))).toEqual([warning]);
      await close(0);
    }
  });

  it("does so over HTTP/2", async () => {
    const { head } = stream(http2(await serve(warns, false)), { ":path": "/one" });
    const sent = (await head)["warning"] as unknown as string;
    expect([sent, ...utf8([sent])]).toContain(`${warning}, ${warning}`);
  });
});

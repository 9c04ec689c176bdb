import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ApiHandler, ApiRequest, Responder } from "../contract/http-message.ts";
import { text } from "./fixtures/desk.fixture.ts";
import { listenHttp } from "./http-server.ts";
import { type Listening, listenHttp1 } from "./http1-server.ts";
import { RawSocket, statuses } from "./raw-socket.fixture.ts";

/**
 * Says what it was asked; `/later` is answered in a later turn of the event loop, `/large` with more than leaves in one
 * piece with the head, `/huge` with more than a socket takes at once, and `/stream` as a watch is.
 */
class Echo implements ApiHandler {
  readonly seen: string[] = [];

  start({ method, path, query, headers, body }: ApiRequest, responder: Responder): () => void {
    const shown = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-")));
    const words = [method, path, query, JSON.stringify(shown), Buffer.from((body as Uint8Array) ?? []).toString()];
    this.seen.push(words.join(" "));
    const said = `${words.join(" ")}\n`;
    const answer = (): void => responder.respond(200, {}, text(said + (more[path] ?? "")));
    if (path === "/later") setImmediate(answer);
    else if (path === "/stream") {
      responder.open(200, {});
      responder.frame(text(said));
      responder.close();
    } else answer();
    return () => {};
  }
}

const more: Readonly<Record<string, string>> = { "/large": "-".repeat(10_000), "/huge": "-".repeat(20_000_000) };

let viaNode: Listening;
let viaPlain: Listening;
const nodeEcho = new Echo();
const plainEcho = new Echo();

beforeEach(async () => {
  const options = { turn: (work: () => void): void => work(), bodyBytesMax: 64 };
  viaNode = await listenHttp1({ ...options, handler: nodeEcho }, 0, "127.0.0.1");
  viaPlain = await listenHttp({ ...options, handler: plainEcho }, 0, "127.0.0.1");
});

afterEach(async () => {
  await Promise.all([viaNode.close(0), viaPlain.close(0)]);
});

// A last request that ends the connection by itself: what was before it has been answered by then.
const lastRequest = "GET /end HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

/**
 * Sends `pieces`, each in a packet of its own as far as the system lets us, and a last request. Statuses and
 * bodies that come back. Whether two pieces arrive together is not ours to say: only for what is read alike either way.
 */
function exchange(server: Listening, pieces: readonly string[]): Promise<readonly string[]> {
  return talk(server, async (socket) => {
    for (const piece of pieces) {
      socket.write(piece, "latin1");
      await new Promise((next) => setImmediate(next));
    }
    socket.write(lastRequest);
  });
}

/** Sends `request` and the last one in one packet: what follows a request that ends the connection came with it. */
const exchangeAtOnce = (server: Listening, request: string): Promise<readonly string[]> =>
  talk(server, async (socket) => void socket.write(request + lastRequest, "latin1"));

/** Sends the last request once the answer to `request` is there, unless that ends the connection. */
const exchangeInTurn = (server: Listening, request: string): Promise<readonly string[]> =>
  talk(server, async (socket) => {
    socket.write(request, "latin1");
    const answer = await new Promise((next) => socket.once("data", next).once("close", next));
    if (!/^connection: close/im.test(String(answer))) socket.write(lastRequest);
  });

/** Statuses and bodies that come back on a connection of its own until it ends. */
function talk({ port }: Listening, send: (socket: Socket) => Promise<void>): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    let received = "";
    socket.on("data", (chunk) => (received += chunk.toString("latin1")));
    socket.on("close", () => resolve(received.match(/HTTP\/1\.1 \d+|[A-Z]+ \/\S* .*/g) ?? []));
    socket.on("end", () => socket.destroy());
    socket.on("error", () => socket.destroy());
    void send(socket);
  });
}

const plainRequest = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
    path: fc.constantFrom("/", "/a", "/later", "/large", "/stream", "/a?x=1&y=%20", "/b%2Fc?"),
    header: fc.constantFrom("", "X-One: 1\r\n", "x-two:\t2 \r\n", "X-Empty:\r\n", "X-Colon: a:b, c\r\nX-More: z\r\n"),
    body: fc.constantFrom("", "{}", "x".repeat(64)),
  })
  .map(({ method, path, header, body }) => {
    const length = body === "" ? "" : `Content-Length: ${body.length}\r\n`;
    return `${method} ${path} HTTP/1.1\r\nHost: h\r\n${header}${length}\r\n${body}`;
  });

/** Good requests that the plain reader leaves to node. */
const unusualRequest = fc.constantFrom(
  "POST /chunked HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
  `POST /more HTTP/1.1\r\nHost: h\r\nContent-Length: 70\r\n\r\n${"y".repeat(70)}`,
  "GET /twice HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-A: 2\r\n\r\n",
  "GET /proto HTTP/1.1\r\nHost: h\r\n__proto__: 1\r\n\r\n",
  "GET /latin HTTP/1.1\r\nHost: h\r\nX-A: \xe9\r\n\r\n",
  "GET http://elsewhere/absolute HTTP/1.1\r\nHost: h\r\n\r\n",
  "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
);

const requests = fc.array(fc.oneof({ weight: 4, arbitrary: plainRequest }, { weight: 1, arbitrary: unusualRequest }), {
  minLength: 1,
  maxLength: 8,
});

it("reads every stream of requests as node's own parser does, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(requests, fc.array(fc.nat(), { maxLength: 3 }), async (sent, cuts) => {
      nodeEcho.seen.length = 0;
      plainEcho.seen.length = 0;
      const all = sent.join("");
      const edges = [0, ...cuts.map((cut) => cut % all.length).sort((left, right) => left - right), all.length];
      const pieces = edges.slice(1).map((edge, at) => all.slice(edges[at], edge));
      const [expected, actual] = await Promise.all([exchange(viaNode, pieces), exchange(viaPlain, pieces)]);
      // Node starts a request that was sent ahead while the one before it is still being read; its answers wait.
      expect(plainEcho.seen.toSorted()).toEqual(nodeEcho.seen.toSorted());
      expect(actual).toEqual(expected);
    }),
    { seed: 11, numRuns: 150 },
  );
});

it("goes on with what a client sent ahead, once a slow answer is written", async () => {
  const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
  const answers = await exchange(viaPlain, [one("/later") + one("/b") + one("/later") + one("/c")]);
  expect(answers.filter((line) => line.startsWith("GET"))).toEqual(
    ["/later", "/b", "/later", "/c", "/end"].map((path) => `GET ${path}  {} `),
  );
});

/** More than is read ahead, in chunks, so that node's parser takes over while more of it waits. */
const longBody = `4000\r\n${"b".repeat(0x4000)}\r\n`.repeat(16);

it("hands on all that a client sent ahead in its order, also what came while nothing was taken", async () => {
  let answer = (): void => {};
  const bodies = new Map<string, number | undefined>();
  const handler: ApiHandler = {
    start({ path, body }, responder) {
      bodies.set(path, (body as Uint8Array | undefined)?.length);
      if (path === "/wait") answer = () => responder.respond(200, {}, text("waited"));
      else responder.respond(200, {}, text("read"));
      return () => {};
    },
  };
  const server = await listenHttp({ handler, turn: (work) => work() }, 0, "127.0.0.1");
  const socket = new RawSocket(server.port, "GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
  socket.send(`POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${longBody}0\r\n\r\n${lastRequest}`);
  await new Promise((resolve) => setTimeout(resolve, 200)); // as much has come as is read ahead
  answer();
  expect(statuses(await socket.ended)).toEqual([200, 200, 200]);
  expect(bodies.get("/a")).toBe(16 * 0x4000);
  await server.close(0);
});

it.each(["HTTP/1.0\r\n", "HTTP/1.1\r\nConnection: close\r\n"])(
  "answers a request that ends its connection, whatever came with it: %j",
  async (head) => {
    for (const server of [viaNode, viaPlain]) {
      const later = await exchangeAtOnce(server, `GET /later ${head}Host: h\r\n\r\n`);
      expect(later).toEqual(["HTTP/1.1 200", "GET /later  {} "]);
      const length = await receivedBytes(server, `GET /huge ${head}Host: h\r\n\r\n${lastRequest}`);
      expect(length).toBeGreaterThan(20_000_000);
    }
  },
);

/** How much comes back before the connection ends. */
function receivedBytes({ port }: Listening, sent: string): Promise<number> {
  return new Promise((resolve) => {
    let length = 0;
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(sent));
    socket.on("data", (chunk) => (length += chunk.length));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(length));
  });
}

it.each([
  "GET /folded HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n 2\r\n\r\n",
  "POST /both HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
  "POST /twice HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
  "POST /signed HTTP/1.1\r\nHost: h\r\nContent-Length: +2\r\n\r\nhi",
  "GET /spaced HTTP/1.1\r\nHost: h\r\nX-A : 1\r\n\r\n",
  "GET /bare HTTP/1.1\nHost: h\n\n",
  "GET /hostless HTTP/1.1\r\n\r\n",
  "GET /old HTTP/1.0\r\nHost: h\r\n\r\n",
  "GET /closing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
  "NONSENSE / HTTP/1.1\r\nHost: h\r\n\r\n",
])("leaves to node what may end the connection: %j", async (request) => {
  for (const send of [exchangeAtOnce, exchangeInTurn]) {
    nodeEcho.seen.length = 0;
    plainEcho.seen.length = 0;
    const [expected, actual] = await Promise.all([send(viaNode, request), send(viaPlain, request)]);
    expect(plainEcho.seen).toEqual(nodeEcho.seen);
    expect(actual).toEqual(expected);
  }
});

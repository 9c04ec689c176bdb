/** Who reads a large answer, or what a watch has left, by drops loses it: nobody holds its bytes for long. */
import { connect as connectHttp2, constants } from "node:http2";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ApiHandler } from "../contract/http-message.ts";
import type { Listening } from "./http1-server.ts";
import { listenHttp } from "./http-server.ts";
import { RawSocket } from "./raw-socket.fixture.ts";

const answerMillisMax = 200;
/** More than the buffers of two sockets. */
const large = Buffer.alloc(96 << 20, "x");
const bodies = new Map([
  ["large", large],
  ["middle", large.subarray(0, 16 << 20)],
  ["short", large.subarray(0, 64 << 10)],
]);

let server: Listening;
/** Resolves once the first request has its answer, and the server's timer runs. */
let answered: Promise<void>;

beforeEach(async () => {
  let hasAnswered = (): void => {};
  answered = new Promise((resolve) => (hasAnswered = resolve));
  const handler: ApiHandler = {
    start({ path }, responder) {
      const [, way = "", size = ""] = path.split("/");
      const body = bodies.get(size) as Buffer;
      const payload = { object: undefined, contentType: "text/plain", bytes: () => body };
      if (way === "answer") responder.respond(200, {}, payload);
      else {
        responder.open(200, {});
        responder.frame(payload);
        responder.close();
      }
      hasAnswered();
      return () => {};
    },
  };
  server = await listenHttp({ handler, turn: (work) => work(), patience: { answerMillisMax } }, 0, "127.0.0.1");
});

afterEach(() => server.close(0));

/** Of this very event loop, and begun later: the server's timer has come first. */
async function thrice(): Promise<void> {
  await answered;
  await new Promise((resolve) => setTimeout(resolve, 3 * answerMillisMax));
}

it.each([
  ["an answer asked for plainly", "answer", ""],
  ["an answer asked for unusually", "answer", "TE: trailers\r\n"],
  ["a watch that has ended, asked for plainly", "watch", ""],
  ["a watch that has ended, asked for unusually", "watch", "TE: trailers\r\n"],
])("%s", async (_, way, headers) => {
  const socket = new RawSocket(server.port);
  socket.socket.pause();
  socket.send(`GET /${way}/large HTTP/1.1\r\nHost: h\r\n${headers}\r\n`);
  await thrice();
  socket.socket.resume();
  expect((await socket.ended).length).toBeLessThan(large.length);
});

it.each(["answer", "watch"])("over HTTP/2 the stream of an unread %s ends, and the connection goes on", async (way) => {
  const session = connectHttp2(server.url);
  const slow = session.request({ ":path": `/${way}/middle` });
  slow.on("error", () => {});
  const closed = new Promise<number>((resolve) => slow.on("close", () => resolve(slow.rstCode)));
  slow.pause();
  await thrice();
  slow.resume();
  expect(await closed).toBe(constants.NGHTTP2_CANCEL);
  const other = session.request({ ":path": "/answer/short" });
  const status = await new Promise((resolve) => other.on("response", (headers) => resolve(headers[":status"])));
  expect(status).toBe(200);
  session.destroy();
});

it("a client that reads keeps its connection", async () => {
  const ask = "GET /answer/short HTTP/1.1\r\nHost: h\r\n\r\n";
  const socket = new RawSocket(server.port, ask);
  await socket.until(/x$/);
  await thrice();
  socket.send(ask);
  socket.socket.end();
  expect((await socket.ended).length).toBeGreaterThan(2 * (64 << 10));
});

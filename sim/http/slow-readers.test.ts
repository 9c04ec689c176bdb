/** Who reads a large answer by drops loses it: nobody holds its bytes for long. */
import { connect as connectHttp2, constants } from "node:http2";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ApiHandler } from "../apiserver/http-message.ts";
import type { Listening } from "./http1-server.ts";
import { listenHttp } from "./http-server.ts";
import { RawSocket } from "./raw-socket.ts";

const answerMillisMax = 200;
/** More than the buffers of two sockets. */
const large = Buffer.alloc(96 << 20, "x");
const bodies = new Map([
  ["/large", large],
  ["/middle", large.subarray(0, 16 << 20)],
  ["/short", large.subarray(0, 64 << 10)],
]);

let server: Listening;
/** Resolves once the first request has its answer, and the server's timer runs. */
let answered: Promise<void>;

beforeEach(async () => {
  let hasAnswered = (): void => {};
  answered = new Promise((resolve) => (hasAnswered = resolve));
  const handler: ApiHandler = {
    start({ path }, responder) {
      const body = bodies.get(path) as Buffer;
      responder.respond(200, {}, { object: undefined, contentType: "text/plain", bytes: () => body });
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
  ["plainly", ""],
  ["unusually", "TE: trailers\r\n"],
])("asked %s", async (_, headers) => {
  const socket = new RawSocket(server.port);
  socket.socket.pause();
  socket.send(`GET /large HTTP/1.1\r\nHost: h\r\n${headers}\r\n`);
  await thrice();
  socket.socket.resume();
  expect((await socket.ended).length).toBeLessThan(large.length);
});

it("asked over HTTP/2: the stream ends, and the connection goes on", async () => {
  const session = connectHttp2(server.url);
  const slow = session.request({ ":path": "/middle" });
  slow.on("error", () => {});
  const closed = new Promise<number>((resolve) => slow.on("close", () => resolve(slow.rstCode)));
  slow.pause();
  await thrice();
  slow.resume();
  expect(await closed).toBe(constants.NGHTTP2_CANCEL);
  const other = session.request({ ":path": "/short" });
  const status = await new Promise((resolve) => other.on("response", (headers) => resolve(headers[":status"])));
  expect(status).toBe(200);
  session.destroy();
});

it("a client that reads keeps its connection", async () => {
  const ask = "GET /short HTTP/1.1\r\nHost: h\r\n\r\n";
  const socket = new RawSocket(server.port, ask);
  await socket.until(/x$/);
  await thrice();
  socket.send(ask);
  socket.socket.end();
  expect((await socket.ended).length).toBeGreaterThan(2 * (64 << 10));
});

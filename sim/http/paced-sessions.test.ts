import { Http2ServerRequest } from "node:http2";
import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ApiHandler } from "../contract/http-message.ts";
import { Exchange } from "./exchange.ts";
import { listenHttp } from "./http-server.ts";
import { RawSocket } from "./raw-socket.fixture.ts";
import { endOfHeaders, endOfStream, frame, frameTypes, head, header, prefaceWith } from "./http2-frames.fixture.ts";
import { PacedSessions } from "../kernel/paced-sessions.ts";
import { wallPorts } from "./wall.ts";
import { mostPiecesInTurn } from "./pieces-in-turn.fixture.ts";

function sessionsOf(paced: PacedSessions, count: number) {
  return Array.from({ length: count }, () => {
    const session = {};
    const handle = {
      isReading: true,
      readStart: () => void (handle.isReading = true),
      readStop: () => void (handle.isReading = false),
    };
    const socket = { _handle: handle } as never;
    const came = paced.begin(session, socket);
    return {
      came,
      opened: () => paced.opened(session, socket),
      end: () => paced.end(session),
      isReading: () => handle.isReading,
    };
  });
}

const longHead = Buffer.concat([head("GET", "/a"), header("x", "v".repeat(120)), header("y", "v".repeat(120))]);

/** A request without a body that is taken back at once. */
const cancelled = (stream: number): Buffer =>
  Buffer.concat([
    frame(frameTypes.headers, endOfHeaders | endOfStream, stream, longHead),
    frame(frameTypes.reset, 0, stream, Buffer.from([0, 0, 0, 8])),
  ]);

const post = frame(frameTypes.headers, endOfHeaders, 1, head("POST", "/a"));

it("when much has come in a turn nothing more is read, and one after another goes on", async () => {
  const all = sessionsOf(new PacedSessions(wallPorts, 10), 4);
  const reading = (): readonly boolean[] => all.map(({ isReading }) => isReading());
  for (let at = 0; at < 10; at++) all[0]?.came();
  expect(reading()).toEqual([false, false, false, false]);
  const order: number[] = [];
  for (let turn = 0; turn < 8; turn++) {
    await setImmediate();
    const at = reading().indexOf(true);
    order.push(at);
    for (let piece = 0; piece < 10; piece++) all[at]?.came();
  }
  expect(order).toEqual([1, 2, 3, 0, 1, 2, 3, 0]);
  await setImmediate();
  await setImmediate();
  await setImmediate();
  expect(reading()).toEqual([true, true, true, true]);
});

it("a session goes on when its bodies have ended", async () => {
  const [one, other] = sessionsOf(new PacedSessions(wallPorts, 10), 2);
  for (let at = 0; at < 10; at++) one?.came();
  other?.end();
  one?.end();
  for (let turn = 0; turn < 3; turn++) await setImmediate();
  expect([one?.isReading(), other?.isReading()]).toEqual([true, true]);
});

it("a session that opens streams has its turn as one that brings bodies, and one that has begun too late waits", async () => {
  const paced = new PacedSessions(wallPorts, 10);
  const [busy, next, late] = sessionsOf(paced, 3);
  busy?.end();
  next?.end();
  late?.end();
  for (let turn = 0; turn < 3; turn++) await setImmediate(); // none of them has anything to bring
  busy?.opened();
  next?.opened();
  expect([busy, next, late].map((each) => each?.isReading())).toEqual([false, false, true]);
  late?.opened();
  expect(late?.isReading()).toBe(false);
  const order: number[] = [];
  for (let turn = 0; turn < 6; turn++) {
    await setImmediate();
    const at = [busy, next, late].findIndex((each) => each?.isReading());
    order.push(at);
    for (let stream = 0; stream < 2; stream++) [busy, next, late][at]?.opened();
  }
  expect(order).toEqual([0, 1, 2, 0, 1, 2]);
});

it("a session whose client has to read first is not read on, and goes on when that has read", async () => {
  const ended: number[] = [];
  const answer = new Uint8Array(32 << 20);
  const handler: ApiHandler = {
    start({ path, body }, responder) {
      if (path === "/large") {
        const payload = { object: undefined, contentType: "a/b", sizeBytes: answer.length, bytes: () => answer };
        responder.respond(200, {}, payload);
      } else if (body !== undefined) ended.push((body as Uint8Array).length);
      return () => {};
    },
  };
  const server = await listenHttp({ handler, turn: (work) => work() }, 0, "127.0.0.1");
  const windows = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);
  const large = Buffer.concat([
    frame(frameTypes.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0, 0])),
    frame(frameTypes.headers, endOfHeaders | endOfStream, 3, head("GET", "/large")),
  ]);
  const unread = new RawSocket(server.port, Buffer.concat([prefaceWith(windows), post, large]));
  unread.socket.pause();
  const busy = new RawSocket(server.port, Buffer.concat([prefaceWith(), post]));
  const piece = frame(frameTypes.data, 0, 1, Buffer.from("v"));
  const manyPieces = Buffer.concat(Array.from({ length: 2_500 }, () => piece));
  const unknown = frame(0x20, 0, 0, new Uint8Array(16_000));
  const some = Buffer.concat([piece, ...Array.from({ length: 64 }, () => unknown)]);
  await setTimeout(200); // until the answer fills the connection
  let sent = 0;
  for (let turn = 0; turn < 60; turn++) {
    if (turn % 3 === 0) busy.send(manyPieces);
    if (unread.socket.writableLength === 0) {
      unread.send(some);
      sent++;
    }
    await setTimeout(5);
  }
  expect(sent * some.length).toBeLessThan(16 << 20);
  unread.socket.resume();
  unread.send(frame(frameTypes.data, endOfStream, 1, Buffer.from("w")));
  while (ended.length === 0) await setTimeout(5);
  expect(ended).toEqual([sent + 1]);
  unread.destroy();
  busy.destroy();
  await server.close(0);
});

it("frames of one byte are read some thousands in a turn, however many sessions bring them", {
  timeout: 60_000,
}, async () => {
  const pieces = 60_000;
  const one = frame(frameTypes.data, 0, 1, Buffer.from("v"));
  const sent = Buffer.concat([prefaceWith(), post, ...Array.from({ length: pieces }, () => one)]);
  const most = await mostPiecesInTurn(Http2ServerRequest.prototype, { connections: 8, sent, pieces });
  // What one session has read already is told of; by themselves the sessions are read 2 MiB at a time.
  expect(most).toBeLessThan(30_000);
});

it("streams that are opened and cancelled at once are begun some thousands in a turn, however many sessions bring them", {
  timeout: 60_000,
}, async () => {
  const [connections, streams] = [12, 900];
  const { begin } = Exchange.prototype;
  let inTurn = 0;
  Exchange.prototype.begin = function (incoming) {
    inTurn++;
    begin.call(this, incoming);
  };
  const server = await listenHttp({ handler: { start: () => () => {} }, turn: (work) => work() }, 0, "127.0.0.1");
  const sent = Buffer.concat(Array.from({ length: streams }, (_, at) => cancelled(2 * at + 1)));
  const sockets = Array.from({ length: connections }, () => new RawSocket(server.port, prefaceWith()));
  await setTimeout(100);
  for (const socket of sockets) socket.send(sent);
  let most = 0;
  for (let begun = 0; begun < connections * streams; inTurn = 0) {
    await setImmediate();
    most = Math.max(most, inTurn);
    begun += inTurn;
  }
  Exchange.prototype.begin = begin;
  // 64 KiB of each session are read before it can be stopped, some 200 of these streams; all 10,800 by themselves.
  expect(most).toBeLessThan(3_000);
  for (const socket of sockets) socket.destroy();
  await server.close(0);
});

import { Http2ServerRequest } from "node:http2";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { listenHttp } from "./http-server.ts";
import { PacedSessions } from "./paced-sessions.ts";
import { RawSocket } from "./raw-socket.fixture.ts";

function sessionsOf(paced: PacedSessions, count: number) {
  return Array.from({ length: count }, () => {
    const session = {};
    const handle = {
      isReading: true,
      readStart: () => void (handle.isReading = true),
      readStop: () => void (handle.isReading = false),
    };
    const came = paced.begin(session, { _handle: handle } as never);
    return { came, end: () => paced.end(session), isReading: () => handle.isReading };
  });
}

it("when much has come in a turn nothing more is read, and one after another goes on", async () => {
  const all = sessionsOf(new PacedSessions(10), 4);
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
  const [one, other] = sessionsOf(new PacedSessions(10), 2);
  for (let at = 0; at < 10; at++) one?.came();
  other?.end();
  one?.end();
  expect([one?.isReading(), other?.isReading()]).toEqual([true, true]);
  await setImmediate();
});

/** A frame of HTTP/2 on the first stream. */
function frame(type: number, flags: number, payload: Buffer, stream = 1): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

it("frames of one byte are read some thousands in a turn, however many sessions bring them", {
  timeout: 60_000,
}, async () => {
  const handler = { start: () => () => {} };
  const server = await listenHttp({ handler, turn: (work) => work() }, 0, "127.0.0.1");
  let pieces = 0;
  let most = 0;
  let all = 0;
  const { push } = Http2ServerRequest.prototype;
  Http2ServerRequest.prototype.push = function (...given) {
    pieces++;
    return push.apply(this, given);
  };
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const header = (name: string, value: string): Buffer => Buffer.concat([Buffer.from([0x10]), text(name), text(value)]);
  const head = Buffer.concat([
    header(":method", "POST"),
    header(":scheme", "http"),
    header(":path", "/a"),
    header(":authority", "h"),
  ]);
  const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, Buffer.alloc(0), 0)]);
  const one = frame(0, 0, Buffer.from("v"));
  const data = Buffer.concat(Array.from({ length: 60_000 }, () => one));
  const sockets = Array.from(
    { length: 8 },
    () => new RawSocket(server.port, Buffer.concat([preface, frame(1, 4, head), data])),
  );
  while (all < 8 * 60_000) {
    await setImmediate();
    most = Math.max(most, pieces);
    all += pieces;
    pieces = 0;
  }
  Http2ServerRequest.prototype.push = push;
  for (const socket of sockets) socket.destroy();
  await server.close(0);
  // What one session has read already is told of; by themselves the sessions are read 2 MiB at a time.
  expect(most).toBeLessThan(30_000);
});

/** How much of what sockets bring is read in one turn of the loop, on a clock that moves with what is read. */
import { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LoopShare } from "../kernel/loop-share.ts";
import { paceSocket, passedBytesMax } from "./paced-socket.ts";
import { mostPiecesInTurn } from "./pieces-in-turn.fixture.ts";

/** A socket whose bytes the test brings, and whoever reads them takes a microsecond a byte. */
function bench() {
  let nowMicros = 0;
  const share = new LoopShare({
    nowMicros: () => nowMicros,
    wake(_, fire) {
      const next = nextTurn(fire);
      return () => clearImmediate(next);
    },
  });
  const paced = (sliceBytes?: number) => {
    let isWanted = false;
    const socket = new Duplex({ read: () => void (isWanted = true), write: (_chunk, _encoding, done) => done() });
    const got: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => {
      got.push(bytes);
      nowMicros += bytes.length;
    });
    paceSocket(socket, sliceBytes, share);
    const wanted = (): boolean => isWanted;
    /** Whether it may bring more at once, as a handle asks. */
    const bring = (bytes: Uint8Array | null): boolean => {
      isWanted = false;
      return socket.push(bytes);
    };
    return { socket, got, bring, wanted };
  };
  return { share, paced, now: () => nowMicros };
}

const kib = 1024;
const bytesOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

describe("a paced socket", () => {
  it("hands on what it has brought in slices, and reads no more before that is done", async () => {
    const { paced } = bench();
    const { got, bring, wanted } = paced();
    await setImmediate();
    const bytes = Buffer.from(Array.from({ length: 64 * kib }, (_, at) => at % 251));
    expect(bring(bytes)).toBe(false);
    expect(got.map(({ length }) => length)).toEqual([16 * kib]);
    for (let turn = 2; turn <= 4; turn++) {
      expect(wanted()).toBe(false);
      await setImmediate();
      expect(bytesOf(got)).toBeLessThanOrEqual(turn * 16 * kib);
    }
    while (!wanted()) await setImmediate();
    expect(Buffer.concat(got).equals(bytes)).toBe(true);
  });

  it("ends also when it is paused, as a socket that nobody paces does", async () => {
    const { paced } = bench();
    const { socket, bring } = paced();
    await setImmediate();
    let isEnded = false;
    socket.on("end", () => (isEnded = true));
    socket.pause();
    bring(null);
    await setImmediate();
    expect(isEnded).toBe(true);
  });

  it("hands on at once what is small, and lets more be read", async () => {
    const { paced } = bench();
    const { got, bring } = paced();
    await setImmediate();
    expect([bring(Buffer.from("a")), bring(Buffer.from("b"))]).toEqual([true, true]);
    expect(Buffer.concat(got).toString()).toBe("ab");
  });

  it("shares a turn with all others: of a hundred that bring 64 KiB each, one slice is read in it", async () => {
    const { paced, now } = bench();
    const all = Array.from({ length: 100 }, () => paced());
    await setImmediate();
    for (const { bring } of all) bring(Buffer.alloc(64 * kib));
    expect(now()).toBe(16 * kib);
    for (let before = now(); before < 6400 * kib; before = now()) {
      await setImmediate();
      expect(now() - before).toBeLessThanOrEqual(16 * kib);
    }
    expect(all.map(({ got }) => bytesOf(got))).toEqual(Array.from({ length: 100 }, () => 64 * kib));
  });

  it("lets others begin what is small in every turn, while hundreds bring as much as one slice", async () => {
    const { paced, share } = bench();
    const all = Array.from({ length: 200 }, () => paced());
    await setImmediate();
    for (const { bring } of all) bring(Buffer.alloc(16 * kib));
    const bytesBefore = all.reduce((sum, { got }) => sum + bytesOf(got), 0);
    let isBegun = false;
    share.begin({}, () => (isBegun = true));
    while (!isBegun) await setImmediate();
    expect(all.reduce((sum, { got }) => sum + bytesOf(got), 0) - bytesBefore).toBeLessThanOrEqual(16 * kib);
  });

  it("waits for a reader that rests, and tells of the end when all was read", async () => {
    const { paced } = bench();
    const { socket, got, bring } = paced();
    let isEnded = false;
    socket.on("end", () => (isEnded = true));
    socket.once("data", () => socket.pause());
    await setImmediate();
    bring(Buffer.alloc(64 * kib));
    bring(null);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect([bytesOf(got), isEnded]).toEqual([16 * kib, false]);
    socket.resume();
    while (!isEnded) await setImmediate();
    expect(bytesOf(got)).toBe(64 * kib);
  });

  it("forgets what waits when it is destroyed", async () => {
    const { paced } = bench();
    const { socket, got, bring } = paced();
    await setImmediate();
    bring(Buffer.alloc(64 * kib));
    socket.destroy();
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(bytesOf(got)).toBe(16 * kib);
  });

  it("takes small pieces together, some at a time, and larger slices of what is passed on", async () => {
    const { paced, share } = bench();
    const many = paced();
    const passed = paced(passedBytesMax);
    await setImmediate();
    expect(passed.bring(Buffer.alloc(64 * kib))).toBe(true);
    for (let at = 0; at < 1000; at++) many.bring(Buffer.from("v"));
    let began = 0;
    const counted = (): void => {
      began++;
      if (bytesOf(many.got) < 1000) share.later({}, counted);
    };
    share.later({}, counted);
    while (bytesOf(many.got) < 1000) await setImmediate();
    expect(began).toBeLessThan(10);
  });
});

it("chunks of one byte are read some thousands in a turn, however many sockets bring them", {
  timeout: 60_000,
}, async () => {
  const head = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const pieces = 50_000;
  const sent = head + "1\r\nv\r\n".repeat(pieces);
  const most = await mostPiecesInTurn(IncomingMessage.prototype, { connections: 20, sent, pieces });
  // All that 64 KiB of one socket hold come in a step; by themselves the sockets are read 2 MiB at a time.
  expect(most).toBeLessThan(60_000);
});

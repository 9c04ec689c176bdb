import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeWatchFrame } from "../apiserver/encodings/protobuf/envelope.ts";
import { LostWatch, WatchFrames } from "./watch-frames.ts";

const bytesMax = 1 << 20;

const texts = (frames: WatchFrames, chunks: readonly Uint8Array[]): string[] =>
  chunks.flatMap((chunk) => [...frames.add(Buffer.from(chunk))].map((frame) => Buffer.from(frame).toString("latin1")));

/** Cuts bytes where the lengths say, again and again. */
function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] as number;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

it("events come out as they went in, however they are cut", () => {
  const events = fc.array(fc.string({ maxLength: 60, unit: fc.constantFrom("a", "{", "\\", '"') }), { maxLength: 8 });
  const lengths = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(events, lengths, (given, cuts) => {
      const lines = Buffer.from(given.map((each) => `${each}\n`).join(""), "latin1");
      expect(texts(new WatchFrames(false, bytesMax), cut(lines, cuts))).toEqual(given);
      const messages = given.map((each) => encodeWatchFrame("ADDED", Buffer.from(each, "latin1")));
      const found = texts(new WatchFrames(true, bytesMax), cut(Buffer.concat(messages), cuts));
      expect(found).toEqual(messages.map((each) => Buffer.from(each.subarray(4)).toString("latin1")));
    }),
    { seed: 7 },
  );
});

it("each byte of an event that comes in small pieces is looked at once", () => {
  const frames = new WatchFrames(false, bytesMax);
  const pieces = 100_000;
  let early = 0;
  for (let at = 0; at < pieces; at++) early += [...frames.add(Buffer.from("aaaa"))].length;
  expect(early).toBe(0);
  expect([...frames.add(Buffer.from("\n"))].map(({ length }) => length)).toEqual([4 * pieces]);
  expect(frames.lookedAt).toBe(4 * pieces + 1);
});

it("an event that is too long is refused: a line when it is, a message as soon as it says so", () => {
  const line = new WatchFrames(false, 100);
  expect(() => [...line.add(Buffer.alloc(101, "a"))]).toThrow(LostWatch);
  expect(() => [...new WatchFrames(true, 100).add(Buffer.from([0xff, 0xff, 0xff, 0xff]))]).toThrow(LostWatch);
});

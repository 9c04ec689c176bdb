import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { UnreadAnswers } from "./unread-answers.ts";

const large = 100_000;

it("gives no more than its bound until something is read, or its reader has gone", () => {
  const unread = new UnreadAnswers(3 * large);
  const calls = Array.from({ length: 3 }, () => new EventEmitter());
  const read = calls.map((call) => unread.of(call).given(large));
  const next = unread.of(new EventEmitter());
  expect(next.hasRoomFor(large)).toBe(false);
  read[0]?.();
  expect(next.hasRoomFor(large)).toBe(true);
  next.given(large);
  expect(next.hasRoomFor(large)).toBe(false);
  calls[1]?.emit("cancelled");
  expect([unread.bytes, next.hasRoomFor(large)]).toEqual([2 * large, true]);
});

it("counts what was read and then ended once", () => {
  const unread = new UnreadAnswers(large);
  const call = new EventEmitter();
  const read = unread.of(call).given(large);
  call.emit("cancelled");
  read();
  read();
  expect(unread.bytes).toBe(0);
});

it("gives what is small all the same, but to one call only so much", () => {
  const unread = new UnreadAnswers(large);
  unread.of(new EventEmitter()).given(large);
  const small = unread.of(new EventEmitter());
  expect(small.hasRoomFor(40_000)).toBe(true);
  small.given(40_000);
  expect(small.hasRoomFor(40_000)).toBe(false);
});

import { expect, it } from "vitest";
import { Room } from "./room.ts";

it("a room is left first by whoever was there longest, and by nobody while it is not full", () => {
  const room = new Room(100);
  const gone: string[] = [];
  const holders = ["a", "b", "c"].map((name) => ({ evicted: () => void gone.push(name) }));
  const [a, b, c] = holders as [(typeof holders)[0], (typeof holders)[0], (typeof holders)[0]];
  room.hold(a, 60);
  room.hold(b, 40);
  expect(gone).toEqual([]);
  room.release(a);
  room.hold(c, 60);
  expect([gone, room.bytes]).toEqual([[], 100]);
  room.hold(c, 1);
  expect([gone, room.bytes]).toEqual([["b"], 61]);
  room.hold(c, 100);
  expect([gone, room.bytes]).toEqual([["b", "c"], 0]);
});

/** Who loses what when the room for all is full, and what is refused when memory is. */
import { describe, expect, it } from "vitest";
import { MemoryLimit } from "./memory-limit.ts";
import { Room } from "./room.ts";

describe("a room", () => {
  it("is left first by whoever was there longest, and by nobody while it is not full", () => {
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
});

describe("the limit of memory", () => {
  it("collects before it refuses anybody, and refuses more when less is left", () => {
    let used = 100;
    let now = 0;
    let collected = 0;
    let garbage = 0;
    const limit = new MemoryLimit(1000, {
      usedBytes: () => used + garbage,
      nowMicros: () => (now += 200_000),
      collect: () => {
        collected++;
        garbage = 0;
      },
    });
    expect([limit.level(), collected]).toEqual(["free", 0]);
    garbage = 850;
    expect([limit.level(), collected]).toEqual(["free", 1]);
    used = 900;
    expect(limit.level()).toBe("scarce");
    used = 960;
    expect(limit.level()).toBe("none");
    now += 10_000_000;
    used = 100;
    expect(limit.level()).toBe("free");
  });

  it("does not collect again and again what is in use", () => {
    let now = 0;
    let collected = 0;
    const limit = new MemoryLimit(1000, {
      usedBytes: () => 900,
      nowMicros: () => (now += 3_000_000),
      collect: () => void collected++,
    });
    for (let look = 0; look < 10; look++) expect(limit.level()).toBe("scarce");
    expect(collected).toBe(1);
  });
});

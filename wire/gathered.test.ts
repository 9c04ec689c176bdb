import fc from "fast-check";
import { expect, it } from "vitest";
import { Gathered } from "./gathered.ts";

it("joins what came, whatever the pieces are, and says what it takes", () => {
  const lengths = fc.array(fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 20_000 })), { maxLength: 60 });
  fc.assert(
    fc.property(lengths, (all) => {
      const gathered = new Gathered();
      const pieces = all.map((length, at) => Buffer.alloc(length, at));
      const held = pieces.reduce((sum, piece) => sum + gathered.add(piece), 0);
      expect(gathered.bytes).toBe(Buffer.concat(pieces).length);
      expect(Buffer.concat(pieces).equals(gathered.joined())).toBe(true);
      expect(held).toBeGreaterThanOrEqual(gathered.bytes);
      expect(held).toBeLessThanOrEqual(3 * gathered.bytes + 4096);
    }),
    { seed: 1, numRuns: 300 },
  );
});

it("holds a million pieces of one byte in few buffers, and says what they take", () => {
  const gathered = new Gathered();
  const one = Buffer.from("v");
  let held = 0;
  for (let at = 0; at < 1_000_000; at++) held += gathered.add(one);
  expect(gathered.pieces().length).toBeLessThan(20);
  expect(held).toBeGreaterThanOrEqual(1_000_000);
  expect(held).toBeLessThan(1_300_000);
  expect(gathered.joined()).toEqual(new Uint8Array(1_000_000).fill(118));
});

it("keeps no large buffer alive for a small part of it", () => {
  const gathered = new Gathered();
  for (let at = 0; at < 100; at++) gathered.add(Buffer.alloc(1_000_000).subarray(0, 10_000));
  expect(new Set(gathered.pieces().map(({ buffer }) => buffer.byteLength <= 256 * 1024))).toEqual(new Set([true]));
  expect(gathered.joined()).toHaveLength(1_000_000);
  gathered.clear();
  expect([gathered.bytes, gathered.joined().length]).toEqual([0, 0]);
});

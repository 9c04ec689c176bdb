import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { sendSlices } from "./sliced-body.ts";

it("leaves the loop to others between parts that the peer takes at once", async () => {
  const parts = 40;
  let written = 0;
  let hasEnded = false;
  function* slices(): Generator<Uint8Array> {
    for (let at = 0; at < parts; at++) yield new Uint8Array(1_000_000);
  }
  sendSlices(
    slices(),
    {
      isOver: () => false,
      whole: () => {},
      begin: () => false,
      write: (pieces, taken) => {
        written += pieces.length;
        process.nextTick(taken);
      },
      end: () => (hasEnded = true),
      giveUp: () => {},
      broke: (error) => {
        throw error;
      },
    },
    60_000,
  );
  let turns = 0;
  for (; !hasEnded && turns < 10_000; turns++) await turn();
  expect(written).toBe(parts);
  expect(turns).toBeGreaterThan(3);
});

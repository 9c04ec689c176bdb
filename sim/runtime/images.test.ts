import { expect, it } from "vitest";
import { prngStream } from "../kernel/prng.ts";
import { digestOf } from "./images.ts";

/** As it is drawn, whatever was asked before. */
function plainly(...parts: readonly string[]): string {
  const stream = prngStream("image", ...parts);
  return Array.from({ length: 8 }, () => stream.uint32().toString(16).padStart(8, "0")).join("");
}

it("a digest belongs to its texts, however often and among how many others it is asked for", () => {
  const lists = [["app"], ["manifest", "app"], ["a", "b"], ["a\nb"], ['a","b'], [""], ["", ""]];
  for (let round = 0; round < 2; round++) for (const parts of lists) expect(digestOf(...parts)).toBe(plainly(...parts));
  for (let other = 0; other < 5_000; other++) digestOf("other", String(other));
  for (const parts of lists) expect(digestOf(...parts)).toBe(plainly(...parts));
});

import { expect, it } from "vitest";
import { VolumeParts } from "./volume-parts.ts";

const summary = (used: number, ...uids: string[]) => ({
  node: {},
  pods: uids.map((uid) => ({ podRef: { uid }, volume: [{ name: "v", usedBytes: used }] })),
});
const usedIn = (told: object): unknown =>
  (told as { pods: { volume?: { usedBytes: number }[] }[] }).pods.map(({ volume }) => volume?.[0]?.usedBytes);

it("what is told of volumes is computed anew after its period, for each pod by itself", () => {
  const parts = new VolumeParts(60);
  expect(usedIn(parts.of(summary(1, "a"), 0))).toEqual([1]);
  expect(usedIn(parts.of(summary(2, "a", "b"), 59))).toEqual([1, 2]);
  expect(usedIn(parts.of(summary(3, "a", "b"), 60))).toEqual([3, 2]);
  expect(usedIn(parts.of(summary(4, "b"), 119))).toEqual([4]);
  expect(usedIn(parts.of(summary(5, "a"), 120))).toEqual([5]);
});

it("a negative period tells nothing of them, none tells what is there", () => {
  expect(usedIn(new VolumeParts(-1).of(summary(1, "a"), 0))).toEqual([undefined]);
  const always = new VolumeParts(0);
  expect([usedIn(always.of(summary(1, "a"), 5)), usedIn(always.of(summary(2, "a"), 5))]).toEqual([[1], [2]]);
});

import { expect, it } from "vitest";
import { KeptConfigurations } from "./kept-configurations.ts";

it("refuses what there is no room for, until something has gone", () => {
  const all = new Set<object>();
  const kept = new KeptConfigurations(1_000, () => all);
  const make = (bytes: number): object | undefined => {
    if (!kept.hasRoomFor(bytes)) return undefined;
    const made = {};
    all.add(made);
    kept.add(made, bytes)();
    return made;
  };
  const first = make(600);
  expect(first).toBeDefined();
  expect(make(500)).toBeUndefined();
  expect(make(400)).toBeDefined();
  all.delete(first as object);
  expect(make(500)).toBeDefined();
});

it("counts what is being made, which is not there yet", () => {
  const kept = new KeptConfigurations(1_000, () => []);
  expect(kept.hasRoomFor(600)).toBe(true);
  const made = kept.add({}, 600);
  expect(kept.hasRoomFor(600)).toBe(false);
  made();
  expect(kept.hasRoomFor(600)).toBe(true);
});

it("measures what an earlier life has left", () => {
  const left = { labels: { a: "b".repeat(900) } };
  const kept = new KeptConfigurations(1_000, () => [left]);
  expect([kept.hasRoomFor(200), kept.hasRoomFor(50)]).toEqual([false, true]);
});

it("counts what there is only when what has come since might be too much", () => {
  const kept = new KeptConfigurations(1_000_000, () => []);
  for (let count = 0; count < 100_000; count++) {
    expect(kept.hasRoomFor(100)).toBe(true);
    kept.add({}, 100)();
  }
  expect(kept.recounts).toBe(10);
});

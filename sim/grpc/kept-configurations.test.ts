import { expect, it } from "vitest";
import { KeptConfigurations } from "./kept-configurations.ts";

/** Room beside what is in a set. */
const keptWith = (bytesMax: number, all: ReadonlySet<object> = new Set()): KeptConfigurations =>
  new KeptConfigurations(bytesMax, { all: () => all, count: () => all.size });

it("refuses what there is no room for, until something has gone", () => {
  const all = new Set<object>();
  const kept = keptWith(1_000, all);
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
  const kept = keptWith(1_000);
  expect(kept.hasRoomFor(600)).toBe(true);
  const made = kept.add({}, 600);
  expect(kept.hasRoomFor(600)).toBe(false);
  made();
  expect(kept.hasRoomFor(600)).toBe(true);
});

it("measures what an earlier life has left", () => {
  const left = { labels: { a: "b".repeat(900) } };
  const kept = keptWith(1_000, new Set([left]));
  expect([kept.hasRoomFor(200), kept.hasRoomFor(50)]).toEqual([false, true]);
});

it("counts what there is only when what has come since might be too much", () => {
  const kept = keptWith(1_000_000);
  for (let count = 0; count < 100_000; count++) {
    expect(kept.hasRoomFor(100)).toBe(true);
    kept.add({}, 100)();
  }
  expect(kept.recounts).toBe(10);
});

it("counts no more for those that it refuses, as long as nothing has gone", () => {
  const all = new Set<object>();
  const kept = keptWith(1_000, all);
  const makeSmall = (): void => {
    expect(kept.hasRoomFor(1)).toBe(true);
    const made = {};
    const isMade = kept.add(made, 1);
    all.add(made);
    isMade();
    isMade(); // as for a call that is cancelled after it was answered
  };
  for (let count = 0; count < 500; count++) {
    makeSmall();
    expect(kept.hasRoomFor(900)).toBe(count < 100);
  }
  const { recounts } = kept;
  expect(recounts).toBeLessThan(3);
  for (const made of all) {
    all.delete(made);
    expect(kept.hasRoomFor(900)).toBe(all.size <= 100);
  }
  expect(kept.recounts - recounts).toBeLessThanOrEqual(500);
});

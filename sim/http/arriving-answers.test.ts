import { expect, it } from "vitest";
import { ArrivingAnswers } from "./arriving-answers.ts";

/** What is waited for is over when the test says so. */
function bench() {
  let refreshed = 0;
  const open = new Set<() => void>();
  const arriving = new ArrivingAnswers(100, (_millis, fire) => {
    open.add(fire);
    return { refresh: () => void refreshed++, end: () => void open.delete(fire) };
  });
  const late = (): void => {
    for (const fire of [...open]) {
      open.delete(fire);
      fire();
    }
  };
  return { arriving, late, refreshes: () => refreshed };
}

function answers(arriving: ArrivingAnswers, count: number) {
  return Array.from({ length: count }, () => {
    const each = {
      isPaused: false,
      isEvicted: false,
      pause: () => void (each.isPaused = true),
      resume: () => void (each.isPaused = false),
      evicted: () => void (each.isEvicted = true),
      bring: (bytes: number) => arriving.hold(each, bytes),
      end: () => arriving.release(each),
    };
    return each;
  });
}

it("one answer at a time goes on when all together take too much, in the order in which they came", () => {
  const { arriving, late } = bench();
  const all = answers(arriving, 4);
  const [first, second, third] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
  for (const each of all) each.bring(30);
  first.bring(10);
  second.bring(10);
  third.bring(10);
  expect(all.map(({ isPaused }) => isPaused)).toEqual([false, true, true, true]);
  first.bring(100);
  first.end();
  expect(all.map(({ isPaused }) => isPaused)).toEqual([false, false, true, true]);
  second.end();
  expect(all.map(({ isPaused }) => isPaused)).toEqual([false, false, false, false]);
  late();
  expect(all.map(({ isEvicted }) => isEvicted)).toEqual([false, false, false, false]);
});

it("whoever keeps others waiting without bringing much loses its answer", () => {
  const { arriving, late, refreshes } = bench();
  const all = answers(arriving, 2);
  const [first, second] = all as [(typeof all)[0], (typeof all)[0]];
  first.bring(60);
  second.bring(60);
  for (let at = 0; at < 5; at++) first.bring(1 << 20);
  first.bring(1);
  expect([first.isEvicted, second.isPaused, refreshes()]).toEqual([false, true, 5]);
  late();
  expect([first.isEvicted, second.isPaused, second.isEvicted]).toEqual([true, false, false]);
  first.end();
  late();
  expect(second.isEvicted).toBe(false);
});

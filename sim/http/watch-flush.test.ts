import { expect, it } from "vitest";
import { WatchFlush } from "./watch-flush.ts";

/** A clock that stands still, and what it was asked to wake. */
class Bed {
  nowMicros = 0;
  readonly asked: { readonly delayMicros: number; readonly fire: () => void }[] = [];
  readonly flush = new WatchFlush<number>({
    nowMicros: () => this.nowMicros,
    wake: (delayMicros, fire) => {
      this.asked.push({ delayMicros, fire });
      return () => {};
    },
  });

  /** A watch whose writes take some time; it notes what it was handed, and hands on one more. */
  watch(writeMicros = 0): { readonly seen: (number | undefined)[]; flush(last: number | undefined): number } {
    const seen: (number | undefined)[] = [];
    const flush = (last: number | undefined): number => {
      seen.push(last);
      this.nowMicros += writeMicros;
      return (last ?? 0) + 1;
    };
    return { seen, flush };
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("flushes all watches of a turn together, each with what the one before it wrote", async () => {
  const bed = new Bed();
  const watches = [bed.watch(), bed.watch(), bed.watch()];
  for (const watch of watches) bed.flush.add(watch);
  expect(watches.flatMap(({ seen }) => seen)).toEqual([]); // not within the turn
  await turn();
  expect(watches.map(({ seen }) => seen)).toEqual([[undefined], [1], [2]]);
});

it("rests for some times as long as it wrote, and then flushes together what has come", async () => {
  const bed = new Bed();
  bed.flush.add(bed.watch(100));
  await turn();
  bed.nowMicros += 1_000;
  const watches = [bed.watch(), bed.watch()] as const;
  bed.flush.add(watches[0]);
  await turn();
  bed.flush.add(watches[1]);
  await turn();
  expect(watches.flatMap(({ seen }) => seen)).toEqual([]);
  expect(bed.asked.map(({ delayMicros }) => delayMicros)).toEqual([2_200]); // thirty-two times 100, of which 1,000 are over
  bed.asked[0]?.fire();
  expect(watches.map(({ seen }) => seen)).toEqual([[undefined], [1]]);
});

it("holds nothing back for longer than ten milliseconds, nor after a pause", async () => {
  const bed = new Bed();
  bed.flush.add(bed.watch(80_000));
  await turn();
  bed.flush.add(bed.watch());
  expect(bed.asked.map(({ delayMicros }) => delayMicros)).toEqual([10_000]);
  bed.asked[0]?.fire();
  bed.nowMicros += 1;
  const late = bed.watch();
  bed.flush.add(late);
  await turn();
  expect(late.seen).toEqual([undefined]);
});

it("leaves others their turn where writing takes long, and goes on where it was", async () => {
  const bed = new Bed();
  const watches = [bed.watch(6_000), bed.watch(6_000), bed.watch(6_000)] as const;
  for (const watch of watches) bed.flush.add(watch);
  await turn();
  expect(watches.map(({ seen }) => seen)).toEqual([[undefined], [1], []]);
  const late = bed.watch();
  bed.flush.add(late);
  await turn();
  expect(watches.map(({ seen }) => seen)).toEqual([[undefined], [1], [2]]);
  expect([late.seen, bed.asked.map(({ delayMicros }) => delayMicros)]).toEqual([[], [10_000]]);
  bed.asked[0]?.fire();
  expect(late.seen).toEqual([undefined]);
});

import { expect, it } from "vitest";
import { AnswerFlush } from "./answer-flush.ts";

/** A clock that stands still, and connections that note when they are flushed. */
class Bed {
  nowMicros = 0;
  readonly flushed: string[] = [];
  readonly flush = new AnswerFlush({ nowMicros: () => this.nowMicros });

  answer(name: string): void {
    this.flush.add({ flush: () => void this.flushed.push(name) });
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("sends what was answered in one turn at its end, in order", async () => {
  const bed = new Bed();
  for (const name of ["a", "b", "c"]) bed.answer(name);
  expect(bed.flushed).toEqual([]);
  await turn();
  expect(bed.flushed).toEqual(["a", "b", "c"]);
  await turn();
  expect(bed.flushed).toEqual(["a", "b", "c"]);
});

it("holds nothing back for longer than a millisecond and a request", async () => {
  const bed = new Bed();
  bed.answer("a");
  bed.nowMicros += 999;
  bed.answer("b");
  expect(bed.flushed).toEqual([]);
  bed.nowMicros += 1;
  bed.answer("c");
  expect(bed.flushed).toEqual(["a", "b", "c"]);
  bed.answer("d"); // begins to wait anew
  expect(bed.flushed).toEqual(["a", "b", "c"]);
  await turn();
  expect(bed.flushed).toEqual(["a", "b", "c", "d"]);
});

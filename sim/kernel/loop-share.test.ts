import { setImmediate as nextTurn } from "node:timers";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LoopShare } from "./loop-share.ts";

/** A clock that moves when work is done. */
function bench() {
  let nowMicros = 0;
  const share = new LoopShare({
    nowMicros: () => nowMicros,
    wake(_, fire) {
      const next = nextTurn(fire);
      return () => clearImmediate(next);
    },
  });
  const done: string[] = [];
  const work = (name: string, micros: number) => (): void => {
    done.push(name);
    nowMicros += micros;
  };
  return { share, done, work };
}

describe("the share of the loop", () => {
  it("begins what comes at once, until a turn has had ten milliseconds; the rest is for the next turn", async () => {
    const { share, done, work } = bench();
    for (const name of ["a", "b", "c"]) share.begin({}, work(name, 6_000));
    expect(done).toEqual(["a", "b"]);
    await setImmediate();
    await setImmediate();
    expect(done).toEqual(["a", "b", "c"]);
    share.begin({}, work("d", 1));
    expect(done).toEqual(["a", "b", "c", "d"]);
  });

  it("counts what follows in the same turn, of which it sees nothing", async () => {
    const { share, done, work } = bench();
    for (const name of ["a", "b", "c"])
      share.begin({}, () => {
        work(name, 1_000)();
        share.follows(5_000);
      });
    expect(done).toEqual(["a", "b"]);
    await setImmediate();
    await setImmediate();
    expect(done).toEqual(["a", "b", "c"]);
  });

  it("gives each connection one turn after another, and what one wants in its order", async () => {
    const { share, done, work } = bench();
    const [many, one] = [{}, {}];
    share.begin(many, work("first", 20_000));
    for (let at = 0; at < 5; at++) share.begin(many, work(`many ${at}`, 1_000));
    share.begin(one, work("one", 1_000));
    await setImmediate();
    await setImmediate();
    expect(done).toEqual(["first", "many 0", "one", "many 1", "many 2", "many 3", "many 4"]);
  });

  it("leaves the loop to others after ten milliseconds, however much waits", async () => {
    const { share, done, work } = bench();
    const by = {};
    for (let at = 0; at < 100; at++) share.later(by, work(String(at), 1_000));
    let turns = 0;
    while (done.length < 100 && turns < 100) {
      const before = done.length;
      await setImmediate();
      turns += 1;
      expect(done.length - before).toBeLessThanOrEqual(11);
    }
    expect(done).toEqual(Array.from({ length: 100 }, (_, at) => String(at)));
  });

  it("puts what is small before what is large, of which there is one thing in each turn", async () => {
    const { share, done, work } = bench();
    share.begin({}, work("first", 20_000));
    for (let at = 0; at < 3; at++) share.begin({}, work(`large ${at}`, 50_000), () => true);
    for (let at = 0; at < 4; at++) share.begin({}, work(`small ${at}`, 6_000));
    share.later({}, work("part", 1_000));
    expect(done.splice(0)).toEqual(["first"]);
    const turns: string[][] = [];
    for (let at = 0; at < 12 && turns.flat().length < 8; at++) {
      await setImmediate();
      if (done.length > 0) turns.push(done.splice(0));
    }
    expect(turns).toEqual([
      ["small 0", "small 1", "large 0"],
      ["small 2", "small 3", "large 1"],
      ["large 2"],
      ["part"],
    ]);
  });

  it("lets a large request wait for others that are large, and a small one for none of them", async () => {
    const { share, done, work } = bench();
    share.later({}, work("part", 1_000));
    share.begin({}, work("large", 1_000), () => true);
    share.begin({}, work("small", 1_000));
    expect(done).toEqual(["small"]);
    await setImmediate();
    expect(done).toEqual(["small", "part", "large"]);
  });

  it("asks what is small again when its turn has come: what has turned out to be large comes behind", async () => {
    const { share, done, work } = bench();
    let isLong = false;
    share.begin({}, work("first", 20_000));
    for (let at = 0; at < 4; at++) share.begin({}, work(`long ${at}`, 6_000), () => isLong);
    share.begin({}, work("small", 1_000));
    expect(done.splice(0)).toEqual(["first"]);
    isLong = true;
    await setImmediate();
    expect(done.splice(0)).toEqual(["small", "long 0", "long 1"]);
    await setImmediate();
    expect(done).toEqual(["long 2", "long 3"]);
  });
});

import { describe, expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import { WallDriver, type WallPorts } from "../kernel/wall-driver.ts";
import { kept } from "./item-scope.ts";
import { newQueueCount } from "./queue-counts.ts";
import { inTurns, oneByOne, type Outcome, WorkQueue } from "./work-queue.ts";

/** A queue whose work is noted with its millisecond, and ended by `end` or at once. */
function play(answer: (item: string) => Outcome | "later" = () => "done") {
  const kernel = new Kernel({ seed: "queue" });
  const process = kernel.process("controller");
  const log: string[] = [];
  const open: ((outcome: Outcome) => void)[] = [];
  const count = newQueueCount();
  const queue = new WorkQueue<string>({
    process,
    count,
    work: (item, done) => {
      log.push(`${kernel.nowMicros() / 1000} ${item}`);
      const outcome = answer(item);
      if (outcome === "later") open.push(done);
      else done(outcome);
    },
  });
  return {
    kernel,
    process,
    log,
    open,
    queue,
    count,
    pass: (millis: number) => kernel.run(kernel.nowMicros() + millis * 1000),
  };
}

describe("a work queue", () => {
  it("waits until it is opened, and takes each thing once, in order", () => {
    const { queue, log, pass } = play();
    for (const item of ["a", "b", "a"]) queue.add(item);
    pass(100);
    expect(log).toEqual([]);
    queue.open();
    pass(100);
    expect(log).toEqual(["110 a", "110 b"]);
  });

  it("counts what came in, what is to come later, and what waits", () => {
    const { queue, count, pass } = play(() => "again");
    for (const item of ["a", "b", "a"]) queue.add(item);
    expect(count).toMatchObject({ adds: 2, retries: 0, depth: 2 });
    queue.open();
    pass(10);
    expect(count).toMatchObject({ adds: 2, retries: 2, depth: 0 });
    pass(5);
    expect(count).toMatchObject({ adds: 4, retries: 2, depth: 2 });
    queue.drop("a");
    expect(count.depth).toBe(1);
  });

  it("takes a thing again that was added while somebody was at it, and not before he is done", () => {
    const { queue, log, open, pass } = play(() => "later");
    queue.open();
    queue.add("a");
    pass(20);
    queue.add("a");
    pass(1000);
    expect(log).toEqual(["10 a"]);
    open.shift()?.("done");
    pass(1000);
    expect(log).toEqual(["10 a", "1030 a"]);
  });

  it("tries again what did not work out, later each time, until it does", () => {
    let left = 4;
    const { queue, log, pass, kernel } = play(() => (left-- > 0 ? "again" : "done"));
    queue.open();
    queue.add("a");
    pass(10_000);
    expect(log).toEqual(["10 a", "25 a", "45 a", "75 a", "125 a"]);
    expect(kernel.pendingCount).toBe(0);
    left = 1;
    queue.add("a"); // what worked out once begins from the start
    pass(10_000);
    expect(log.slice(5)).toEqual(["10010 a", "10025 a"]);
  });

  it("forgets what is dropped, and waits no longer than the last while says", () => {
    const { queue, log, pass } = play();
    queue.open();
    queue.add("a");
    queue.addAfter("b", 1000);
    queue.drop("a");
    queue.drop("b");
    queue.addAfter("c", 5_000_000);
    queue.addAfter("c", 1_000_000);
    pass(10_000);
    expect(log).toEqual(["1010 c"]);
  });

  it("tries an item again whose work threw, at once or in what it had left for later", () => {
    for (const isLater of [false, true]) {
      const caught: string[] = [];
      const kernel = new Kernel({ seed: "queue", caught: ({ cause }, what) => caught.push(`${what}: ${cause}`) });
      const process = kernel.process("controller");
      let tries = 0;
      const fail = (): void => {
        throw new Error(`try ${tries}`);
      };
      const queue = new WorkQueue<string>({
        process,
        count: newQueueCount(),
        work: (_item, done) => {
          if (++tries >= 3) done("done");
          // As an answer to a request that is asked in an answer.
          else if (isLater)
            process.clock.after(
              500,
              kept(() => process.clock.after(500, kept(fail))),
            );
          else fail();
        },
      });
      queue.open();
      queue.add("a");
      kernel.run(10_000_000);
      expect(tries).toBe(3);
      expect(caught).toEqual([1, 2].map((at) => `item of a controller: Error: try ${at}`));
      queue.add("a"); // nobody is at it any more
      kernel.run(20_000_000);
      expect(tries).toBe(4);
    }
  });

  it("leaves room between turns for others, and dies with its process", () => {
    const { queue, log, pass, process } = play();
    queue.open();
    for (let at = 0; at < 250; at++) queue.add(String(at));
    pass(10);
    expect(log).toHaveLength(100);
    pass(1);
    expect(log).toHaveLength(200);
    process.crash();
    pass(1000);
    expect(log).toHaveLength(200);
  });
});

/** A kernel in real time, of which an item takes three milliseconds, and what is worked on in each turn of the loop. */
function inRealTime() {
  let now = 0;
  const due: (() => void)[] = [];
  const kernel = new Kernel({ seed: "wall" });
  const ports: WallPorts = {
    nowMicros: () => now,
    wake: (delayMicros, fire) => {
      due.push(() => {
        now += delayMicros;
        fire();
      });
      return () => {};
    },
  };
  const driver = new WallDriver(kernel, ports, { onError: (error) => expect(error).toBe(undefined) });
  const process = kernel.process("controller");
  const turns: number[] = [];
  const item = (): void => {
    now += 3_000;
    turns.push((turns.pop() ?? 0) + 1);
  };
  const play = (work: () => void): readonly number[] => {
    driver.enter(process, work);
    for (let fire = due.shift(); fire !== undefined; fire = due.shift()) {
      turns.push(0);
      fire();
    }
    return turns.filter((count) => count > 0);
  };
  return { process, item, play };
}

describe("in real time a turn ends when it has taken ten milliseconds", () => {
  it("of a queue", () => {
    const { process, item, play } = inRealTime();
    const queue = new WorkQueue<number>({
      process,
      count: newQueueCount(),
      work: (_item, done) => {
        item();
        done("done");
      },
    });
    const turns = play(() => {
      for (let at = 0; at < 10; at++) queue.add(at);
      queue.open();
    });
    expect(turns).toEqual([4, 4, 2]);
  });

  it("of steps and of lists", () => {
    const steps = inRealTime();
    const step = (at: number, next: () => void): void => {
      steps.item();
      if (at < 9) next();
    };
    expect(steps.play(() => oneByOne(steps.process, step))).toEqual([4, 4, 2]);
    const list = inRealTime();
    const work = (_at: number, done: () => void): void => {
      list.item();
      done();
    };
    const items = Array.from({ length: 10 }, (_, at) => at);
    expect(list.play(() => inTurns(list.process, items, work, () => {}))).toEqual([4, 4, 2]);
  });
});

describe("work in turns", () => {
  it("ends once, after the last item, whether items end at once or later", () => {
    for (const isLater of [false, true]) {
      const kernel = new Kernel({ seed: "turns" });
      const process = kernel.process("controller");
      const items = Array.from({ length: 250 }, (_, at) => at);
      let worked = 0;
      const finished: number[] = [];
      const work = (_item: number, done: () => void): void => {
        worked++;
        if (isLater) process.clock.after(500, done);
        else done();
      };
      kernel.enter(process, () => inTurns(process, items, work, () => finished.push(worked)));
      expect(worked).toBe(100);
      kernel.run(1_000_000);
      expect(finished).toEqual([250]);
    }
    const finished: string[] = [];
    inTurns(
      new Kernel({ seed: "none" }).process("controller"),
      [],
      () => {},
      () => finished.push("none"),
    );
    expect(finished).toEqual(["none"]);
  });
});

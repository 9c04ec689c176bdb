import { expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import type { Cancel } from "../kernel/types.ts";
import { inPieces, kept, later, piece, turns } from "./piece.ts";
import { apart, run, sleep, type Task, wait } from "./task.ts";

function world(isCaught = true) {
  const told: string[] = [];
  const kernel = new Kernel({
    seed: "pieces",
    ...(isCaught
      ? {
          caught: ({ cause }: Error, what: string, component: string | undefined) =>
            told.push(`${component}: ${what}: ${(cause as Error).message}`),
        }
      : {}),
  });
  const inner = kernel.process("p");
  const process = inPieces(inner);
  return { kernel, told, process, enter: (work: () => void) => kernel.enter(inner, work) };
}

const thrown = (why: string): never => {
  throw new Error(why);
};

it("a piece whose name cannot be told ends as any other", () => {
  const { told, process, enter } = world();
  const seen: string[] = [];
  enter(() =>
    piece(
      process,
      "probe",
      () => thrown("no name"),
      () => thrown("why"),
      () => seen.push("next"),
    ),
  );
  expect([told, seen]).toEqual([["probe: something that has no name (no name): why"], ["next"]]);
});

it("what a piece has left for later ends with it, and its rule is asked once", () => {
  const { kernel, told, process, enter } = world();
  const { clock } = process;
  const seen: string[] = [];
  function* holding(): Task<void> {
    try {
      yield* sleep(clock, 100);
      seen.push("slept");
    } finally {
      seen.push("given back");
    }
  }
  const work = (): void => {
    run(holding(), () => seen.push("done"));
    clock.after(10, () => thrown("first"));
    clock.after(10, () => thrown("second"));
    clock.after(50, () => seen.push("late"));
    later(process, 60, () => seen.push("nobody's"));
  };
  enter(() =>
    piece(
      process,
      "probe",
      () => "a probe",
      work,
      () => void seen.push("failed"),
    ),
  );
  kernel.run(1_000);
  expect(told).toEqual(["probe: a probe: first"]);
  expect(seen).toEqual(["given back", "failed", "nobody's"]);
});

it("a piece within another fails alone", () => {
  const { kernel, told, process, enter } = world();
  const seen: string[] = [];
  const inner = (): void => void process.clock.after(10, () => thrown("inner"));
  enter(() =>
    piece(
      process,
      "probe",
      "outer",
      () => {
        piece(process, "volumes", "inner", inner, () => void seen.push("inner failed"));
        process.clock.after(20, () => void seen.push("outer goes on"));
      },
      () => void seen.push("outer failed"),
    ),
  );
  kernel.run(1_000);
  expect(told).toEqual(["volumes: inner: inner"]);
  expect(seen).toEqual(["inner failed", "outer goes on"]);
});

it("a task that another piece makes go on is still the piece's that has begun it", () => {
  const { told, process, enter } = world();
  let resume = (): void => {};
  const seen: string[] = [];
  function* waiting(): Task<void> {
    yield* wait<undefined>((go): Cancel => {
      resume = () => go(undefined);
      return () => {};
    });
    thrown("waited");
  }
  enter(() => {
    piece(
      process,
      "image-garbage",
      "one",
      () => void run(waiting(), () => {}),
      () => void seen.push("one failed"),
    );
    piece(
      process,
      "relist",
      "other",
      () => resume(),
      () => void seen.push("other failed"),
    );
  });
  expect(told).toEqual(["image-garbage: one: waited"]);
  expect(seen).toEqual(["one failed"]);
});

it("a rule that throws itself is asked again later", () => {
  const { kernel, told, process, enter } = world();
  let tries = 0;
  const failed = (): void => {
    if (++tries < 3) thrown(`rule ${tries}`);
  };
  enter(() => piece(process, "eviction", "a look", () => thrown("look"), failed));
  kernel.run(60_000_000);
  expect(told).toEqual(["eviction: a look: look", "eviction: a look: rule 1", "eviction: a look: rule 2"]);
  expect(tries).toBe(3);
});

it("turns go on after one that throws, and none is begun twice", () => {
  const { kernel, told, process, enter } = world();
  const began: number[] = [];
  enter(() =>
    turns(process, "relist", "a list", 1_000, (next) => {
      began.push(process.clock.nowMicros());
      if (began.length === 1) next(500);
      if (began.length <= 2) thrown("list");
      next(100);
    }),
  );
  kernel.run(1_700);
  expect(told).toHaveLength(2);
  expect(began).toEqual([0, 500, 1_500, 1_600, 1_700]);
});

it("a turn whose next one is at work already has no other one after it when what it has left throws", () => {
  const { kernel, told, process, enter } = world();
  const { clock } = process;
  const began: number[] = [];
  enter(() =>
    turns(process, "relist", "a list", 10, (next) => {
      began.push(clock.nowMicros());
      if (began.length > 1) {
        clock.after(100, () => next(10));
        return;
      }
      next(10);
      clock.after(15, () => thrown("left"));
    }),
  );
  kernel.run(400);
  expect(told).toEqual(["relist: a list: left"]);
  expect(began).toEqual([0, 10, 120, 230, 340]);
});

it("a part of a task that throws comes to nothing, and the task goes on", () => {
  const { kernel, told, process, enter } = world();
  const results: unknown[] = [];
  function* part(micros: number): Task<string> {
    if (micros > 0) yield* sleep(process.clock, micros);
    return thrown(`after ${micros}`);
  }
  function* whole(): Task<void> {
    for (const micros of [0, 10]) results.push(yield* apart(process, "log-rotation", "a log", part(micros)));
  }
  enter(() => run(whole(), () => results.push("done")));
  kernel.run(1_000);
  expect(results).toEqual([undefined, undefined, "done"]);
  expect(told).toEqual(["log-rotation: a log: after 0", "log-rotation: a log: after 10"]);
});

it("in a simulation the run ends", () => {
  const { kernel, process, enter } = world(false);
  const work = (): void => void process.clock.after(10, () => thrown("planned"));
  enter(() => piece(process, "probe", "a probe", work, () => {}));
  expect(() => kernel.run(1_000)).toThrow(/process "p" threw at .*planned/);
});

it("what others keep to themselves on its way through them ends the piece all the same", () => {
  const { told, process, enter } = world();
  const seen: string[] = [];
  const asked = (answered: () => void): void => {
    try {
      answered();
    } catch {
      seen.push("kept");
    }
  };
  const work = (): void => {
    asked(kept(() => thrown("answer")));
    seen.push("goes on to its end");
  };
  enter(() => piece(process, "probe", "a probe", work, () => void seen.push("failed")));
  expect(told).toEqual(["probe: a probe: answer"]);
  expect(seen).toEqual(["kept", "goes on to its end", "failed"]);
});

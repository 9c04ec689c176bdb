import { expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import { all, run, sleep, type Task, within } from "./task.ts";

const kernel = new Kernel({ seed: "tasks" });
const process = kernel.process("p");
const { clock } = process;

function* throwing(micros: number): Task<string> {
  if (micros > 0) yield* sleep(clock, micros);
  throw new Error(`after ${micros}`);
}

function* slow(ended: string[]): Task<string> {
  yield* sleep(clock, 100);
  ended.push("slow");
  return "slow";
}

function* told(task: Task<unknown>): Task<string> {
  try {
    return String(yield* task);
  } catch (error) {
    return `caught ${(error as Error).message}`;
  }
}

/** What a task comes to: its result, or what it threw, as one line. */
function outcomes(task: Task<unknown>): readonly string[] {
  const seen: string[] = [];
  kernel.enter(process, () =>
    run(
      task,
      (result) => seen.push(`done ${String(result)}`),
      (error) => seen.push(`failed ${(error as Error).message}`),
    ),
  );
  kernel.run(kernel.nowMicros() + 1_000);
  return seen;
}

it.each([0, 10])("what a task throws after %i µs is told to whoever runs it, once", (micros) => {
  expect(outcomes(throwing(micros))).toEqual([`failed after ${micros}`]);
});

it.each([0, 10])(
  "one of several that throws after %i µs ends them all, and reaches the task that waits for them",
  (micros) => {
    const ended: string[] = [];
    expect(outcomes(all([slow(ended), throwing(micros), slow(ended)]))).toEqual([`failed after ${micros}`]);
    expect(ended).toEqual([]);
    expect(outcomes(told(all([slow(ended), throwing(micros)])))).toEqual([`done caught after ${micros}`]);
  },
);

it.each([0, 10])("one that throws after %i µs, within its time, reaches the task that waits for it", (micros) => {
  expect(outcomes(within(clock, 50, throwing(micros)))).toEqual([`failed after ${micros}`]);
  expect(outcomes(told(within(clock, 50, throwing(micros))))).toEqual([`done caught after ${micros}`]);
});

it("a call that throws as it begins is the task's", () => {
  function* calling(): Task<string> {
    yield () => {
      throw new Error("no such call");
    };
    return "went on";
  }
  expect(outcomes(calling())).toEqual(["failed no such call"]);
});

it("a call that throws as it begins throws where the task waits for it, so that the task gives back what it holds", () => {
  const given: string[] = [];
  function* holding(): Task<string> {
    try {
      yield (resume) => {
        resume("an answer that is not used");
        throw new Error("no such call");
      };
      return "went on";
    } catch (error) {
      yield* sleep(clock, 10);
      return `caught ${(error as Error).message}`;
    } finally {
      given.push("back");
    }
  }
  expect(outcomes(holding())).toEqual(["done caught no such call"]);
  expect(given).toEqual(["back"]);
});

it("one that is cancelled as it begins a call, by what that call does at once, calls it off and gives back what it holds", () => {
  const seen: string[] = [];
  function* holding(): Task<void> {
    try {
      yield* sleep(clock, 10);
      yield () => {
        cancel();
        return () => seen.push("called off");
      };
    } finally {
      seen.push("given back");
    }
  }
  const cancel = kernel.enter(process, () => run(holding(), () => seen.push("done")));
  kernel.run(kernel.nowMicros() + 1_000);
  expect(seen).toEqual(["called off", "given back"]);
});

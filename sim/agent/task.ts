/**
 * Sequences of calls written from top to bottom: a generator that stops at each call and goes on with its answer, in the
 * event that brings it. No promises: what runs when is the kernel's order of events alone. A task that nobody needs any
 * more is cancelled where it waits.
 */
import type { Cancel, Clock, Micros, Process } from "../kernel/types.ts";
import { type Component, joined, kept, piece, type Words } from "./piece.ts";

/** Starts something and returns how to call it off. `resume` is called once. */
export type Begin<Value> = (resume: (value: Value) => void) => Cancel;

export type Task<Result> = Generator<Begin<unknown>, Result, unknown>;

/** Waits for what `begin` starts. */
export function* wait<Value>(begin: Begin<Value>): Task<Value> {
  return (yield begin as Begin<unknown>) as Value;
}

/** Waits so long. */
export function* sleep(clock: Clock, micros: Micros): Task<void> {
  yield (resume) => clock.after(micros, () => resume(undefined));
}

/** All of them side by side; ends with the last. Results in the order of the tasks. */
export function* all<Result>(tasks: readonly Task<Result>[]): Task<readonly Result[]> {
  if (tasks.length === 0) return [];
  const ended = yield* wait<readonly Result[] | Failure>((resume) => {
    const results: Result[] = [];
    const cancels: Cancel[] = [];
    let left = tasks.length;
    const cancelAll = (): void => {
      for (const cancel of cancels) cancel();
    };
    for (const [at, task] of tasks.entries()) {
      if (left < 0) break; // one before it has failed at once
      cancels.push(
        run(
          task,
          (result) => {
            results[at] = result;
            if (--left === 0) resume(results);
          },
          (error) => {
            left = -1;
            cancelAll();
            resume(new Failure(error));
          },
        ),
      );
    }
    return cancelAll;
  });
  if (ended instanceof Failure) throw ended.error;
  return ended;
}

/** What one of two came to: the task, or `undefined` after so long. The task goes on by itself then. */
export function* within<Result>(clock: Clock, micros: Micros, task: Task<Result>): Task<Result | undefined> {
  const ended = yield* wait<Result | Failure | undefined>((resume) => {
    let isOver = false;
    const end = (result: Result | Failure | undefined): void => {
      if (isOver) return;
      isOver = true;
      cancelTimer();
      resume(result);
    };
    const cancelTimer = clock.after(micros, () => end(undefined));
    const cancelTask = run(task, end, (error) => {
      if (isOver) throw error; // nobody waits for it any more
      end(new Failure(error));
    });
    return () => {
      isOver = true;
      cancelTimer();
      cancelTask();
    };
  });
  if (ended instanceof Failure) throw ended.error;
  return ended;
}

/** A part of a task that is a piece of work by itself: what it throws is told, it comes to nothing, and the task goes on. */
export function* apart<Result>(
  process: Process,
  component: Component,
  what: Words,
  task: Task<Result>,
): Task<Result | undefined> {
  return yield* wait<Result | undefined>((resume) => {
    let cancel: Cancel = () => {};
    const begin = (): void => {
      cancel = run(task, resume);
    };
    piece(process, component, what, begin, () => resume(undefined));
    return () => cancel();
  });
}

/** A task threw, and the one that waits for it is to hear of it. */
class Failure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * Runs a task to its first call; `done` fires once, at once or later, unless the task is cancelled. One that throws calls `failed`
 * instead, if that is given; else the exception is that of the piece of work that it was begun in.
 */
export function run<Result>(
  task: Task<Result>,
  done: (result: Result) => void,
  failed?: (error: unknown) => void,
): Cancel {
  let cancelCall: Cancel = () => {};
  let isOver = false;
  let isStepping = false;
  const queue: unknown[] = [];
  const cancel: Cancel = () => {
    if (isOver) return;
    isOver = true;
    leave();
    if (isStepping) return; // what the step has begun, and what it holds, is given back at its end
    cancelCall();
    task.return(undefined as Result);
  };
  const leave = joined(cancel);
  const step = kept((value: unknown): void => {
    if (isOver) return;
    queue.push(value);
    if (isStepping) return;
    isStepping = true;
    // A call that answers at once resumes here, so that a long row of them does not pile up.
    while (queue.length > 0 && !isOver) {
      let next: IteratorResult<Begin<unknown>, Result>;
      try {
        next = task.next(queue.shift());
        while (next.done !== true) {
          if (isOver) {
            task.return(undefined as Result); // what its own step has cancelled begins nothing more
            return;
          }
          try {
            cancelCall = next.value(step);
            if (!isOver) break;
            cancelCall();
          } catch (error) {
            queue.length = 0;
            next = task.throw(error); // as the task waits for the call: what it holds meanwhile, it gives back
          }
        }
      } catch (error) {
        isOver = true;
        isStepping = false;
        leave();
        if (failed === undefined) throw error;
        failed(error);
        return;
      }
      if (next.done === true) {
        const wasOver = isOver;
        isOver = true;
        isStepping = false;
        if (wasOver) return;
        leave();
        done(next.value);
        return;
      }
    }
    isStepping = false;
  });
  step(undefined);
  return cancel;
}

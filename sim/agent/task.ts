/**
 * Sequences of calls written from top to bottom: a generator that stops at each call and goes on with its answer, in the
 * event that brings it. No promises: what runs when is the kernel's order of events alone. A task that nobody needs any
 * more is cancelled where it waits.
 */
import type { Cancel, Clock, Micros } from "../kernel/types.ts";

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
  return yield* wait<readonly Result[]>((resume) => {
    const results: Result[] = [];
    let left = tasks.length;
    const cancels = tasks.map((task, at) =>
      run(task, (result) => {
        results[at] = result;
        if (--left === 0) resume(results);
      }),
    );
    return () => {
      for (const cancel of cancels) cancel();
    };
  });
}

/** What one of two came to: the task, or `undefined` after so long. The task goes on by itself then. */
export function* within<Result>(clock: Clock, micros: Micros, task: Task<Result>): Task<Result | undefined> {
  return yield* wait<Result | undefined>((resume) => {
    let isOver = false;
    const end = (result: Result | undefined): void => {
      if (isOver) return;
      isOver = true;
      cancelTimer();
      resume(result);
    };
    const cancelTimer = clock.after(micros, () => end(undefined));
    const cancelTask = run(task, end);
    return () => {
      isOver = true;
      cancelTimer();
      cancelTask();
    };
  });
}

/** Runs a task to its first call; `done` fires once, at once or later, unless the task is cancelled. */
export function run<Result>(task: Task<Result>, done: (result: Result) => void): Cancel {
  let cancelCall: Cancel = () => {};
  let isOver = false;
  let isStepping = false;
  const queue: unknown[] = [];
  const step = (value: unknown): void => {
    if (isOver) return;
    queue.push(value);
    if (isStepping) return;
    isStepping = true;
    // A call that answers at once resumes here, so that a long row of them does not pile up.
    while (queue.length > 0 && !isOver) {
      const { done: isDone, value: next } = task.next(queue.shift());
      if (isDone === true) {
        isOver = true;
        isStepping = false;
        done(next);
        return;
      }
      cancelCall = next(step);
    }
    isStepping = false;
  };
  step(undefined);
  return () => {
    if (isOver) return;
    isOver = true;
    cancelCall();
    if (!isStepping) task.return(undefined as Result);
  };
}

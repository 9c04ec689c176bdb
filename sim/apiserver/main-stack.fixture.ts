/**
 * For tests of what a stack has room for. A server's is that of the main thread of its process; the threads that tests
 * run in have four times as much, and would pass what ends a server.
 */
import { TestBed } from "./test-bed.fixture.ts";

/** Arguments of one call that the main thread of a process has room for at its beginning. */
const mainArguments = 124_000;

const called = <Result>(run: () => Result, ..._more: readonly unknown[]): Result => run();

/** Arguments of one call that there is room for now, to a thousand. */
function argumentsLeft(): number {
  let least = 0;
  let most = 4_000_000;
  while (most - least > 1_000) {
    const middle = Math.floor((least + most) / 2);
    try {
      called(() => {}, ...filling(middle));
      least = middle;
    } catch {
      most = middle;
    }
  }
  return least;
}

const filling = (count: number): readonly number[] => new Array<number>(count).fill(0);

/** Lies on the stack while something runs; made when it is first asked for. */
let filler: readonly number[] | undefined;

/** Calls `run` where the stack has about as much left as a main thread has at its beginning. */
export function onMainStack<Result>(run: () => Result): Result {
  filler ??= filling(Math.max(0, argumentsLeft() - mainArguments));
  return called(run, ...filler);
}

/** A server that does everything on such a stack. */
export class MainStackBed extends TestBed {
  override ask(...asked: Parameters<TestBed["ask"]>): ReturnType<TestBed["ask"]> {
    return onMainStack(() => super.ask(...asked));
  }

  override advance(seconds: number): void {
    onMainStack(() => super.advance(seconds));
  }
}

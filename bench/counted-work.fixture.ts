/**
 * For tests: work as a count that no other load of the machine changes. It counts from the first import of this file on, so
 * that has to stand before the imports of what is counted: what ran before has no counters.
 */
import { Session } from "node:inspector";
import { GCProfiler, getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface Work {
  /** How often a function, a branch or the body of a loop was entered. */
  readonly steps: number;
  /** Allocated on the heap, be it collected since. */
  readonly bytes: number;
}

const session = new Session();
session.connect();

/** Answers of one's own thread are there at once. */
function post<Result>(method: string, parameters: object = {}): Result {
  let answer: Result | undefined;
  session.post(method, parameters, (error: Error | null, result?: object) => {
    if (error !== null) throw error;
    answer = result as Result;
  });
  return answer as Result;
}

post("Profiler.enable");
post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

interface Coverage {
  readonly result: readonly {
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

export function workOf(run: () => void): Work {
  post("Profiler.takePreciseCoverage"); // which begins to count anew
  const bytes = allocatedBy(run);
  let steps = 0;
  for (const { functions } of post<Coverage>("Profiler.takePreciseCoverage").result) {
    for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  }
  return { steps, bytes };
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What the heap grew by between one collection and the next, in all. */
function allocatedBy(run: () => void): number {
  collect(); // so that what others left is not taken away meanwhile
  const collections = new GCProfiler();
  collections.start();
  let held = getHeapStatistics().used_heap_size;
  run();
  const heldAtLast = getHeapStatistics().used_heap_size;
  let bytes = 0;
  for (const { beforeGC, afterGC } of collections.stop().statistics) {
    bytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - held);
    held = afterGC.heapStatistics.usedHeapSize;
  }
  return bytes + Math.max(0, heldAtLast - held);
}

/** Runs of an experiment, played on threads of this machine or through a queue: they come to the same. */
import { progressLine } from "../output/terminal.ts";
import type { CapacityPart, PlayedPart } from "./capacity-part.ts";
import type { capacityThreads } from "./capacity-threads.ts";
import { defaultThreads } from "./default-threads.ts";

export interface Played {
  /** In the order of the parts. */
  readonly played: readonly PlayedPart[];
  /** False when it was interrupted. */
  readonly isWhole: boolean;
}

export interface RunsOptions {
  readonly jobs?: number | undefined;
  /** URL of a Redis server. */
  readonly queue?: string | undefined;
  readonly build: string;
  readonly threadsOf: typeof capacityThreads;
  /** Aborted: no further run begins, and those under way are stopped. */
  readonly signal: AbortSignal;
}

export async function playRuns(parts: readonly CapacityPart[], options: RunsOptions): Promise<Played> {
  const { signal } = options;
  const played: PlayedPart[] = [];
  const line = progressLine();
  const beganMillis = performance.now();
  const show = (done: number): void => {
    if (!signal.aborted) line.show(progressText(done / parts.length, performance.now() - beganMillis, parts.length));
  };
  try {
    if (options.queue === undefined) await onThreads(parts, options, played, show);
    else await throughQueue(parts, options.queue, options.build, played, show, signal);
  } finally {
    line.clear();
  }
  return { played: played.filter((part) => part !== undefined), isWhole: !signal.aborted };
}

/** `show` is told how many runs are done, with the parts of those under way. */
async function onThreads(
  parts: readonly CapacityPart[],
  { jobs: jobsAsked, threadsOf, signal }: RunsOptions,
  played: PlayedPart[],
  show: (done: number) => void,
): Promise<void> {
  const jobs = Math.max(1, Math.min(jobsAsked ?? defaultThreads(), parts.length));
  const threads = threadsOf(jobs);
  const numbers = new Int32Array(new SharedArrayBuffer(4 * (parts.length + 1)));
  const timer = setInterval(
    () => show(numbers.reduce((sum, thousandths, at) => (at === 0 ? 0 : sum + thousandths), 0) / 1000),
    500,
  );
  signal.addEventListener("abort", () => Atomics.store(numbers, 0, 1), { once: true });
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < parts.length && !signal.aborted; at = next++) {
      played[at] = await threads.run({ ...(parts[at] as CapacityPart), shared: { numbers, slot: at + 1 } });
      Atomics.store(numbers, at + 1, 1000);
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, lane));
  } finally {
    clearInterval(timer);
    await threads.close();
  }
}

/** A run that no worker could play is a bug of ours, as one that breaks on a thread. */
async function throughQueue(
  parts: readonly CapacityPart[],
  url: string,
  build: string,
  played: PlayedPart[],
  show: (done: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { jobQueue } = await import("./job-queue.ts");
  const queue = await jobQueue<CapacityPart, PlayedPart>("capacity", url, build);
  const broken: string[] = [];
  let done = 0;
  try {
    await queue.run(
      parts,
      (outcome, index) => {
        show(++done);
        if ("result" in outcome) played[index] = outcome.result;
        else broken.push(`arm ${parts[index]?.arm}, repetition ${parts[index]?.repetition}: ${outcome.broke}`);
      },
      signal,
    );
  } finally {
    await queue.close();
  }
  if (broken.length > 0) throw new Error(`${broken.length} runs broke; the first one: ${broken[0]}`);
}

function progressText(done: number, elapsedMillis: number, runs: number): string {
  const left =
    done < 0.02 ? "" : `, about ${Math.max(1, Math.round((elapsedMillis * (1 - done)) / done / 1000))} s left`;
  return `${runs} ${runs === 1 ? "run" : "runs"}: ${(100 * done).toFixed(0)} %${left}`;
}

/**
 * Tasks shared out over worker threads; in this thread when there is only one to share them with. The simulator is loaded by
 * the threads that play: not by the one that shares out, and not by a run on a URL.
 */
import { Worker } from "node:worker_threads";
import type { SuiteProgress } from "../../conformance/run-suite.ts";
import type { EmbeddedPart, EmbeddedTask, OnHistory } from "./embedded-part.ts";
import type { FromWorker, ToWorker } from "./embedded-worker.ts";

export type OnProgress = (progress: SuiteProgress) => void;

export interface EmbeddedPool {
  /** Rejects when the task breaks, which is no verdict. At most `threads` tasks at a time. */
  /** `onHistory` is heard by a pool of one thread alone: histories are large, and stay in the thread that made them. */
  run(task: EmbeddedTask, onProgress: OnProgress, onHistory?: OnHistory): Promise<EmbeddedPart>;
  close(): Promise<void>;
}

/** `threads` ≥ 1. An aborted `signal` lets the tasks end early, each with what it has. */
export function embeddedPool(threads: number, signal: AbortSignal): EmbeddedPool {
  if (threads === 1) {
    return {
      async run(task, onProgress, onHistory) {
        const { runEmbeddedPart } = await import("./embedded-part.ts");
        return runEmbeddedPart(task, signal, onProgress, onHistory);
      },
      close: async () => {},
    };
  }
  const workers: Worker[] = [];
  const idle: Worker[] = [];
  const stop = (): void => workers.forEach((worker) => send(worker, "stop"));
  signal.addEventListener("abort", stop);
  return {
    async run(task, onProgress) {
      const worker = idle.pop() ?? startWorker(workers, signal);
      const part = await ask(worker, task, onProgress);
      idle.push(worker);
      return part;
    },
    async close() {
      signal.removeEventListener("abort", stop);
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
}

/** The worker's file has the ending of this one: `.ts` in the checkout, `.js` in the package. */
const workerFile = new URL(`embedded-worker${/\.\w+$/.exec(import.meta.url)?.[0] ?? ".js"}`, import.meta.url);

function startWorker(workers: Worker[], signal: AbortSignal): Worker {
  const worker = new Worker(workerFile);
  workers.push(worker);
  if (signal.aborted) send(worker, "stop");
  return worker;
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

function ask(worker: Worker, task: EmbeddedTask, onProgress: OnProgress): Promise<EmbeddedPart> {
  return new Promise((resolve, reject) => {
    const take = (message: FromWorker): void => {
      if ("progress" in message) {
        onProgress(message.progress);
        return;
      }
      release();
      resolve(message.done);
    };
    const broke = (error: unknown): void => {
      release();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const ended = (code: number): void => broke(new Error(`the thread of ${task.check} ended by itself, code ${code}`));
    const release = (): void => void worker.off("message", take).off("error", broke).off("exit", ended);
    worker.on("message", take).on("error", broke).on("exit", ended);
    send(worker, { task });
  });
}

/** Runs `work` on each item, at most `limit` at a time, and answers in the order of the items. The first rejection ends it. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}

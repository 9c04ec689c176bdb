/**
 * The same hunt over many machines: batches of seeds as jobs in a queue on Redis. A job's name is its build, question and
 * seeds, so asking twice asks once; a worker that dies loses its lock, and another one does the job again. That a seed
 * may be played twice does no harm: it is counted once, and comes to the same.
 */
import { createHash } from "node:crypto";
import { Queue, QueueEvents, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { HuntedSeed } from "../../sim/experiments/hunt-seed.ts";
import { UsageError } from "../flags/usage-error.ts";
import type { HuntPart } from "./hunt-part.ts";

/** How long a worker that says nothing keeps its job, and how often somebody looks for such jobs. */
const lockMillis = 5_000;
const stalledLookMillis = 2_000;
/** A batch whose workers died so often is told as broken. */
const deathsMax = 5;

function queueConnection(url: string) {
  const parsed = URL.parse(url);
  if (parsed === null || !/^rediss?:$/.test(parsed.protocol))
    throw new UsageError(`--queue ${url}: expected the URL of a Redis server, such as redis://127.0.0.1:6379.`);
  return {
    host: parsed.hostname,
    port: Number(parsed.port || "6379"),
    ...(parsed.username === "" ? {} : { username: decodeURIComponent(parsed.username) }),
    ...(parsed.password === "" ? {} : { password: decodeURIComponent(parsed.password) }),
    ...(parsed.protocol === "rediss:" ? { tls: {} } : {}),
    maxRetriesPerRequest: null,
  };
}

/** Jobs of another build are in another queue: its workers would come to other results. */
const queueName = (build: string): string => `touchstone-hunt-${build.replaceAll(/[^\w.+-]/g, "-")}`;

const jobId = (part: HuntPart): string => createHash("sha256").update(JSON.stringify(part)).digest("hex").slice(0, 32);

export interface QueuedHunt {
  /** Resolves when every batch has come back. */
  run(
    parts: readonly HuntPart[],
    onResults: (results: readonly HuntedSeed[]) => void,
    signal: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

export async function queuedHunt(url: string, build: string): Promise<QueuedHunt> {
  const connection = queueConnection(url);
  await reached(url);
  const queue = new Queue<HuntPart, readonly HuntedSeed[]>(queueName(build), { connection });
  const events = new QueueEvents(queueName(build), { connection });
  queue.on("error", () => {});
  events.on("error", () => {});
  await events.waitUntilReady();
  return {
    async run(parts, onResults, signal) {
      const waiting = new Set(parts.map(jobId));
      const take = async (id: string): Promise<void> => {
        // The state first: a job that was read before it was done has no results yet.
        const state = waiting.has(id) ? await queue.getJobState(id) : "unknown";
        if (state !== "completed" && state !== "failed") return;
        const job = await queue.getJob(id);
        if (job === undefined || !waiting.delete(id)) return;
        onResults(
          state === "completed" ? job.returnvalue : job.data.seeds.map((seed) => brokeAt(seed, job.failedReason)),
        );
        await job.remove().catch(() => {});
      };
      events.on("completed", ({ jobId: id }) => void take(id));
      events.on("failed", ({ jobId: id }) => void take(id));
      const options = { attempts: 1, removeOnComplete: false, removeOnFail: false } as const;
      const jobs = parts.map((part) => ({ name: "seeds", data: part, opts: { ...options, jobId: jobId(part) } }));
      for (let from = 0; from < jobs.length; from += 1000) await queue.addBulk(jobs.slice(from, from + 1000));
      // Events may be missed, as when the connection breaks: what is done is looked for as well.
      while (waiting.size > 0 && !signal.aborted) {
        await pause(500, signal);
        for (const id of [...waiting]) await take(id);
      }
      if (signal.aborted) for (const id of waiting) await (await queue.getJob(id))?.remove().catch(() => {});
    },
    async close() {
      await events.close();
      await queue.close();
    },
  };
}

const brokeAt = (seed: number, why: string): HuntedSeed => ({
  seed,
  traceHash: "",
  records: 0,
  coverage: [],
  broke: why,
});

/** A queue whose server is not there would try again for ever: a connection that does not goes first. */
async function reached(url: string): Promise<void> {
  const probe = new Redis({ ...queueConnection(url), lazyConnect: true, retryStrategy: () => null });
  let why = "";
  probe.on("error", ({ message }) => {
    why = message;
  });
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error("no answer within 5 s")), 5_000).unref();
  });
  try {
    await Promise.race([probe.connect(), late]);
  } catch (error) {
    const message = why === "" ? (error as Error).message : why;
    throw new UsageError(
      `--queue ${url}: cannot be reached: ${message}. Start a Redis server there, or give another URL.`,
    );
  } finally {
    probe.disconnect();
  }
}

const pause = (millis: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

export interface QueueWorker {
  close(): Promise<void>;
}

/** Takes batches until it is closed. They run on threads, so that the lock is renewed while they do. */
export async function queueWorker(
  url: string,
  build: string,
  jobs: number,
  run: (part: HuntPart) => Promise<readonly HuntedSeed[]>,
  onDone: (seeds: number) => void,
): Promise<QueueWorker> {
  const connection = queueConnection(url);
  await reached(url);
  const worker = new Worker<HuntPart, readonly HuntedSeed[]>(
    queueName(build),
    async ({ data }) => {
      const results = await run(data);
      onDone(results.length);
      return results;
    },
    {
      connection,
      concurrency: jobs,
      lockDuration: lockMillis,
      stalledInterval: stalledLookMillis,
      maxStalledCount: deathsMax,
    },
  );
  worker.on("error", () => {});
  return { close: () => worker.close() };
}

/**
 * Work over many machines: jobs in a queue on Redis. A job's name is its build and what it asks for, so asking twice asks
 * once; a worker that dies loses its lock, and another one does the job again. That a job may be done twice does no harm:
 * it is counted once, and comes to the same.
 */
import { createHash } from "node:crypto";
import { Queue, QueueEvents, Worker } from "bullmq";
import { Redis } from "ioredis";
import { UsageError } from "../flags/usage-error.ts";

/** How long a worker that says nothing keeps its job, and how often somebody looks for such jobs. */
const lockMillis = 5_000;
const stalledLookMillis = 2_000;
/** A job whose workers died so often is told as broken. */
const deathsMax = 5;
/** Jobs that one asker has in the queue at a time: what Redis holds is bounded, however long the work is. */
const outstandingMax = 500;

/** How long a Redis may be away before what ends waits for it no longer. */
const goneMillis = 3_000;

/** What is asked for; jobs of one kind are done by workers of this kind alone. */
export type JobKind = "hunt" | "capacity";

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
const queueName = (kind: JobKind, build: string): string => `touchstone-${kind}-${build.replaceAll(/[^\w.+-]/g, "-")}`;

const jobId = (job: unknown): string => createHash("sha256").update(JSON.stringify(job)).digest("hex").slice(0, 32);

/** What came of a job, or why nothing did. */
export type JobOutcome<Result> = { readonly result: Result } | { readonly broke: string };

export interface JobQueue<Job, Result> {
  /** Resolves when every job has come back, or the signal is aborted. Each is told once, by its place in the list. */
  run(
    jobs: readonly Job[],
    onOutcome: (outcome: JobOutcome<Result>, index: number) => void,
    signal: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

/** No two `jobs` of a run may be the same. */
export async function jobQueue<Job, Result>(kind: JobKind, url: string, build: string): Promise<JobQueue<Job, Result>> {
  const connection = queueConnection(url);
  await reached(url);
  const queue = new Queue<Job, Result, string, Job, Result, string>(queueName(kind, build), { connection });
  const events = new QueueEvents(queueName(kind, build), { connection });
  queue.on("error", () => {});
  events.on("error", () => {});
  await events.waitUntilReady();
  return {
    async run(jobs, onOutcome, signal) {
      const asked = new Map<string, number>();
      const add = (ids: readonly (readonly [string, number])[]): Promise<unknown> =>
        queue.addBulk(
          ids.map(([id, index]) => ({
            name: kind,
            data: jobs[index] as Job,
            opts: { attempts: 1, removeOnComplete: false, removeOnFail: false, jobId: id },
          })),
        );
      let next = 0;
      const fill = async (): Promise<void> => {
        const more: (readonly [string, number])[] = [];
        for (; next < jobs.length && asked.size < outstandingMax; next++) {
          const id = jobId(jobs[next]);
          asked.set(id, next);
          more.push([id, next]);
        }
        if (more.length > 0) await add(more);
      };
      const take = async (id: string): Promise<void> => {
        // The state first: a job that was read before it was done has no results yet.
        const state = asked.has(id) ? await queue.getJobState(id) : "unknown";
        if (state !== "completed" && state !== "failed") return;
        const job = await queue.getJob(id);
        const index = asked.get(id);
        if (job === undefined || index === undefined) return;
        asked.delete(id);
        onOutcome(state === "completed" ? { result: job.returnvalue } : { broke: job.failedReason }, index);
        await job.remove().catch(() => {});
      };
      // One that is gone was taken by somebody who asked for the same, or Redis was emptied: it is asked for anew.
      const lookAfter = async (id: string): Promise<void> => {
        await take(id);
        const index = asked.get(id);
        if (index !== undefined && (await queue.getJobState(id)) === "unknown" && asked.has(id))
          await add([[id, index]]);
      };
      const hear = ({ jobId: id }: { readonly jobId: string }): void => void take(id).catch(() => {});
      events.on("completed", hear);
      events.on("failed", hear);
      const comeBack = async (): Promise<void> => {
        while ((asked.size > 0 || next < jobs.length) && !signal.aborted) {
          await fill();
          await pause(500, signal);
          // Events may be missed, as when the connection breaks: what is done is looked for as well.
          for (const id of [...asked.keys()]) if (!signal.aborted) await lookAfter(id);
        }
        if (signal.aborted) for (const id of asked.keys()) await (await queue.getJob(id))?.remove().catch(() => {});
      };
      try {
        await endedOrGone(comeBack(), url, signal);
      } finally {
        events.off("completed", hear);
        events.off("failed", hear);
      }
    },
    close: () => closedOrGone(Promise.all([events.close(), queue.close()]), url),
  };
}

/** A queue whose server is not there would try again for ever: a connection that does not goes first. */
async function reached(url: string): Promise<void> {
  const probe = new Redis({ ...queueConnection(url), lazyConnect: true, retryStrategy: () => null });
  let why: unknown;
  probe.on("error", (error) => {
    why ??= error;
  });
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(Object.assign(new Error("late"), { code: "ETIMEDOUT" })), 5_000).unref();
  });
  try {
    await Promise.race([probe.connect(), late]);
  } catch (error) {
    throw new UsageError(
      `--queue ${withoutPassword(url)}: ${unreachedText(why ?? error)}. Start a Redis server there, or give another URL.`,
    );
  } finally {
    probe.disconnect();
  }
}

/** Whatever else went wrong after a connection was there: no Redis server ends one so, or says what cannot be read. */
const notRedis = "something answers there, and it is no Redis server";

const unreachedTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "there is no host of that name that can be looked up now",
  ETIMEDOUT: "no answer within 5 s",
  EHOSTUNREACH: "there is no way to that host",
  ENETUNREACH: "there is no way to that host",
  EACCES: "this machine may not connect there",
};

/** An answer of Redis itself, such as that it wants a password, is told as it is. */
function unreachedText(error: unknown): string {
  const { name, code = "", message } = error as NodeJS.ErrnoException;
  if (name === "ReplyError") return `Redis says: ${message.replace(/\.$/, "")}`;
  return unreachedTexts[code] ?? (/certificate|TLS|SSL|ssl/.test(`${code} ${message}`) ? message : notRedis);
}

function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.password === "") return url;
  parsed.password = "***";
  return parsed.href;
}

/**
 * False: it has not ended, and Redis has been away for too long since somebody wanted an end. BullMQ would wait for it for
 * ever, and so would whoever has told this process to go.
 */
async function endedOrGone(ending: Promise<unknown>, url: string, wantsEnd: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const gone = async (): Promise<boolean> => {
    await Promise.race([aborted(wantsEnd), aborted(over.signal)]);
    for (let awaySince: number | undefined; !over.signal.aborted; await pause(500, over.signal)) {
      const isThere = await reached(url).then(
        () => true,
        () => false,
      );
      awaySince = isThere ? undefined : (awaySince ?? performance.now());
      if (awaySince !== undefined && performance.now() - awaySince >= goneMillis) return false;
    }
    return true;
  };
  try {
    return await Promise.race([ending.then(() => true), gone()]);
  } finally {
    over.abort();
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Connections that are tried again and again keep no process that has done everything else. */
async function closedOrGone(closing: Promise<unknown>, url: string): Promise<void> {
  if (await endedOrGone(closing, url, AbortSignal.abort())) return;
  process.stderr.write("Redis has gone: what it has not been told is left to others.\n");
  setTimeout(() => process.exit(), 1_000).unref();
}

const pause = (millis: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, millis);
    signal.addEventListener("abort", end);
  });

export interface QueueWorker {
  /** `atOnce`: what it works on is left to others, instead of being finished. Ends within seconds where Redis has gone. */
  close(atOnce: boolean): Promise<void>;
}

/** Takes jobs until it is closed. They run on threads, so that the lock is renewed while they do. */
export async function queueWorker<Job, Result>(
  kind: JobKind,
  url: string,
  build: string,
  concurrency: number,
  run: (job: Job) => Promise<Result>,
): Promise<QueueWorker> {
  const connection = queueConnection(url);
  await reached(url);
  const worker = new Worker<Job, Result>(queueName(kind, build), ({ data }) => run(data), {
    connection,
    concurrency,
    lockDuration: lockMillis,
    stalledInterval: stalledLookMillis,
    maxStalledCount: deathsMax,
  });
  worker.on("error", () => {});
  return { close: (atOnce) => closedOrGone(worker.close(atOnce), url) };
}

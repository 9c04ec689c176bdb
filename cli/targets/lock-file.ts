/**
 * The file that only one agent of a machine holds. The lock is the operating system's, taken by SQLite's way with files: it
 * is gone with its process, however that ends.
 *
 * Simplification: who waits touches the file, by which the holder knows that somebody wants it. The published agent takes
 * another kind of lock (flock), and hears whenever anybody opens the file.
 * Source: document 3, --lock-file, --exit-on-lock-contention.
 */
import { closeSync, openSync, utimesSync, watch } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers";
import { UsageError } from "../flags/usage-error.ts";

export interface HeldLock {
  /** Resolves when somebody else wants it. */
  readonly wanted: Promise<"wanted">;
  release(): void;
}

const retryMillis = 200;

/** Waits for it; undefined: interrupted meanwhile. Throws `UsageError` for what cannot be a lock. */
export async function holdLock(
  path: string,
  interruption: Promise<unknown>,
  warn: (line: string) => void,
): Promise<HeldLock | undefined> {
  makeFile(path);
  let isInterrupted = false;
  void interruption.then(() => (isInterrupted = true));
  for (let isFirst = true; !isInterrupted; isFirst = false) {
    const database = tryLock(path);
    if (database !== undefined) return held(path, database);
    if (isFirst) warn(`--lock-file ${path}: another agent holds it; waiting.`);
    const now = new Date();
    utimesSync(path, now, now);
    await Promise.race([interruption, new Promise((resolve) => setTimeout(resolve, retryMillis))]);
  }
  return undefined;
}

function makeFile(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw new UsageError(`--lock-file ${path}: ${(error as Error).message}. Name a file that this user may write to.`);
  }
}

/** Undefined: somebody else has it. */
function tryLock(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if (/locked|busy/.test((error as Error).message)) return undefined;
    throw new UsageError(`--lock-file ${path}: ${(error as Error).message}. Name a file that is empty, or not there.`);
  }
}

function held(path: string, database: DatabaseSync): HeldLock {
  let tell: () => void = () => {};
  const wanted = new Promise<"wanted">((resolve) => {
    tell = () => resolve("wanted");
  });
  const watcher = watch(path, { persistent: false }, () => tell());
  return {
    wanted,
    release() {
      watcher.close();
      database.close();
    },
  };
}

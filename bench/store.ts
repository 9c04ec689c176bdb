/**
 * What a revision costs: writes at 150,000 keys with five revisions of each in the window, all readable; bytes a
 * revision beyond its value and key; pages through an old state; compaction. Run alone: `node bench/store.ts`.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { RevisionStore } from "../sim/store/revision-store.ts";
import type { KeyValue, RangeResult } from "../sim/store/types.ts";
import type { Bench } from "./harness.ts";

const KEYS = 150_000;
const REVISIONS_PER_KEY = 5;
const WINDOW = KEYS * REVISIONS_PER_KEY;
const PREFIX = "/registry/pods/";
const END = "/registry/pods0";

const keys = Array.from({ length: KEYS }, (_, index) => `${PREFIX}ns-${index % 1500}/pod-${(index * 7919) % KEYS}`);
const value = Object.freeze({});

function write(store: RevisionStore, count: number): void {
  for (let done = 0; done < count; done++) {
    // As the server writes: the key is put together anew for every request.
    const key = `${PREFIX}ns-${done % 1500}/pod-${((done % KEYS) * 7919) % KEYS}`;
    const held = store.get(key) as KeyValue | undefined;
    store.put(key, held?.modRevision ?? 0, () => value);
  }
}

let filled: RevisionStore | undefined;
function filledStore(): RevisionStore {
  if (filled === undefined) {
    filled = new RevisionStore();
    filled.subscribe(() => {});
    write(filled, WINDOW);
  }
  return filled;
}

const seconds = (work: () => void): number => {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
};

function writesPerSecond(): number {
  const store = filledStore();
  const rate = WINDOW / seconds(() => write(store, WINDOW));
  store.compact(store.revision - WINDOW);
  return Math.round(rate);
}

function createsAndDeletesPerSecond(): number {
  const store = filledStore();
  const names = keys.slice(0, 50_000).map((key) => `${key}-x`);
  const rate =
    (2 * names.length) /
    seconds(() => {
      for (const name of names) store.put(name, 0, () => value);
      for (const name of names) store.delete(name, (store.get(name) as KeyValue).modRevision);
    });
  return Math.round(rate);
}

/** Keys and values are shared with the caller here, so that what is counted is the store's own. */
function bytesPerRevision(): number {
  const gc = collector();
  gc();
  const before = memory();
  const store = new RevisionStore();
  for (let round = 0; round < REVISIONS_PER_KEY; round++) {
    for (const key of keys) store.put(key, (store.get(key) as KeyValue | undefined)?.modRevision ?? 0, () => value);
  }
  gc();
  const used = memory() - before;
  return store.revision > WINDOW ? used / WINDOW : Number.NaN;
}

/** The garbage collector, whatever flags the process was started with. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

function memory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external; // typed arrays count as external
}

/** Pages of 500 through all keys at a state that half the window has since replaced. */
function oldPagesPerSecond(): number {
  const store = filledStore();
  const revision = store.revision - WINDOW / 2;
  let pages = 0;
  const time = seconds(() => {
    for (let start = PREFIX, more = true; more; pages++) {
      const page = store.range(start, END, { limit: 500, revision }) as RangeResult;
      more = page.more;
      start = `${page.items.at(-1)?.key}\0`;
    }
  });
  return Math.round(pages / time);
}

function getsPerSecond(): number {
  const store = filledStore();
  let found = 0;
  const time = seconds(() => {
    for (let count = 0; count < 1_000_000; count++) {
      if (store.get(`${PREFIX}ns-${count % 1500}/pod-${((count % KEYS) * 7919) % KEYS}`) !== undefined) found++;
    }
  });
  return Math.round(found / time);
}

function compactedPerSecond(): number {
  const store = new RevisionStore();
  write(store, WINDOW);
  return Math.round(WINDOW / seconds(() => store.compact(store.revision)));
}

export const benches = [
  { name: "store.writes", unit: "writes/s", run: writesPerSecond, target: 300_000 },
  { name: "store.creates-and-deletes", unit: "writes/s", run: createsAndDeletesPerSecond },
  { name: "store.gets", unit: "gets/s", run: getsPerSecond },
  { name: "store.old-pages", unit: "pages/s", run: oldPagesPerSecond },
  { name: "store.compaction", unit: "revisions/s", run: compactedPerSecond },
  { name: "store.overhead", unit: "bytes/revision", run: bytesPerRevision, target: 100, better: "less" },
] as const satisfies readonly Bench[];

if (import.meta.main) {
  for (const { name, unit, run } of benches) {
    run();
    console.log(name, [run(), run(), run()].map((figure) => figure.toLocaleString("en")).join("  "), unit);
  }
}

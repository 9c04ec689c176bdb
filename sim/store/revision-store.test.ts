import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RevisionStore } from "./revision-store.ts";
import type { KeyValue, RangeResult, RevisionProblem, StoreEvent } from "./types.ts";

/** The store as one would explain it: a full copy of the state for each revision. */
class NaiveStore {
  revision: number;
  compactedRevision = 0;
  readonly states = new Map<number, ReadonlyMap<string, KeyValue>>();
  events: StoreEvent[] = [];

  constructor(firstRevision: number) {
    this.revision = firstRevision;
    this.states.set(firstRevision, new Map());
  }

  write(key: string, expected: number, value: object | undefined): number | undefined {
    const before = this.states.get(this.revision) as ReadonlyMap<string, KeyValue>;
    const held = before.get(key);
    if ((held?.modRevision ?? 0) !== expected || (value === undefined && held === undefined)) return undefined;
    const revision = ++this.revision;
    const after = new Map(before);
    after.delete(key);
    if (value !== undefined) after.set(key, { key, value, modRevision: revision });
    this.states.set(revision, after);
    this.events.push({ revision, key, value, previous: held?.value, previousRevision: held?.modRevision ?? 0 });
    return revision;
  }

  range(start: string, end: string, limit: number, revision: number): RangeResult | RevisionProblem {
    if (revision > this.revision) return "future";
    if (revision < this.compactedRevision) return "compacted";
    // Before the first write there is nothing to know.
    const state = this.states.get(revision) ?? new Map<string, KeyValue>();
    const all = [...state.values()]
      .filter(({ key }) => bytes(key, start) >= 0 && (end === "" || bytes(key, end) < 0))
      .sort((left, right) => bytes(left.key, right.key));
    const items = limit > 0 ? all.slice(0, limit) : all;
    return { items, more: items.length < all.length, remaining: all.length - items.length, revision };
  }

  since(after: number, prefix: string): readonly StoreEvent[] | "compacted" {
    if (after < this.compactedRevision) return "compacted";
    return this.events.filter(({ revision, key }) => revision > after && key.startsWith(prefix));
  }
}

const bytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

// Prefixes of each other, neighbours of the slash, and the one pair that bytes and UTF-16 order differently.
const keys = [
  "/a/",
  "/a/b",
  "/a/b-c",
  "/a/b/c",
  "/a-b/c",
  "/ab/c",
  "/b/1",
  "/b/10",
  "/b/2",
  "/b/\u{1f600}",
  "/b/\uffee",
];
const bounds = ["", "/", "/a", "/a/", "/a0", "/b/", "/b/1\0", "/b/\ufff0", "/b0"];

const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("put" as const), key: fc.constantFrom(...keys), right: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("delete" as const), key: fc.constantFrom(...keys), right: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const), back: fc.nat(12) }) },
);

describe("RevisionStore", () => {
  it("answers as full copies of every state would, whatever is compacted when", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 4090, 4095, 4096),
        fc.array(anyStep, { maxLength: 40 }),
        fc.tuple(fc.constantFrom(...bounds), fc.constantFrom(...bounds), fc.nat(4)),
        (firstRevision, steps, [start, end, limit]) => {
          const store = new RevisionStore({ firstRevision });
          const naive = new NaiveStore(firstRevision);
          const heard: StoreEvent[] = [];
          store.subscribe((event) => heard.push(event));
          for (const step of steps) {
            if (step.do === "compact") {
              const revision = Math.max(naive.compactedRevision, naive.revision - step.back);
              store.compact(revision);
              naive.compactedRevision = revision;
            } else {
              const held = naive.states.get(naive.revision)?.get(step.key)?.modRevision ?? 0;
              const expected = step.right ? held : held + 1;
              const value = step.do === "put" ? { at: naive.revision + 1 } : undefined;
              const got =
                value === undefined ? store.delete(step.key, expected) : store.put(step.key, expected, () => value);
              expect(got).toBe(naive.write(step.key, expected, value));
            }
            compare(store, naive, start, end, limit);
          }
          expect(heard).toEqual(naive.events);
        },
      ),
      { seed: 1, numRuns: 400 },
    );
  });

  it("finds any revision of a key written many times, and after compaction in its midst", () => {
    const store = new RevisionStore();
    const write = (): void => {
      const held = store.get("/k") as KeyValue | undefined;
      store.put("/k", held?.modRevision ?? 0, (revision) => ({ revision }));
    };
    for (let count = 0; count < 20_000; count++) write();
    for (const compactTo of [0, 3, 9_999, 19_998]) {
      store.compact(compactTo);
      for (let revision = Math.max(2, compactTo); revision <= store.revision; revision += 97) {
        expect(store.get("/k", revision)).toEqual({ key: "/k", value: { revision }, modRevision: revision });
      }
    }
    write();
    expect(store.get("/k", store.revision - 1)).toMatchObject({ modRevision: store.revision - 1 });
  });

  it("counts what remains while somebody pages through an old state", () => {
    const store = new RevisionStore();
    for (let count = 0; count < 1000; count++) store.put(`/p/${String(count).padStart(4, "0")}`, 0, () => ({}));
    const revision = store.revision;
    for (let count = 0; count < 1000; count += 2) {
      const key = `/p/${String(count).padStart(4, "0")}`;
      store.delete(key, (store.get(key) as KeyValue).modRevision);
      store.put(`/p/${String(count).padStart(4, "0")}x`, 0, () => ({}));
    }
    const seen: string[] = [];
    for (let start = "/p/", more = true; more; ) {
      const page = store.range(start, "/p0", { limit: 7, revision }) as RangeResult;
      seen.push(...page.items.map(({ key }) => key));
      expect(page.remaining).toBe(1000 - seen.length);
      more = page.more;
      start = `${seen.at(-1)}\0`;
    }
    expect(seen).toHaveLength(1000);
    expect(store.count("/p/0500", "/p0", revision)).toBe(500);
    expect(store.count("/p/0500", "/p0")).toBe(500);
  });

  it("tells every listener the same order, though one of them writes", () => {
    const store = new RevisionStore();
    const first: number[] = [];
    const second: number[] = [];
    store.subscribe(({ revision }) => {
      first.push(revision);
      if (revision < 6) store.put(`/k${revision}`, 0, () => ({}));
    });
    store.subscribe(({ revision }) => second.push(revision));
    store.put("/k", 0, () => ({}));
    expect(first).toEqual([2, 3, 4, 5, 6]);
    expect(second).toEqual(first);
  });

  it("refuses to write while it makes a value, and leaves no trace of a value that could not be made", () => {
    const store = new RevisionStore();
    expect(() => store.put("/a", 0, () => ({ nested: store.put("/b", 0, () => ({})) }))).toThrow("does not write");
    expect(() =>
      store.put("/a", 0, () => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(store.revision).toBe(1);
    expect(store.range("", "")).toMatchObject({ items: [], remaining: 0 });
  });
});

function compare(store: RevisionStore, naive: NaiveStore, start: string, end: string, limit: number): void {
  expect(store.revision).toBe(naive.revision);
  expect(store.compactedRevision).toBe(naive.compactedRevision);
  for (let revision = Math.max(1, naive.revision - 14); revision <= naive.revision + 1; revision++) {
    const expected = naive.range(start, end, limit, revision);
    expect(store.range(start, end, { limit, revision })).toEqual(expected);
    if (typeof expected === "string") expect(store.count(start, end, revision)).toBe(expected);
    else expect(store.count(start, end, revision)).toBe(expected.items.length + (expected.remaining as number));
    const events = store.since(revision, "/a/");
    expect(typeof events === "string" ? events : [...events]).toEqual(naive.since(revision, "/a/"));
  }
  const whole = naive.range("", "", 0, naive.revision) as RangeResult;
  for (const item of whole.items) expect(store.get(item.key)).toEqual(item);
  expect(store.get("/absent")).toBeUndefined();
}

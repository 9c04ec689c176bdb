import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvariantError } from "./invariant.ts";
import { Trace, type TraceOptions } from "./trace.ts";

type Row = readonly [at: number, process: string, kind: string, ...values: (number | string)[]];

function traceOf(rows: readonly Row[], options?: TraceOptions): Trace {
  const trace = new Trace(options);
  for (const [at, process, kind, a, b, c] of rows) trace.record(at, trace.word(process), trace.word(kind), a, b, c);
  return trace;
}

const anyValue = fc.oneof(fc.maxSafeInteger(), fc.string());
const anyRow: fc.Arbitrary<Row> = fc
  .tuple(fc.maxSafeNat(), fc.constantFrom("a", "b"), fc.constantFrom("x", "y"), fc.array(anyValue, { maxLength: 3 }))
  .map(([at, process, kind, values]) => [at, process, kind, ...values]);

describe("a trace", () => {
  it("hashes the same records to the same 16 digits for ever, kept or not", () => {
    const rows: Row[] = [
      [0, "apiserver", "start", 1],
      [5_000_000_000, "node-1", "lease.renew", "lease", -7, 2 ** 40],
    ];
    expect(traceOf(rows).hash()).toBe("aa44a558c750ccec");
    expect(traceOf(rows, { keep: "all" }).hash()).toBe(traceOf(rows, { tailMax: 1 }).hash());
    expect(new Trace().hash()).toMatch(/^[0-9a-f]{16}$/);
  });

  it("gives different histories different hashes", () => {
    const different = fc.tuple(fc.array(anyRow, { maxLength: 8 }), fc.array(anyRow, { maxLength: 8 }));
    fc.assert(
      fc.property(different, ([one, other]) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        return (traceOf(one).hash() === traceOf(other).hash()) === same;
      }),
      { seed: 13, numRuns: 2000 },
    );
  });

  it("tells apart what looks alike", () => {
    const alike: Row[][] = [
      [],
      [[0, "p", "k"]],
      [[0, "p", "k", 0]],
      [[0, "p", "k", ""]],
      [[0, "p", "k", "0"]],
      [[0, "p", "k", "a"]],
      [[0, "p", "k", "a\0"]],
      [[0, "p", "k", "a", "b"]],
      [[0, "p", "k", "ab"]],
      [[0, "p", "k", 1, 2]],
      [[0, "p", "k", 2, 1]],
      [[0, "p", "k", -1]],
      [[0, "p", "k", 2 ** 32 - 1]],
      [[0, "p", "k", 2 ** 32]],
      [[2 ** 32, "p", "k"]],
      [[0, "k", "p"]],
      [
        [0, "p", "k"],
        [0, "p", "k"],
      ],
      [
        [0, "p", "k"],
        [1, "p", "k"],
      ],
      [
        [1, "p", "k"],
        [0, "p", "k"],
      ],
    ];
    expect(new Set(alike.map((rows) => traceOf(rows).hash())).size).toBe(alike.length);
  });

  it("does not depend on the order in which words became known", () => {
    const early = new Trace();
    early.word("z");
    early.record(0, early.word("p"), early.word("k"));
    expect(early.hash()).toBe(traceOf([[0, "p", "k"]]).hash());
  });

  it("keeps the tail, or everything", () => {
    const rows = Array.from({ length: 3000 }, (_, index): Row => [index, "p", "k", index, "v"]);
    const tail = traceOf(rows, { tailMax: 7 });
    expect(tail.count).toBe(3000);
    expect(tail.firstKept).toBe(2993);
    expect(tail.records().map((record) => record.index)).toEqual([2993, 2994, 2995, 2996, 2997, 2998, 2999]);
    expect(tail.at(2992)).toBeUndefined();
    expect(tail.at(3000)).toBeUndefined();
    const all = traceOf(rows, { keep: "all" });
    expect(all.records()).toHaveLength(3000);
    expect(all.at(1500)).toEqual({ index: 1500, atMicros: 1500, process: "p", kind: "k", values: [1500, "v"] });
  });

  it("tells events apart by process, time and sequence, and shows them as records", () => {
    const events: readonly [at: number, process: string, sequence: number][] = [
      [0, "p", 1],
      [0, "p", 2],
      [1, "p", 1],
      [2 ** 32, "p", 1],
      [0, "q", 1],
    ];
    const traces = events.map(([at, process, sequence]) => {
      const trace = new Trace();
      trace.recordEvent(at, trace.word(process), trace.word("event"), sequence);
      expect(trace.records()).toEqual([{ index: 0, atMicros: at, process, kind: "event", values: [sequence] }]);
      return trace.hash();
    });
    expect(new Set(traces).size).toBe(events.length);
  });

  it("refuses values that are not integers", () => {
    expect(() => traceOf([[0, "p", "k", 0.5]])).toThrow(InvariantError);
    expect(() => traceOf([[0, "p", "k", Number.NaN]])).toThrow(InvariantError);
    expect(() => new Trace({ tailMax: 0 })).toThrow(InvariantError);
  });
});

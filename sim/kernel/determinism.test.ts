import { describe, expect, it } from "vitest";
import { checkDeterminism, firstDivergence, formatDivergence, formatMicros, traceOfRecords } from "./determinism.ts";
import { Kernel } from "./kernel.ts";
import { Trace, type TraceOptions } from "./trace.ts";
import type { Process } from "./types.ts";

/** Two processes that beat a hundred times; the second enters `leak()` in the trace with every tenth. */
function twoBeating(leak: () => number, trace: TraceOptions): Trace {
  const kernel = new Kernel({ seed: "determinism", trace });
  const beat = (process: Process, count: number): void => {
    if (count === 100) return;
    process.trace("beat", count, count % 10 === 9 && process.name === "second" ? leak() : 0);
    process.clock.after(process.prng.intInclusive(1, 1000), () => beat(process, count + 1));
  };
  beat(kernel.process("first"), 0);
  beat(kernel.process("second"), 0);
  kernel.run();
  return kernel.trace;
}

let moduleCounter = 0;

describe("the determinism check", () => {
  it("accepts a run that draws from its streams alone", async () => {
    const verdict = await checkDeterminism((trace) => twoBeating(() => 1, trace));
    expect(verdict).toMatchObject({ deterministic: true, recordCount: 400 });
  });

  it.each([
    ["a counter kept in module state", () => ++moduleCounter],
    ["Math.random", () => Math.floor(Math.random() * 2 ** 32)],
  ])("finds a leak of %s, and names the first record that differs", async (_, leak) => {
    const verdict = await checkDeterminism((trace) => twoBeating(leak, trace));
    if (verdict.deterministic) throw new Error("the leak was not found");
    const { divergence, hashes } = verdict;
    expect(hashes[0]).not.toBe(hashes[1]);
    expect(divergence.first).toMatchObject({ process: "second", kind: "beat" });
    expect(divergence.first?.values[0]).toBe(9); // the first beat that leaks
    expect(divergence.second?.values[0]).toBe(9);
    expect(divergence.before).toHaveLength(3);
    const text = formatDivergence(divergence);
    expect(text).toContain(`two runs part at record ${divergence.index}`);
    expect(text).toMatch(/^ {2}< #\d+ \d+\.\d{6} s second beat 9 \d+$/m);
    expect(text).toMatch(/^ {2}> #\d+ \d+\.\d{6} s second beat 9 \d+$/m);
  });

  it("runs again as often as it is told, here and elsewhere", async () => {
    let [here, there] = [0, 0];
    const run = (trace: TraceOptions): Trace => (here++, twoBeating(() => 1, trace));
    const elsewhere = (): Trace => (there++, twoBeating(() => 1, {}));
    const verdict = await checkDeterminism(run, { reruns: 3, elsewhere });
    expect([verdict.deterministic, here, there]).toEqual([true, 4, 3]);
    expect(verdict).toMatchObject({ runCount: 7 });
  });

  it("finds the one run elsewhere that differs, by the records that come from there as data", async () => {
    let there = 0;
    const elsewhere = (): ReturnType<typeof traceOfRecords> => {
      const trace = twoBeating(() => (++there === 20 ? 2 : 1), { keep: "all" });
      return traceOfRecords(trace.hash(), trace.records());
    };
    const verdict = await checkDeterminism((trace) => twoBeating(() => 1, trace), { reruns: 3, elsewhere });
    if (verdict.deterministic) throw new Error("the run that differs was not found");
    // Ten beats of a run leak: the twentieth is the last of the second run elsewhere, after four here.
    expect(verdict.run).toBe(6);
    expect(verdict.divergence).toMatchObject({ first: { values: [99, 1] }, second: { values: [99, 2] } });
  });

  it("names the end when one run is only longer", () => {
    const traceOf = (count: number): Trace => {
      const trace = new Trace({ keep: "all" });
      for (let index = 0; index < count; index++) trace.record(index, trace.word("p"), trace.word("k"));
      return trace;
    };
    const divergence = firstDivergence(traceOf(5), traceOf(6));
    expect(divergence).toMatchObject({ index: 5, first: undefined, second: { index: 5 }, mayBeEarlier: false });
    expect(formatDivergence(divergence as never)).toContain("(the first run has ended)");
    expect(firstDivergence(traceOf(5), traceOf(5))).toBeUndefined();
  });

  it("says so when the records that differ first were not kept", () => {
    const traceOf = (first: number): Trace => {
      const trace = new Trace({ tailMax: 4 });
      for (let index = 0; index < 10; index++) {
        trace.record(index, trace.word("p"), trace.word("k"), index === 0 ? first : 0);
      }
      return trace;
    };
    const divergence = firstDivergence(traceOf(1), traceOf(2));
    expect(divergence).toMatchObject({ mayBeEarlier: true, before: [] });
    expect(formatDivergence(divergence as never)).toContain("earlier records were not kept");
  });
});

describe("formatMicros", () => {
  it("writes seconds with six decimals", () => {
    expect([0, 1, 1_500_000, 3_600_000_000].map(formatMicros)).toEqual([
      "0.000000 s",
      "0.000001 s",
      "1.500000 s",
      "3600.000000 s",
    ]);
  });
});

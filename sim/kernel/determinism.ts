import type { Trace, TraceOptions, TraceRecord } from "./trace.ts";

/** Where two traces part. Records are undefined where a trace has ended or no longer keeps them. */
export interface Divergence {
  /** Index of the first record that differs; with a tail, of the first that is known to. */
  readonly index: number;
  /** True when records before `index` were not kept by both traces and may differ already. */
  readonly mayBeEarlier: boolean;
  /** Kept records just before `index`, the same in both. */
  readonly before: readonly TraceRecord[];
  readonly first: TraceRecord | undefined;
  readonly second: TraceRecord | undefined;
  /** Records that follow, of each. */
  readonly firstAfter: readonly TraceRecord[];
  readonly secondAfter: readonly TraceRecord[];
}

/** What `checkDeterminism` found. `deterministic` holds when every run had the same hash. */
export type DeterminismVerdict =
  | {
      readonly deterministic: true;
      readonly hash: string;
      readonly recordCount: number;
      /** How often it was run: the first time, and again. */
      readonly runCount: number;
    }
  | {
      readonly deterministic: false;
      /** Of the first run, and of the one that differs. */
      readonly hashes: readonly [string, string];
      /** Which run differs, counted from 1; the first is never it. */
      readonly run: number;
      readonly divergence: Divergence;
    };

/** A trace as far as it can be compared; one of another thread has come as data. */
export type ComparedTrace = Pick<Trace, "count" | "firstKept" | "at"> & { hash(): string };

export interface DeterminismOptions {
  /** How often it is run again here, 0 or more. Default 1. */
  readonly reruns?: number;
  /**
   * Runs it somewhere else, in a thread for one; as often as here. When the hash is the one that is given, records need not
   * be kept.
   */
  readonly elsewhere?: ((hash: string) => ComparedTrace | Promise<ComparedTrace>) | undefined;
}

/**
 * Runs again and again and compares, until one differs. `runOnce` builds a whole run from scratch, gives its kernel the trace options
 * and returns the trace at the end. Traces are kept in full, so that the first record at which
 * they part can be shown: budget about 100 bytes of memory for each record of a run.
 */
export async function checkDeterminism(
  runOnce: (trace: TraceOptions) => Trace | Promise<Trace>,
  { reruns = 1, elsewhere }: DeterminismOptions = {},
): Promise<DeterminismVerdict> {
  const first = await runOnce({ keep: "all" });
  const hash = first.hash();
  const again = (): ComparedTrace | Promise<ComparedTrace> => runOnce({ keep: "all" });
  let runCount = 1;
  for (const rerun of elsewhere === undefined ? [again] : [again, elsewhere]) {
    for (let count = 0; count < reruns; count++) {
      const other = await rerun(hash);
      runCount++;
      const divergence = firstDivergence(first, other);
      if (divergence !== undefined)
        return { deterministic: false, hashes: [hash, other.hash()], run: runCount, divergence };
    }
  }
  return { deterministic: true, hash, recordCount: first.count, runCount };
}

/** The trace that these records are all of. */
export function traceOfRecords(hash: string, records: readonly TraceRecord[]): ComparedTrace {
  return { count: records.length, firstKept: 0, at: (index) => records[index], hash: () => hash };
}

/** The first record that differs, with up to `neighbours` records on either side; undefined when the traces are the same. */
export function firstDivergence(first: ComparedTrace, second: ComparedTrace, neighbours = 3): Divergence | undefined {
  if (first.count === second.count && first.hash() === second.hash()) return undefined;
  const start = Math.max(first.firstKept, second.firstKept);
  let index = start;
  while (sameRecord(first.at(index), second.at(index))) index++;
  // Everything kept is the same: they parted before it.
  if (index === first.count && index === second.count) index = start;
  return {
    index,
    mayBeEarlier: start > 0,
    before: span(first, Math.max(start, index - neighbours), index),
    first: first.at(index),
    second: second.at(index),
    firstAfter: span(first, index + 1, index + 1 + neighbours),
    secondAfter: span(second, index + 1, index + 1 + neighbours),
  };
}

/** A divergence as lines of text, the differing records marked `<` (first run) and `>` (second run). */
export function formatDivergence(divergence: Divergence): string {
  const { index, before, first, second, firstAfter, secondAfter, mayBeEarlier } = divergence;
  return [
    `two runs part at record ${index}${mayBeEarlier ? " or before: earlier records were not kept" : ""}`,
    ...before.map((record) => `    ${formatRecord(record)}`),
    `  < ${first === undefined ? "(the first run has ended)" : formatRecord(first)}`,
    ...firstAfter.map((record) => `  < ${formatRecord(record)}`),
    `  > ${second === undefined ? "(the second run has ended)" : formatRecord(second)}`,
    ...secondAfter.map((record) => `  > ${formatRecord(record)}`),
  ].join("\n");
}

/** `#12 0.005000 s machine-1 renew 4 "a"`. */
function formatRecord(record: TraceRecord): string {
  const values = record.values.map((value) => ` ${JSON.stringify(value)}`).join("");
  return `#${record.index} ${formatMicros(record.atMicros)} ${record.process} ${record.kind}${values}`;
}

/** Seconds with six decimals: `1.500000 s`. */
export function formatMicros(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  return `${seconds}.${String(micros % 1_000_000).padStart(6, "0")} s`;
}

/** False when either is missing: there is nothing left to compare. */
function sameRecord(first: TraceRecord | undefined, second: TraceRecord | undefined): boolean {
  return (
    first !== undefined &&
    second !== undefined &&
    first.atMicros === second.atMicros &&
    first.process === second.process &&
    first.kind === second.kind &&
    first.values.length === second.values.length &&
    first.values.every((value, position) => value === second.values[position])
  );
}

function span(trace: ComparedTrace, from: number, to: number): TraceRecord[] {
  const records: TraceRecord[] = [];
  for (let index = from; index < to; index++) {
    const record = trace.at(index);
    if (record !== undefined) records.push(record);
  }
  return records;
}

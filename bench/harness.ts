/** What a benchmark is, and how one is measured: a warm-up, then rounds, of which the median counts. */
import { availableParallelism, cpus, totalmem } from "node:os";

export interface Bench {
  /** `area.what`, unique in the project. */
  readonly name: string;
  /** Of the number that `run` returns, for example `writes/s` or `bytes/revision`. */
  readonly unit: string;
  /** One round. It may keep what it has built for the next one. */
  run(): number | Promise<number>;
  /** What the project promises, in `unit`. */
  readonly target?: number;
  /** Which way is good. Default: more for a rate (`…/s`), less for anything else (µs, bytes). */
  readonly better?: "more" | "less";
}

export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly min: number;
  readonly median: number;
  readonly max: number;
  readonly rounds: number;
  readonly target?: number;
  /** How far the median is beyond the target: 1 meets it, 2 is twice as good. */
  readonly ratio?: number;
}

export interface Machine {
  readonly cpu: string;
  readonly coreCount: number;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly node: string;
}

/** Measures one benchmark: `warmups` rounds that do not count, then `rounds` (≥ 1) that do. Throws what a round throws. */
export async function measure(bench: Bench, rounds: number, warmups = 1): Promise<Measurement> {
  const figures: number[] = [];
  for (let round = -warmups; round < rounds; round++) {
    const figure = await bench.run();
    if (!Number.isFinite(figure) || figure < 0)
      throw new Error(`${bench.name} returned ${figure}, which is no measurement`);
    if (round >= 0) figures.push(figure);
  }
  return summary(bench, figures);
}

/** `figures` is not empty. An even count takes the lower of the two middle ones, or the worse when less is better. */
export function summary(bench: Bench, figures: readonly number[]): Measurement {
  const sorted = figures.map(significant).toSorted((one, other) => one - other);
  const less = (bench.better ?? (bench.unit.endsWith("/s") ? "more" : "less")) === "less";
  const middle = less ? sorted.length >> 1 : (sorted.length - 1) >> 1;
  const median = sorted[middle] as number;
  const { name, unit, target } = bench;
  return {
    name,
    unit,
    min: sorted[0] as number,
    median,
    max: sorted.at(-1) as number,
    rounds: sorted.length,
    ...(target === undefined ? {} : { target, ratio: rounded(less ? target / median : median / target) }),
  };
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    coreCount: availableParallelism(),
    memoryBytes: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  };
}

/** Five digits: more would pretend. */
const significant = (figure: number): number => Number(figure.toPrecision(5));

const rounded = (ratio: number): number => Math.round(ratio * 100) / 100;

/** Which seeds a hunt plays: a range, so many from one, those that a commit gives, or as many as time allows; of them, a shard. */
import { message } from "@optique/core/message";
import type { ValueParser } from "@optique/core/valueparser";
import { UsageError } from "./usage-error.ts";

export interface SeedRange {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

export interface Shard {
  /** 1 or more. */
  readonly index: number;
  readonly count: number;
  readonly text: string;
}

const seedMax = 4_294_967_295;

const refusal = (error: ReturnType<typeof message>): { success: false; error: ReturnType<typeof message> } => ({
  success: false,
  error,
});

/** `1..10000`, or `500` for 1..500. */
export function seedRange(): ValueParser<"sync", SeedRange> {
  return {
    mode: "sync",
    metavar: "RANGE",
    placeholder: { first: 1, last: 100 },
    parse(input) {
      const [, low, high] = /^(?:(\d{1,10})\.\.)?(\d{1,10})$/.exec(input) ?? [];
      const [first, last] = [Number(low ?? "1"), Number(high)];
      if (high === undefined || first > last || last > seedMax)
        return refusal(message`Expected a range of seeds such as 1..10000, or their number, but got ${input}.`);
      return { success: true, value: { first, last } };
    },
    format: ({ first, last }) => `${first}..${last}`,
  };
}

/** `2/3`. */
export function shard(): ValueParser<"sync", Shard> {
  return {
    mode: "sync",
    metavar: "I/N",
    placeholder: { index: 1, count: 1, text: "1/1" },
    parse(input) {
      const [, index = 0, count = 0] = (/^(\d{1,4})\/(\d{1,4})$/.exec(input) ?? []).map(Number);
      if (index < 1 || index > count)
        return refusal(message`Expected a part such as 2/3, from 1 to its number of parts, but got ${input}.`);
      return { success: true, value: { index, count, text: `${index}/${count}` } };
    },
    format: ({ text }) => text,
  };
}

/** A commit: forty hexadecimal digits, or eight and more of them. */
export function commit(): ValueParser<"sync", string> {
  return {
    mode: "sync",
    metavar: "COMMIT",
    placeholder: "0000000000000000000000000000000000000000",
    parse: (input) =>
      /^[0-9a-f]{8,40}$/.test(input)
        ? { success: true, value: input }
        : refusal(message`Expected a commit of at least eight hexadecimal digits, but got ${input}.`),
    format: (value) => value,
  };
}

interface Asked {
  readonly seeds?: SeedRange | undefined;
  readonly time?: number | undefined;
  readonly commit?: string | undefined;
  readonly shard?: Shard | undefined;
  readonly queue?: string | undefined;
}

const usualCount = 1000;

/** Seeds at equal distances: as many as there are from `first` to `last`, and to each the offset is added. */
export interface SeedWalk {
  readonly first: number;
  /** Inclusive, if the steps come to it. */
  readonly last: number;
  readonly step: number;
  readonly offset: number;
}

/** What comes after the last of all seeds begins anew. */
export const seedsInAll = seedMax + 1;

export interface WantedSeeds {
  readonly walk: SeedWalk;
  readonly seeds: Iterable<number>;
  /** Undefined when time decides. */
  readonly count: number | undefined;
}

export function seedsOf(asked: Asked): WantedSeeds {
  const { seeds, time, commit: from, shard: part, queue } = asked;
  if (time !== undefined && seeds !== undefined)
    throw new UsageError("--seeds says how many and --for how long: give one of them.");
  if (time !== undefined && queue !== undefined)
    throw new UsageError("--for is for this machine alone: with --queue give --seeds.");
  const range = time === undefined ? (seeds ?? { first: 1, last: usualCount }) : { first: 1, last: seedMax };
  const offset = from === undefined ? 0 : Number.parseInt(from.slice(0, 8), 16);
  const { index = 1, count = 1 } = part ?? {};
  const walk = { first: range.first + index - 1, last: range.last, step: count, offset };
  return { walk, seeds: every(walk), count: time === undefined ? countOf(walk) : undefined };
}

function* every({ first, last, step, offset }: SeedWalk): Generator<number> {
  for (let place = first; place <= last; place += step) yield (place + offset) % seedsInAll;
}

const countOf = ({ first, last, step }: SeedWalk): number => Math.max(0, Math.ceil((last - first + 1) / step));

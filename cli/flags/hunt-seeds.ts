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

/** `count` is undefined when time decides. */
export function seedsOf(asked: Asked): { readonly seeds: Iterable<number>; readonly count: number | undefined } {
  const { seeds, time, commit: from, shard: part, queue } = asked;
  if (time !== undefined && seeds !== undefined)
    throw new UsageError("--seeds says how many and --for how long: give one of them.");
  if (time !== undefined && queue !== undefined)
    throw new UsageError("--for is for this machine alone: with --queue give --seeds.");
  const range = time === undefined ? (seeds ?? { first: 1, last: usualCount }) : { first: 1, last: seedMax };
  const offset = from === undefined ? 0 : Number.parseInt(from.slice(0, 8), 16);
  const { index = 1, count = 1 } = part ?? {};
  return {
    seeds: every(range, offset, index, count),
    count: time === undefined ? countOf(range, index, count) : undefined,
  };
}

function* every({ first, last }: SeedRange, offset: number, index: number, count: number): Generator<number> {
  for (let seed = first + index - 1; seed <= last; seed += count) yield (seed + offset) % (seedMax + 1);
}

const countOf = ({ first, last }: SeedRange, index: number, count: number): number =>
  Math.max(0, Math.ceil((last - first + 1 - (index - 1)) / count));

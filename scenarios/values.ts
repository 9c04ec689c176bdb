/**
 * The values that fields of a scenario hold: durations, spans, latencies, ratios, names. Each is text that a person
 * writes, becomes integers once read, and has a pattern, so that an editor sees a mistake where it stands.
 */
import { z } from "zod";
import { parseDuration } from "../wire/durations.ts";
import { ruleOrMissing } from "../wire/plain-words.ts";

/** Integers with `min <= max`: microseconds, but for counts. */
export interface Span {
  readonly min: number;
  readonly max: number;
}

/** True `numerator` times out of `denominator`. */
export interface Ratio {
  readonly numerator: number;
  readonly denominator: number;
}

/**
 * How long messages take: `percent` of them at most `max`, and at least what the row before says. The percents rise and end
 * with 100.
 */
export type LatencyTable = readonly { readonly percent: number; readonly span: Span }[];

const secondsLimit = 365 * 86_400;
const unit = "(ns|us|µs|ms|s|m|h)";
const durationPattern = `(\\d+(\\.\\d+)?${unit})+`;

function microsOf(text: string): number | undefined {
  const nanos = parseDuration(text);
  if (typeof nanos !== "bigint" || nanos < 0n || nanos > BigInt(secondsLimit) * 1_000_000_000n || nanos % 1000n !== 0n)
    return undefined;
  return Number(nanos / 1000n);
}

const durationRule = "expected a duration of whole microseconds such as 5ms, 30s or 1m30s, of a year at most";

const matching = (pattern: string, rule: string) =>
  z.string({ error: ruleOrMissing(rule) }).regex(new RegExp(`^${pattern}$`), { error: rule, abort: true });

/** A duration as text, in microseconds once read. */
export const duration = matching(durationPattern, durationRule)
  .refine((text) => microsOf(text) !== undefined, { error: durationRule })
  .transform((text) => microsOf(text) as number);

export const positiveDuration = matching(durationPattern, `${durationRule}, above zero`)
  .refine((text) => (microsOf(text) ?? 0) > 0, { error: `${durationRule}, above zero` })
  .transform((text) => microsOf(text) as number);

const stepRule = "expected a duration, or one that goes back, such as 30s or -5m";

/** How far a clock jumps, either way, in microseconds. */
export const clockStep = matching(`-?${durationPattern}`, stepRule)
  .refine((text) => microsOf(text.replace("-", "")) !== undefined, { error: stepRule })
  .transform((text) => (text.startsWith("-") ? -1 : 1) * (microsOf(text.replace("-", "")) as number));

function spanOf(text: string): Span | undefined {
  const [low = "", high = low] = text.split("..");
  const min = microsOf(low);
  const max = microsOf(high);
  return min === undefined || max === undefined || min > max ? undefined : { min, max };
}

const spanRule = "expected a duration such as 5ms, or a range such as 5ms..20ms that begins with the shorter one";

/** `5ms` or `5ms..20ms`. */
export const span = matching(`${durationPattern}(\\.\\.${durationPattern})?`, spanRule)
  .refine((text) => spanOf(text) !== undefined, { error: spanRule })
  .transform((text) => spanOf(text) as Span);

const latencyRows = z
  .array(z.strictObject({ percent: z.int().min(1).max(100), upTo: duration }))
  .min(1)
  .superRefine((rows, context) => {
    for (const [index, { percent, upTo }] of rows.entries()) {
      const before = rows[index - 1] ?? { percent: 0, upTo: 0 };
      if (percent <= before.percent)
        context.addIssue({
          code: "custom",
          path: [index, "percent"],
          message: `the percents rise: ${before.percent} came before`,
        });
      if (upTo < before.upTo)
        context.addIssue({
          code: "custom",
          path: [index, "upTo"],
          message: "the latencies rise: a longer one came before",
        });
    }
    if (rows.at(-1)?.percent !== 100)
      context.addIssue({
        code: "custom",
        path: [rows.length - 1, "percent"],
        message: "the last row is of 100 percent",
      });
  })
  .transform(
    (rows): LatencyTable =>
      rows.map(({ percent, upTo }, index) => ({ percent, span: { min: rows[index - 1]?.upTo ?? 0, max: upTo } })),
  );

/** One span for all, or a table of percentiles: `[{ percent: 99, upTo: 10ms }, { percent: 100, upTo: 2s }]`. */
export const latency = z.union([span.transform((all): LatencyTable => [{ percent: 100, span: all }]), latencyRows]);

const ratioRule = "expected a ratio between 0 and 1 such as 1/100";

function ratioOf(text: string): Ratio | undefined {
  const [numerator = 0, denominator = 0] = text.split("/").map(Number);
  return denominator < 1 || denominator > 1_000_000_000 || numerator > denominator
    ? undefined
    : { numerator, denominator };
}

/** `1/100`: of integers, so that no float decides anything. */
export const ratio = matching("\\d{1,10}/\\d{1,10}", ratioRule)
  .refine((text) => ratioOf(text) !== undefined, { error: ratioRule })
  .transform((text) => ratioOf(text) as Ratio);

const placeRule = "expected a name of lower-case letters, digits and hyphens";

/** A place on the network: a DNS label. */
export const place = z
  .string({ error: ruleOrMissing(placeRule) })
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, { error: placeRule })
  .max(63);

/**
 * Usage models as people write them:
 * `200Mi`, `ramp 10Mi..200Mi over 60s`, `sawtooth 10Mi..200Mi every 30s`, `leak 10Mi + 1Mi/s`, `random 10Mi..20Mi every 5s seed 7`,
 * `steps 0s:10Mi 30s:100Mi every 60s`. Amounts are quantities, times are durations as Go writes them.
 */
import { parseGoDuration } from "../../wire/durations.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import type { UsageModel } from "./usage-model.ts";

export class UsageTextError extends Error {}

/** `scale`: an amount is counted in 10^scale; −9 for CPU in nanocores, 0 for bytes. Throws `UsageTextError`. */
export function parseUsage(text: string, scale = 0): UsageModel {
  const amount = (part: string | undefined): number => amountOf(part ?? "", scale);
  const words = text.trim().split(/\s+/);
  const [kind = "", ...rest] = words;
  if (words.length === 1) return { is: "constant", amount: amount(kind) };
  const line = rest.join(" ");
  const range = /^(\S+?)\.\.(\S+) (over|every) (\S+)(?: seed (\d{1,9}))?$/.exec(line);
  if (kind === "ramp" && range?.[3] === "over") {
    return { is: "ramp", from: amount(range[1]), to: amount(range[2]), overMicros: micros(range[4] as string) };
  }
  if ((kind === "sawtooth" || kind === "random") && range?.[3] === "every") {
    const low = amount(range[1]);
    const high = amount(range[2]);
    const every = micros(range[4] as string);
    if (high < low) throw new UsageTextError(`${range[1]}..${range[2]}: the second amount is below the first`);
    if (kind === "sawtooth") return { is: "sawtooth", low, high, periodMicros: every };
    return { is: "random", low, high, everyMicros: every, seed: Number(range[5] ?? 0) };
  }
  const leak = /^(\S+) \+ (\S+)\/s$/.exec(line);
  if (kind === "leak" && leak !== null) return { is: "leak", from: amount(leak[1]), perSecond: amount(leak[2]) };
  if (kind === "steps") return steps(rest, amount);
  throw new UsageTextError(
    `"${text}" is no usage: write 200Mi, ramp 10Mi..200Mi over 60s, sawtooth 10Mi..200Mi every 30s, leak 10Mi + 1Mi/s, random 10Mi..20Mi every 5s, or steps 0s:10Mi 30s:100Mi`,
  );
}

function steps(words: readonly string[], amount: (part: string | undefined) => number): UsageModel {
  const repeats = words.at(-2) === "every";
  const points = (repeats ? words.slice(0, -2) : words).map((word) => {
    const at = word.indexOf(":");
    const time = word.slice(0, Math.max(0, at));
    return { atMicros: time === "0s" || time === "0" ? 0 : micros(time), amount: amount(word.slice(at + 1)) };
  });
  for (const [index, point] of points.entries()) {
    if (index > 0 && point.atMicros <= (points[index - 1] as { atMicros: number }).atMicros)
      throw new UsageTextError("steps: the times have to grow");
  }
  if (points.length === 0) throw new UsageTextError("steps: not one is given");
  return { is: "steps", points, ...(repeats ? { periodMicros: micros(words.at(-1) as string) } : {}) };
}

function amountOf(text: string, scale: number): number {
  const quantity = parseQuantity(text);
  if ("error" in quantity) {
    throw new UsageTextError(`"${text}" is no amount: write a number, with its unit behind it, such as 4, 250m, 1.5Gi`);
  }
  const value = Number(quantityAt(quantity, scale));
  if (!Number.isSafeInteger(value) || value < 0) throw new UsageTextError(`"${text}" is no amount from 0 to 2^53`);
  return value;
}

function micros(text: string): number {
  const value = parseGoDuration(text) ?? 0;
  if (!(value >= 1) || !Number.isSafeInteger(value))
    throw new UsageTextError(`"${text}" is no duration above zero, such as 90s or 5m`);
  return value;
}

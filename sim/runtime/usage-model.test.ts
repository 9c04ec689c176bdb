import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amountAt, firstAbove, multiplyDivide, totalUntil, type UsageModel } from "./usage-model.ts";

const amount = fc.integer({ min: 0, max: 1_000_000_000_000 });
const micros = fc.integer({ min: 1, max: 100_000_000_000 });
const range = fc
  .tuple(amount, fc.integer({ min: 0, max: 2_000_000_000 }))
  .map(([low, more]) => ({ low, high: low + more }));
const anyModel: fc.Arbitrary<UsageModel> = fc.oneof(
  fc.record({ is: fc.constant("constant" as const), amount }),
  fc.record({ is: fc.constant("ramp" as const), from: amount, to: amount, overMicros: micros }),
  fc.tuple(range, micros).map(([r, periodMicros]) => ({ is: "sawtooth" as const, ...r, periodMicros })),
  fc.record({ is: fc.constant("leak" as const), from: amount, perSecond: fc.integer({ min: 0, max: 1_000_000_000 }) }),
  fc
    .tuple(
      fc.uniqueArray(micros, { minLength: 1, maxLength: 8 }),
      fc.array(amount, { minLength: 8, maxLength: 8 }),
      fc.boolean(),
    )
    .map(([times, amounts, repeats]) => {
      const points = times
        .sort((a, b) => a - b)
        .map((atMicros, index) => ({ atMicros, amount: amounts[index] as number }));
      return { is: "steps" as const, points, ...(repeats ? { periodMicros: (times.at(-1) as number) + 5 } : {}) };
    }),
  fc
    .tuple(range, micros, fc.nat())
    .map(([r, everyMicros, seed]) => ({ is: "random" as const, ...r, everyMicros, seed })),
);

describe("usage models", () => {
  it("give safe integers >= 0, and the same ones again", () => {
    fc.assert(
      fc.property(anyModel, micros, (model, at) => {
        const seen = amountAt(model, at);
        expect(Number.isSafeInteger(seen) && seen >= 0, JSON.stringify({ model, at, seen })).toBe(true);
        expect(amountAt(structuredClone(model), at)).toBe(seen);
      }),
    );
  });

  it("are above a limit from the moment that the search names, and never before it", () => {
    fc.assert(
      fc.property(anyModel, amount, micros, fc.nat(1_000_000), (model, limit, from, part) => {
        const found = firstAbove(model, limit, from);
        const bound = found === undefined ? from + 1_000_000_000 : "at" in found ? found.at : found.until;
        const before = from + Math.floor(((bound - from - 1) * part) / 1_000_000);
        if (found !== undefined && "at" in found) expect(amountAt(model, found.at)).toBeGreaterThan(limit);
        if (before >= from && before < bound) expect(amountAt(model, before)).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 500 },
    );
  });

  it("have totals that never shrink, and that are what the amount comes to where it does not change", () => {
    fc.assert(
      fc.property(anyModel, micros, micros, (model, a, b) => {
        expect(totalUntil(model, Math.min(a, b))).toBeLessThanOrEqual(totalUntil(model, Math.max(a, b)));
      }),
    );
    expect(totalUntil({ is: "constant", amount: 250 }, 8_000_000)).toBe(2000);
    expect(totalUntil({ is: "sawtooth", low: 0, high: 100, periodMicros: 10_000_000 }, 20_000_000)).toBe(1000);
  });

  it("multiply and divide beyond 2^53 without a rounding", () => {
    fc.assert(
      fc.property(amount, micros, micros, (a, b, c) => {
        const exact = (BigInt(a) * BigInt(b)) / BigInt(c);
        if (exact <= BigInt(Number.MAX_SAFE_INTEGER)) expect(BigInt(multiplyDivide(a, b, c))).toBe(exact);
      }),
    );
  });
});

/** Quantities and durations of flags and files, as integers. */
import { parseGoDuration } from "../../wire/durations.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { UsageError } from "./usage-error.ts";

/** As `amountOf`, of what nothing can be without. */
export function someOf(flag: string, text: string, scale = 0): number {
  const amount = amountOf(flag, text, scale);
  if (amount === 0)
    throw new UsageError(`${flag} ${text}: there has to be some. Write a quantity above zero, such as 4 or 16Gi.`);
  return amount;
}

/** `16Gi` in units of 10^`scale`. Throws `UsageError` that begins with the flag. */
export function amountOf(flag: string, text: string, scale = 0): number {
  const quantity = parseQuantity(text);
  if ("error" in quantity) throw new UsageError(`${flag} ${text}: write a quantity such as 4, 500m or 16Gi.`);
  const value = Number(quantityAt(quantity, scale));
  if (!Number.isSafeInteger(value) || value < 0)
    throw new UsageError(`${flag} ${text}: an amount from 0 to 2^53 is needed`);
  return value;
}

/** Microseconds of a duration as Go writes it, zero included. Throws. */
export function microsOf(text: string): number {
  const micros = parseGoDuration(text);
  if (micros === undefined || micros < 0 || !Number.isSafeInteger(micros)) {
    throw new UsageError(`"${text}" is no duration such as 90s or 5m`);
  }
  return micros;
}

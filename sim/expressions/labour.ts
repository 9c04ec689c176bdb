/**
 * Steps that one call of a function may take among values that hold others many times over: few of them can amount to a
 * walk without end. The evaluation sets what is left before each call, and charges for what was used.
 */
import { exhausted } from "./failures.ts";

export const labourMax = 1_000_000;

export const labour = { left: labourMax };

/** Takes so many steps; ends the evaluation when there are no more. */
export function toil(steps: number): void {
  labour.left -= steps;
  if (labour.left < 0) exhausted();
}

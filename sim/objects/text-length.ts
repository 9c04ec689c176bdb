/** How long a value is as a text, without making the text. */
import { valuesOf } from "./members.ts";

/**
 * Whether a value of any depth takes more characters than `max` in JSON, as far as can be told without looking at each character: what
 * has to be escaped is longer than is said here. Looks at little more than `max` characters' worth; each value is a step of `left`.
 */
export function isLongerThan(whole: unknown, max: number, left: { steps: number } = { steps: 0 }): boolean {
  let length = lengthOf(whole);
  const open: object[] = isContainer(whole) ? [whole] : [];
  for (let container = open.pop(); container !== undefined && length <= max; container = open.pop()) {
    if (!Array.isArray(container)) for (const key in container) length += key.length + 3;
    const values = valuesOf(container);
    left.steps -= values.length;
    length += Math.max(0, values.length - 1);
    if (length > max) return true;
    for (const value of values) {
      length += lengthOf(value);
      if (isContainer(value)) open.push(value);
    }
  }
  return length > max;
}

/** Of a scalar, or of what is around a container's values. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  return isContainer(value) ? 2 : 1;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

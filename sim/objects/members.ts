/**
 * Values of an object that may have very many members. The engine lists a hundred thousand values in two and a half times
 * the time that it takes for their names, and finds each by its name in a tenth of that.
 */

const manyMin = 1_000;
const none: readonly never[] = [];

export function valuesOf(container: object): readonly unknown[] {
  if (Array.isArray(container)) return container;
  const names = Object.keys(container);
  if (names.length === 0) return none; // as in a set of fields, of which most are
  if (names.length < manyMin) return Object.values(container);
  const values: unknown[] = [];
  for (const name of names) values.push((container as Readonly<Record<string, unknown>>)[name]);
  return values;
}

/** Members and items in a container, at any depth; of more than `max` no more is looked at than shows that. */
export function valueCountUpTo(max: number, container: object): number {
  let count = 0;
  const open: object[] = [container];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // Only the names: the values of what is wide need not be looked at.
    count += Array.isArray(next) ? next.length : Object.keys(next).length;
    if (count > max) break;
    for (const child of valuesOf(next)) if (isContainer(child)) open.push(child);
  }
  return count;
}

/** Some items, with all that is within them. */
export function valueCount(list: readonly unknown[], from: number, length: number): number {
  let count = length;
  const open: object[] = [];
  for (let at = from; at < from + length; at++) if (isContainer(list[at])) open.push(list[at] as object);
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const child of valuesOf(container)) {
      count++;
      if (isContainer(child)) open.push(child);
    }
  }
  return count;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

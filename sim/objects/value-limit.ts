/**
 * How many values one object may have: members and items at any depth, but for who owns its fields. Every step of a request walks over all of them, and
 * none of these walks may keep others waiting; the bytes alone say little, for three megabytes are one text or a million items.
 * Simplification: the real server has no such limit, but stores nothing above 1.5 MiB in its encoding.
 */
import { askedOnce } from "../expressions/pace.ts";
import { type ApiError, tooLarge } from "../contract/errors.ts";
import { type FieldSet, leaf, leafCountOf } from "./field-set.ts";
import { hasFewJsonValues } from "../../wire/json-values.ts";
import { valuesOf } from "./members.ts";

export const valuesMax = 100_000;
/** Of a body, and of owned fields: whoever writes an object back sends both. */
export const bodyValuesMax = 3 * valuesMax;

const tooManyValues = (what = "object", max = valuesMax): ApiError =>
  tooLarge(`Request entity too large: the limit of values in one ${what} is ${max}`);

/** Throws 413 for a body in JSON, before it is read. What is no JSON is for its reader to refuse. */
export function requireFewInJson(body: Uint8Array): void {
  if (!hasFewInJson(body)) throw tooManyValues("body", bodyValuesMax);
}

/** Whether a body in JSON may be read. */
export const hasFewInJson = (body: Uint8Array, max = bodyValuesMax): boolean => hasFewJsonValues(body, max);

/**
 * Throws 413 for an object, of any depth; what is no object may be anything. What was stored `before` may have more, if those who
 * are not judged have made it so (controllers): then it may be changed to no more.
 */
export function requireFewValues(whole: unknown, before?: unknown): void {
  if (hasFewValues(whole)) return;
  if (hasFewValues(before) || hasMoreValues(whole, valueCount(before, Infinity, ownersOf(before)), ownersOf(whole)))
    throw tooManyValues();
}

/** Whether an object has no more values than it may have. */
export const hasFewValues = (whole: unknown): boolean => !hasMoreValues(whole, valuesMax, ownersOf(whole));

const ownersOf = (whole: unknown): unknown => member(member(whole, "metadata"), "managedFields");

/** Throws 413. */
export function requireFewOwned(managedFields: unknown): void {
  if (hasMoreValues(managedFields, bodyValuesMax)) throw tooManyValues("list of owned fields", bodyValuesMax);
}

/**
 * Of an object as JSON, with its owned fields: what its clients make of it by and by, each with a body that is short enough.
 * Simplification: the real server's store refuses what is longer than 1.5 MiB in its encoding.
 */
export const objectBytesMax = 8 * 1024 * 1024;

/** Throws 413, unless what was stored before was longer still: then it is on its way to less. */
export function requireFewBytes(bytes: number, before: () => number): void {
  if (bytes > objectBytesMax && bytes > before())
    throw tooLarge(`Request entity too large: the limit of bytes in one stored object is ${objectBytesMax}`);
}

const member = (value: unknown, name: string): unknown =>
  isContainer(value) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

/** Whether a value has more members and items in all than `max`, without those of `apart`; looks at no more than that. */
export const hasMoreValues = (whole: unknown, max: number, apart?: unknown): boolean =>
  valueCount(whole, max, apart) > max;

/** The members and items in all, without those of `apart`; some number above `max` if there are more. */
function valueCount(whole: unknown, max: number, apart?: unknown): number {
  if (!isContainer(whole)) return 0;
  let count = 0;
  const open: object[] = [whole];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    const leafCount = leafCountOf(container as FieldSet);
    const children = leafCount === undefined ? valuesOf(container) : none;
    const length = leafCount ?? children.length;
    count += length;
    if (length > largeValuesMin) rememberLarge(container);
    if (count > max) return count;
    for (const child of children) if (isContainer(child) && child !== apart && child !== leaf) open.push(child);
  }
  return count;
}

const none: readonly never[] = [];

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Large objects that are stored, and parts of objects that were counted and are large by themselves. */
const larges = new WeakSet<object>();
let areThereLarges = false;

/** From here on a write takes its steps in events of their own, and so does every later request about the object. */
const largeValuesMin = 4_000;

/** Whether what is judged is large enough to be judged in parts. */
export const isLargeValue = (value: unknown): boolean => askedOnce(() => hasMoreValues(value, largeValuesMin));

/** Remembers a sealed object if it is large. */
export function noteLarge(object: object): void {
  if (hasLargePart(object) || hasMoreValues(object, largeValuesMin)) rememberLarge(object);
}

/** Remembers an object, or a part of one, that is known to be large. */
export function rememberLarge(large: object): void {
  larges.add(large);
  areThereLarges = true;
}

/** Whether one of the first containers is known to be large: then nothing has to be counted again. */
function hasLargePart(whole: object): boolean {
  if (!areThereLarges) return false;
  const open: object[] = [whole];
  for (let at = 0; at < open.length && at < lookedAtMax; at++) {
    const container = open[at] as object;
    if (larges.has(container)) return true;
    for (const key in container) {
      if (open.length >= lookedAtMax) break;
      const child: unknown = (container as Readonly<Record<string, unknown>>)[key];
      if (isContainer(child)) open.push(child);
    }
  }
  return false;
}

const lookedAtMax = 64;

/** Whether a stored object is known to be large. */
export const isLargeObject = (object: object): boolean => areThereLarges && larges.has(object);

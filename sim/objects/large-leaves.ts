/**
 * How large maps of scalars (labels, data) and large sets of them (finalizers) differ, as sets of fields, made in steps before it is
 * asked for: a set of a hundred thousand fields takes a tenth of a second, in which nobody else would have a turn.
 */
import type { Json, JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { type FieldSet, leaf, leavesInSteps, makeNode, valueStep } from "./field-set.ts";

/** From here on the sets of a map or list are made in steps. */
const largeMin = 4_000;
/** Maps and structures of one object that are looked at: a large map is not hidden among thousands of others. */
const lookedAtMax = 500;
/** Members looked at before others have their turn. */
const membersPerStep = 16_384;

type Container = JsonObject | readonly Json[];

export interface LeafChange {
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

interface Made extends LeafChange {
  /** What it was compared with; undefined for what is new. */
  readonly before: unknown;
}

/** By what is there after the change: with a path for a new container itself, and without. */
const made = { true: new WeakMap<Container, Made>(), false: new WeakMap<Container, Made>() };
let isAnyMade = false;

/** Makes the sets of large maps and lists of scalars in `after`, by what they are in `before`. `self`: new ones are paths themselves. */
export function* largeLeafSteps(before: unknown, after: unknown, self: boolean): Generator<void, void> {
  const open: [before: unknown, after: unknown][] = [[before, after]];
  for (let at = 0; at < open.length && at < lookedAtMax; at++) {
    const [was, is] = open[at] as [unknown, unknown];
    if (was === is || typeof is !== "object" || is === null) continue;
    const size = sizeOf(is as Container);
    if (Math.max(size, sizeOf(was)) < largeMin) {
      if (!isObject(is)) continue;
      const known = isObject(was) ? was : undefined;
      for (const name of Object.keys(is)) {
        const pair: [unknown, unknown] = [known?.[name], is[name]];
        if (isObject(is[name]) || pair.some(isLargeList)) open.push(pair);
      }
      continue;
    }
    const change = yield* changeInSteps(was, is as Container, self);
    if (change === undefined) continue;
    made[`${self}`].set(is as Container, { ...change, before: was });
    isAnyMade = true;
  }
}

const isLargeList = (value: unknown): boolean => Array.isArray(value) && value.length >= largeMin;

const sizeOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;

function* changeInSteps(was: unknown, is: Container, self: boolean): Generator<void, LeafChange | undefined> {
  const after = yield* leavesInOrder(is);
  if (after === undefined) return undefined;
  if (was === undefined) return { changed: yield* setInSteps(self, [...after.keys()]), removed: undefined };
  if (Array.isArray(was) !== Array.isArray(is)) return undefined;
  const before = yield* leavesInOrder(was);
  if (before === undefined) return undefined;
  const changed = yield* keysInSteps(after, (step, value) => before.get(step) !== value);
  const removed = yield* keysInSteps(before, (step) => !after.has(step));
  return { changed: yield* setInSteps(false, changed), removed: yield* setInSteps(false, removed) };
}

/** What a map has under each name, or a list each element of; undefined where something else is among them, or the same twice in a list. */
function* leavesInOrder(container: unknown): Generator<void, ReadonlyMap<string, Scalar> | undefined> {
  const leaves = new Map<string, Scalar>();
  const isList = Array.isArray(container);
  if (!isList && !isObject(container)) return undefined;
  yield;
  const keys = isList ? container : Object.keys(container);
  let count = 0;
  for (const key of keys as readonly Json[]) {
    if (++count % membersPerStep === 0) yield;
    const value = isList ? key : (container as JsonObject)[key as string];
    if (!isScalar(value)) return undefined;
    // An element has no value but its name.
    if (isList) leaves.set(valueStep(value), true);
    else leaves.set(`f:${key as string}`, value);
  }
  return leaves.size === keys.length ? leaves : undefined;
}

type Scalar = string | number | boolean;

/** Integers beyond 2^53 are bigints. */
const isScalar = (value: unknown): value is Scalar =>
  value !== null && value !== undefined && typeof value !== "object";

function* keysInSteps(
  leaves: ReadonlyMap<string, Scalar>,
  isWanted: (step: string, value: Scalar) => boolean,
): Generator<void, string[]> {
  const wanted: string[] = [];
  let count = 0;
  yield;
  for (const [step, value] of leaves) {
    if (++count % membersPerStep === 0) yield;
    if (isWanted(step, value)) wanted.push(step);
  }
  return wanted;
}

function* setInSteps(self: boolean, steps: string[]): Generator<void, FieldSet | undefined> {
  yield;
  if (steps.length >= largeMin) return yield* leavesInSteps(self, steps);
  const leaves = steps.map(() => leaf);
  return makeNode(self, steps, leaves);
}

/** How a map or list has come to be what it is, where that was found. To be forgotten when it was used: it may be another after that. */
export function largeChange(before: unknown, after: Container, self: boolean): LeafChange | undefined {
  if (!isAnyMade) return undefined;
  const change = made[`${self}`].get(after);
  return change?.before === before ? change : undefined;
}

export const forgetLargeChange = (after: Container, self: boolean): void => void made[`${self}`].delete(after);

/**
 * The walk of a large value, a part at a time: what is not large by itself is walked before, so that the walk of the whole, which
 * takes one step, finds it done. What is wrong or unknown in a part is left to the walk of the whole, which knows its path.
 */
import type { TypeRow } from "../../wire/schema.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { isInOrder, orderedBefore } from "./large-maps.ts";
import { type Walk, WalkContext } from "./walk-context.ts";
import { insideOf, walkOfStruct } from "./walker.ts";

/** Values of a part that is walked at once. */
const partMax = 1_000;
/** Values that are walked before others have their turn. */
const valuesPerStep = 12_000;

/** What has been made of containers, by container. */
export type WalkedAhead = Map<unknown, Json>;

interface Open {
  readonly walk: Walk;
  readonly value: object;
  /** What the stored object has at the same place. */
  readonly previous: unknown;
  readonly depth: number;
}

/** Walks the parts of `value`, an object of the type. `previous`: the stored object, whose own parts are kept as they are. */
export function* walkAheadSteps(
  type: TypeRow,
  value: unknown,
  previous?: unknown,
  max = partMax,
): Generator<void, WalkedAhead> {
  const ahead: WalkedAhead = new Map();
  const open: Open[] = [];
  const push = (walk: Walk | undefined, part: unknown, before: unknown, depth: number): void => {
    if (walk === undefined || typeof part !== "object" || part === null) return;
    if (part !== before || !Object.isFrozen(part)) open.push({ walk, value: part, previous: before, depth });
  };
  push(walkOfStruct(type), value, previous, 0);
  let context = new WalkContext();
  const keep = (part: object, made: Json | undefined): void => {
    if (!context.isClean) context = new WalkContext();
    else if (made !== undefined && hasMembers(made)) ahead.set(part, made);
  };
  let spent = 0;
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (spent >= valuesPerStep) {
      spent = 0;
      yield;
    }
    const { walk, value: container, previous: before, depth } = part;
    const count = valuesWithin(container, max);
    spent += 1 + count;
    if (count <= max) {
      context.depth = depth;
      keep(container, walk(container, context, before));
      continue;
    }
    const inside = insideOf(walk);
    if (inside === undefined) continue;
    if (isInOrder(container)) {
      if (inside.fill === undefined) continue; // right as it stands
      const ordered = orderedBefore(container as JsonObject) as Record<string, Json> | undefined;
      if (ordered === undefined) continue;
      const names = Object.keys(ordered);
      for (let from = 0; from < names.length && context.isClean; from += valuesPerStep) {
        yield;
        inside.fill(ordered, names.slice(from, from + valuesPerStep), context);
      }
      keep(container, ordered);
      continue;
    }
    const within = depth + (inside.deepens ? 1 : 0);
    if (Array.isArray(container)) {
      const items = Array.isArray(before) ? (before as readonly unknown[]) : [];
      for (let at = 0; at < container.length; at++) push(inside.of(""), container[at], items[at], within);
    } else {
      const table = container as Readonly<Record<string, unknown>>;
      const members = before as Readonly<Record<string, unknown>> | null | undefined;
      for (const name of Object.keys(table)) push(inside.of(name), table[name], members?.[name], within);
    }
  }
  return ahead;
}

/** Members and items in a container, at any depth; of more than `max` some more than that. */
function valuesWithin(container: object, max: number): number {
  let count = 0;
  const open: object[] = [container];
  for (let next = open.pop(); next !== undefined && count <= max; next = open.pop()) {
    const isList = Array.isArray(next);
    const names = isList ? undefined : Object.keys(next);
    const length = names?.length ?? (next as readonly unknown[]).length;
    count += length;
    if (count > max) break;
    for (let at = 0; at < length; at++) {
      const value: unknown = isList
        ? (next as readonly unknown[])[at]
        : (next as Readonly<Record<string, unknown>>)[names?.[at] as string];
      if (typeof value === "object" && value !== null) open.push(value);
    }
  }
  return count;
}

const hasMembers = (made: Json): boolean =>
  typeof made === "object" && made !== null && (Array.isArray(made) ? made.length : Object.keys(made).length) > 0;

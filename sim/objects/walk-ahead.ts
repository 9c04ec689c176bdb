/**
 * The walk of a large value, a part at a time: what is not large by itself is walked before, so that the walk of the whole, which
 * takes one step, finds it done. What is wrong or unknown in a part is left to the walk of the whole, which knows its path.
 */
import { append } from "../../wire/lists.ts";
import type { TypeRow } from "../../wire/schema.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { isInOrder, orderedBefore } from "./large-maps.ts";
import { valueCountUpTo } from "./members.ts";
import { type Walk, WalkContext } from "./walk-context.ts";
import { insideOf, isEmpty, walkOfStruct } from "./walker.ts";

/** Values of a part that is walked at once. */
const partMax = 1_000;
/** Values that are walked before others have their turn. */
const valuesPerStep = 12_000;

/** What has been made of containers, by container. */
export type WalkedAhead = Map<unknown, Json>;

interface Part {
  readonly walk: Walk;
  readonly value: object;
  /** What the stored object has at the same place. */
  readonly previous: unknown;
  readonly depth: number;
}

/**
 * Walks the parts of `value`, an object of the type, that have at most `max` values. `previous`: the stored object, whose own parts are
 * kept as they are.
 */
export function* walkAheadSteps(
  type: TypeRow,
  value: unknown,
  previous?: unknown,
  max = partMax,
): Generator<void, WalkedAhead> {
  const ahead: WalkedAhead = new Map();
  const open = [...partOf(walkOfStruct(type), value, previous, 0)];
  let spent = 0;
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (spent >= valuesPerStep) {
      spent = 0;
      yield;
    }
    const count = valueCountUpTo(max, part.value);
    spent += 1 + count;
    const isSmall = count <= max;
    if (!isSmall && !isInOrder(part.value)) {
      append(open, partsWithin(part));
      continue;
    }
    const context = new WalkContext();
    context.depth = part.depth;
    const made = isSmall ? part.walk(part.value, context, part.previous) : yield* filledInSteps(part, context);
    if (context.isClean && made !== undefined && !isEmpty(made)) ahead.set(part.value, made);
  }
  return ahead;
}

/** A map in order, each of whose texts has been looked at. Undefined where none needs to be: it is right as it stands. */
function* filledInSteps({ walk, value }: Part, context: WalkContext): Generator<void, Json | undefined> {
  const fill = insideOf(walk)?.fill;
  const ordered = fill && (orderedBefore(value as JsonObject) as Record<string, Json> | undefined);
  if (fill === undefined || ordered === undefined) return undefined;
  const names = Object.keys(ordered);
  for (let from = 0; from < names.length && context.isClean; from += valuesPerStep) {
    yield;
    fill(ordered, names.slice(from, from + valuesPerStep), context);
  }
  return ordered;
}

/** What is in a container, where its walk is made from the type tables. */
function partsWithin({ walk, value, previous, depth }: Part): readonly Part[] {
  const inside = insideOf(walk);
  if (inside === undefined) return [];
  const within = depth + (inside.deepens ? 1 : 0);
  if (Array.isArray(value)) {
    const before = Array.isArray(previous) ? (previous as readonly unknown[]) : [];
    return (value as readonly unknown[]).flatMap((item, at) => partOf(inside.of(""), item, before[at], within));
  }
  const table = value as Readonly<Record<string, unknown>>;
  const before = previous as Readonly<Record<string, unknown>> | null | undefined;
  return Object.keys(table).flatMap((name) => partOf(inside.of(name), table[name], before?.[name], within));
}

/** A container that is to be walked, as a list of one. */
function partOf(walk: Walk | undefined, value: unknown, previous: unknown, depth: number): readonly Part[] {
  if (walk === undefined || typeof value !== "object" || value === null) return [];
  return value === previous && Object.isFrozen(value) ? [] : [{ walk, value, previous, depth }];
}

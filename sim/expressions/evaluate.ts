/**
 * From a checked tree to a function. What is evaluated pays for it, so that no expression runs longer than its budget.
 * Source: the published language definition (errors are swallowed by `&&` and `||` when the other side decides); the
 * published cost model.
 */
import type { Checked, CheckedLoop } from "./checked.ts";
import { isOfType, type Overload } from "./functions.ts";
import { textLength } from "./library/conversions.ts";
import { labour, labourMax } from "./labour.ts";
import { traversal } from "./library/function-row.ts";
import { entryOf } from "./library/operators.ts";
import type { CelType } from "./types.ts";
import { EvaluationError, exhausted, fail, noOverload } from "./failures.ts";
import { EntryMap, isList, isMap, none, Optional, type Value } from "./values.ts";

/**
 * What one evaluation may cost, and has. The cost model charges some calls one unit that read a text as long as a body:
 * what is really read and compared is counted beside it, at the model's own price for a walk, and may cost no more.
 */
export class Meter {
  private spent = 0;
  private steps = 0;
  private readonly costMax: number;
  private readonly pool: CostPool | undefined;

  constructor(costMax: number, pool?: CostPool) {
    this.costMax = costMax;
    this.pool = pool;
  }

  get cost(): number {
    return Math.max(this.spent, traversal(this.steps));
  }

  spend(cost: number): void {
    const before = this.pool === undefined ? 0 : this.cost;
    this.spent += cost;
    if (this.spent > this.costMax) exhausted();
    if (this.pool !== undefined) this.draw(this.pool, before);
  }

  /** `steps`: characters read, elements compared. */
  work(steps: number): void {
    const before = this.pool === undefined ? 0 : this.cost;
    this.steps += steps;
    if (this.steps > this.costMax * stepsPerCost) exhausted();
    if (this.pool !== undefined) this.draw(this.pool, before);
  }

  private draw(pool: CostPool, before: number): void {
    pool.left -= this.cost - before;
    if (pool.left < 0) exhausted();
  }
}

/** What several evaluations may cost together, also those that are begun within one another or broken off. */
export interface CostPool {
  left: number;
}

const stepsPerCost = 10;

export interface Frame {
  readonly slots: Value[];
  readonly meter: Meter;
}

export type Run = (frame: Frame) => Value;

export function plan(node: Checked): Run {
  switch (node.is) {
    case "constant": {
      const { value } = node;
      return () => value;
    }
    case "name":
      return planName(node.slot);
    case "select":
      return planSelect(node.of, node.field, node.optional);
    case "has":
      return planHas(node.of, node.field);
    case "and":
    case "or":
      return planLogic(node.left, node.right, node.is === "or");
    case "if": {
      const [condition, yes, no] = [plan(node.condition), plan(node.yes), plan(node.no)];
      return (frame) => (truth(condition(frame)) ? yes(frame) : no(frame));
    }
    case "call":
      return planCall(node.overloads, node.args);
    case "list":
      return planList(node.items);
    case "map":
      return planMap(node.entries);
    case "loop":
      return planLoop(node);
    default:
      return planOptional(node.of, node.slot, node.body, node.flat);
  }
}

const truth = (value: Value): boolean => (typeof value === "boolean" ? value : noOverload());

function planName(slot: number): Run {
  return ({ slots, meter }) => {
    meter.spend(1);
    return slots[slot] as Value;
  };
}

function planSelect(operand: Checked, field: string, optional: boolean): Run {
  const of = plan(operand);
  return (frame) => {
    const found = of(frame);
    frame.meter.spend(1);
    if (found instanceof Optional) return found.value === undefined ? none : optionalField(found.value, field);
    return optional ? optionalField(found, field) : entryOf(fieldsOf(found), field);
  };
}

const fieldsOf = (value: Value) => (isMap(value) ? value : noOverload());

function optionalField(of: Value, field: string): Optional {
  const value = fieldsOf(of).get(field);
  return value === undefined ? none : new Optional(value);
}

function planHas(operand: Checked, field: string): Run {
  const of = plan(operand);
  return (frame) => {
    const found = of(frame);
    frame.meter.spend(1);
    const value = found instanceof Optional ? found.value : found;
    return value !== undefined && fieldsOf(value).get(field) !== undefined;
  };
}

/** One side that decides is enough, whatever becomes of the other. */
function planLogic(first: Checked, second: Checked, decisive: boolean): Run {
  const [left, right] = [plan(first), plan(second)];
  return (frame) => {
    const one = attempt(left, frame);
    if (one === decisive) return decisive;
    const other = attempt(right, frame);
    if (other === decisive) return decisive;
    if (one instanceof EvaluationError) throw one;
    if (other instanceof EvaluationError) throw other;
    return !decisive;
  };
}

/** A truth, or why there is none. */
function attempt(run: Run, frame: Frame): boolean | EvaluationError {
  try {
    return truth(run(frame));
  } catch (error) {
    if (error instanceof EvaluationError && !error.fatal) return error;
    throw error;
  }
}

function planCall(overloads: readonly Overload[], args: readonly Checked[]): Run {
  const runs = args.map(plan);
  const [first] = overloads as readonly [Overload, ...Overload[]];
  const isCertain = overloads.length === 1 && args.every(({ type }) => isKnown(type));
  return (frame) => {
    const values = runs.map((run) => run(frame));
    const overload = isCertain ? first : overloads.find((each) => fits(each, values));
    if (overload === undefined) return noOverload();
    const { cost, growing, run, reads = charactersIn } = overload.row;
    const { meter } = frame;
    meter.spend(cost === undefined ? 1 : Math.max(1, cost(...values.map(sizeOf))));
    meter.work(reads(...values));
    labour.left = labourMax;
    const result = (run as (...values: readonly Value[]) => Value)(...values);
    meter.work(labourMax - labour.left);
    if (growing) frame.meter.spend(traversal(sizeOf(result)));
    return result;
  };
}

/** All that the texts among the arguments have. */
function charactersIn(...values: readonly Value[]): number {
  let count = 0;
  for (const value of values) if (typeof value === "string" || value instanceof Uint8Array) count += value.length;
  return count;
}

/** Whether checking has settled what a value is, so that nothing is left to find out. */
function isKnown(type: CelType): boolean {
  switch (type.is) {
    case "simple":
      return type.name !== "dyn" && type.nullable !== true;
    case "list":
    case "optional":
      return isKnown(type.of);
    case "map":
      return isKnown(type.key) && isKnown(type.value);
    default:
      return false;
  }
}

const fits = ({ params }: Overload, values: readonly Value[]): boolean =>
  params.every((param, at) => isOfType(values[at] as Value, param));

/** What the cost model counts; 1 for what has no size. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return textLength(value);
  if (isList(value) || value instanceof Uint8Array) return value.length;
  return typeof value === "object" && value !== null && isMap(value) ? value.size : 1;
}

export const listCost = 10;
export const mapCost = 30;

function planList(items: readonly Checked[]): Run {
  const runs = items.map(plan);
  return (frame) => {
    frame.meter.spend(listCost);
    return runs.map((run) => run(frame));
  };
}

function planMap(entries: readonly (readonly [Checked, Checked])[]): Run {
  const runs = entries.map(([key, value]) => [plan(key), plan(value)] as const);
  return (frame) => {
    frame.meter.spend(mapCost);
    const map = new EntryMap();
    for (const [key, value] of runs) {
      const name = key(frame);
      if (!map.add(name, value(frame))) return fail(`Failed with repeated key: ${String(name)}`);
    }
    return map;
  };
}

/** What a walk meets: the names' values, one tuple an element. */
function* steps(range: Value, nameCount: number): Generator<readonly Value[]> {
  if (isList(range)) {
    for (let at = 0; at < range.length; at++) {
      const item = range[at] as Value;
      yield nameCount === 1 ? [item] : [BigInt(at), item];
    }
  } else if (typeof range === "object" && range !== null && isMap(range)) {
    for (const key of range.keys()) yield nameCount === 1 ? [key] : [key, range.get(key) as Value];
  } else noOverload();
}

function planLoop(node: CheckedLoop): Run {
  const range = plan(node.range);
  const body = plan(node.body);
  const filter = node.filter === undefined ? undefined : plan(node.filter);
  const { kind, slots } = node;
  const stepCost = loopStepCosts[kind];
  function* walk(frame: Frame): Generator<boolean> {
    for (const values of steps(range(frame), slots.length)) {
      frame.meter.spend(stepCost);
      for (let at = 0; at < slots.length; at++) frame.slots[slots[at] as number] = values[at] as Value;
      if (filter === undefined || truth(filter(frame))) yield true;
    }
  }
  return (frame) => loops[kind](frame, walk(frame), body, slots);
}

/** What a step costs beside what it evaluates: the condition to go on, and adding to the result. */
export const loopStepCosts: Readonly<Record<CheckedLoop["kind"], number>> = {
  all: 3,
  exists: 4,
  existsOne: 2,
  map: 12,
  filter: 13,
  transformList: 12,
  transformMap: 12,
};

type LoopRun = (frame: Frame, walk: Iterable<boolean>, body: Run, slots: readonly number[]) => Value;

const loops: Readonly<Record<CheckedLoop["kind"], LoopRun>> = {
  all: (frame, walk, body) => quantify(frame, walk, body, false),
  exists: (frame, walk, body) => quantify(frame, walk, body, true),
  existsOne: (frame, walk, body) => {
    let count = 0;
    for (const _ of walk) if (truth(body(frame))) count++;
    return count === 1;
  },
  map: collect,
  transformList: collect,
  filter: (frame, walk, _body, [slot = 0]) => Array.from(walk, () => frame.slots[slot] as Value),
  transformMap: (frame, walk, body, [slot = 0]) => {
    const map = new EntryMap();
    for (const _ of walk) map.add(frame.slots[slot] as Value, body(frame));
    return map;
  },
};

function collect(frame: Frame, walk: Iterable<boolean>, body: Run): Value {
  return Array.from(walk, () => body(frame));
}

/** The first decisive element ends the walk; an error counts only when none is. */
function quantify(frame: Frame, walk: Iterable<boolean>, body: Run, decisive: boolean): Value {
  let failure: EvaluationError | undefined;
  for (const _ of walk) {
    const found = attempt(body, frame);
    if (found === decisive) return decisive;
    if (found instanceof EvaluationError) failure ??= found;
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function planOptional(operand: Checked, slot: number, inner: Checked, flat: boolean): Run {
  const of = plan(operand);
  const body = plan(inner);
  return (frame) => {
    const found = of(frame);
    if (!(found instanceof Optional)) return noOverload();
    if (found.value === undefined) return none;
    frame.slots[slot] = found.value;
    const result = body(frame);
    if (!flat) return new Optional(result);
    return result instanceof Optional ? result : noOverload();
  };
}

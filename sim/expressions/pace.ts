/**
 * Judgements by many expressions, each within its budget, can take minutes together. They are written as if they took no time:
 * where one has gone on for long enough it is broken off between two evaluations, and made again from its beginning later, with
 * what is known by then taken from memory.
 */
import type { CostPool } from "./evaluate.ts";

/** What a turn may cost before what goes on in it is broken off: with the one evaluation that goes beyond, a tenth of a second. */
export const turnCostMax = 200_000;

/** What beginning takes, however little it then costs. */
const beginCost = 30;

/** What is left of one turn, for all that is judged in it. */
export class TurnBudget {
  left = turnCostMax;

  /** Another turn has begun. */
  refill(): void {
    this.left = turnCostMax;
  }
}

/** Breaks off a judgement; nobody but its `Pace` may catch it. */
const paused = new Error("a judgement goes on later");

/** What costs something, and that another turn need not do again. */
interface Known {
  readonly value: unknown;
  /** What it has drawn from the pool, with all that was evaluated within it. */
  readonly drawn: number;
  /** What was asked of others within it. */
  readonly askedCount: number;
  /** Where what was begun after it begins. */
  readonly next: number;
}

let current: Pace | undefined;

/** From now on parts belong to this judgement; what they belonged to before. */
function enter(pace: Pace | undefined): Pace | undefined {
  const before = current;
  current = pace;
  return before;
}

/** How many questions have been asked in this turn, with those of what was taken from memory. */
export interface Asked {
  count: number;
}

/** One judgement, in as many turns as it takes. */
export class Pace {
  /** By the order in which they are begun, which is the same in each turn. */
  private readonly known: (Known | undefined)[] = [];
  private next = 0;
  private readonly budget: TurnBudget;
  private readonly asked: Asked;

  /** `asked`: where the judgement counts its questions, if it asks any; what need not be done again is not asked again. */
  constructor(budget: TurnBudget, asked: Asked = { count: 0 }) {
    this.budget = budget;
    this.asked = asked;
  }

  /**
   * Goes on with `judge`, which must do nothing but judge, and the same each time; throws what it throws. Undefined: it is to be called
   * again when others have had their turn, and the budget is another turn's.
   */
  turn<Result>(judge: () => Result): { readonly result: Result } | undefined {
    const outer = enter(this);
    this.next = 0;
    try {
      return { result: judge() };
    } catch (error) {
      if (error === paused) return undefined;
      throw error;
    } finally {
      enter(outer);
    }
  }

  spend(cost: number): void {
    if (this.budget.left <= 0) throw paused;
    this.budget.left -= cost + beginCost;
  }

  take<Value>(work: () => Value, costOf: (value: Value) => number, pool: CostPool | undefined): Value {
    const at = this.next++;
    const known = this.known[at];
    if (known !== undefined) {
      this.next = known.next;
      this.asked.count += known.askedCount;
      if (pool !== undefined) pool.left -= known.drawn;
      return known.value as Value;
    }
    if (this.budget.left <= 0) throw paused;
    const [before, askedBefore] = [pool?.left ?? 0, this.asked.count];
    const value = work();
    this.budget.left -= costOf(value) + beginCost;
    const drawn = before - (pool?.left ?? 0);
    this.known.fill(undefined, at + 1, this.next); // nobody comes to its parts again
    this.known[at] = { value, drawn, askedCount: this.asked.count - askedBefore, next: this.next };
    return value;
  }
}

/**
 * To be called before a part that is remembered elsewhere, in a table that many judgements fill: it may be broken off here, and
 * finds that part done when it comes again. `cost` is the part's.
 */
export function spend(cost: number): void {
  current?.spend(cost);
}

/**
 * Part of a judgement, after which it may be broken off; what `work` returns must not be changed by anybody. It may have such parts
 * itself, which are forgotten when it is done: what comes after it in another turn goes by it at once. What several parts use must not be made
 * by whichever of them comes first.
 */
export function paced<Value>(work: () => Value, costOf: (value: Value) => number, pool?: CostPool): Value {
  return current === undefined ? work() : current.take(work, costOf, pool);
}

/**
 * Asked once, however often the judgement is broken off: of a table that others may have filled by the next turn, which would then
 * skip parts that this judgement has begun; or of what takes long to be looked at.
 */
export const askedOnce = <Value>(ask: () => Value): Value => paced(ask, noCost);

/** Of a part that only holds others together, which have costs of their own. */
export const noCost = (): number => 0;

/** Items, members or steps: enough that what a part takes by being one is little beside what is done in it. */
const partLength = 64;

/** A long work part by part, each made when it is asked for. `make` is given the numbers of the part's first item and of the next part's. */
export function* pacedParts<Part>(
  count: number,
  make: (from: number, end: number) => Part,
  costOf: (part: Part, length: number) => number,
): Generator<Part, void> {
  for (let from = 0; from < count; from += partLength) {
    const end = Math.min(count, from + partLength);
    yield paced(
      () => make(from, end),
      (part) => costOf(part, end - from),
    );
  }
}

/** What `judge` comes to. Stops after each turn, which has a budget of its own. `judge` as for `Pace.turn`. */
export function* inTurns<Result>(judge: () => Result): Generator<void, Result> {
  const budget = new TurnBudget();
  const pace = new Pace(budget);
  for (;;) {
    const made = pace.turn(judge);
    if (made !== undefined) return made.result;
    yield;
    budget.refill();
  }
}

/**
 * What a controller has to look at: each thing once, however often it is added, and again when it was added while
 * somebody was at it. What did not work out is tried again, later each time.
 * Source: client-go, util/workqueue (the queue, and the default controllers' rate limiter for one item).
 */
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import { kept, within } from "./item-scope.ts";
import type { QueueCount } from "./queue-counts.ts";

/** `again`: it did not work out. */
export type Outcome = "done" | "again";

export interface WorkQueueOptions<Item> {
  readonly process: Process;
  /** Where it counts what it does. */
  readonly count: QueueCount;
  /** Calls `done` once, within the call or later. What it throws is this item's alone, also later: it is tried again. */
  readonly work: (item: Item, done: (outcome: Outcome) => void) => void;
  /** Items worked on before others have their turn, at least 1. Default 100. */
  readonly turnItemsMax?: number;
}

/** Between hearing of something and acting on it. */
const stepMicros: Micros = 10_000;
/** Between two turns while there is more to do: requests of others come in between. */
const turnMicros: Micros = 1_000;
/** Items of one turn, at most: in real time it ends when it has taken long enough, as where each item waits for a disk. */
const turnItemsMax = 100;
const retryMicrosMin: Micros = 5_000;
const retryMicrosMax: Micros = 1_000_000_000;

export class WorkQueue<Item> {
  private readonly options: WorkQueueOptions<Item>;
  /** Since when, each in the order of coming in. */
  private readonly waiting = new Map<Item, Micros>();
  private readonly busy = new Set<Item>();
  private readonly failures = new Map<Item, number>();
  private readonly delayed = new Map<Item, Cancel>();
  private isOpen = false;
  private planned = false;

  constructor(options: WorkQueueOptions<Item>) {
    this.options = options;
  }

  /** Nothing is worked on before. */
  open(): void {
    this.isOpen = true;
    this.plan(stepMicros);
  }

  add(item: Item): void {
    const { count, process } = this.options;
    if (!this.waiting.has(item)) {
      count.adds++;
      this.waiting.set(item, process.clock.nowMicros());
    }
    count.depth = this.waiting.size;
    this.plan(stepMicros);
  }

  /** Adds after a while; of several whiles for one item, the last holds. */
  addAfter(item: Item, micros: Micros): void {
    this.options.count.retries++;
    this.delayed.get(item)?.();
    const cancel = this.options.process.clock.after(micros, () => {
      this.delayed.delete(item);
      this.add(item);
    });
    this.delayed.set(item, cancel);
  }

  /** Adds after a while that doubles with every failure. */
  addLimited(item: Item): void {
    const failures = this.failures.get(item) ?? 0;
    this.failures.set(item, failures + 1);
    this.addAfter(item, Math.min(retryMicrosMin * (1 << Math.min(failures, 20)), retryMicrosMax));
  }

  /** It is of no interest any more. */
  drop(item: Item): void {
    this.waiting.delete(item);
    this.options.count.depth = this.waiting.size;
    this.failures.delete(item);
    this.delayed.get(item)?.();
    this.delayed.delete(item);
  }

  private plan(micros: Micros): void {
    if (this.planned || !this.isOpen || !this.isReady()) return;
    this.planned = true;
    this.options.process.clock.after(micros, () => {
      this.turn();
      this.planned = false;
      this.plan(turnMicros);
    });
  }

  /** What somebody is at has to wait for him. */
  private isReady(): boolean {
    for (const item of this.waiting.keys()) if (!this.busy.has(item)) return true;
    return false;
  }

  private turn(): void {
    const items: Item[] = [];
    const max = this.options.turnItemsMax ?? turnItemsMax;
    for (const item of this.waiting.keys()) {
      if (items.length === max) break;
      if (!this.busy.has(item)) items.push(item);
    }
    for (const item of items) {
      this.take(item);
      if (this.options.process.isTurnOver) break;
    }
  }

  private take(item: Item): void {
    const { count, process, work } = this.options;
    const start = process.clock.nowMicros();
    count.waited.observe((start - (this.waiting.get(item) ?? start)) / 1_000_000);
    this.waiting.delete(item);
    count.depth = this.waiting.size;
    this.busy.add(item);
    let isOver = false;
    const done = (outcome: Outcome): void => {
      if (isOver) return;
      isOver = true;
      count.worked.observe((process.clock.nowMicros() - start) / 1_000_000);
      this.busy.delete(item);
      if (outcome === "again") this.addLimited(item);
      else this.failures.delete(item);
      this.plan(stepMicros);
    };
    const failed = (error: unknown): void => {
      process.caught("item of a controller", error);
      done("again");
    };
    within(failed, () => work(item, done));
  }
}

/**
 * Begins `step(0)`, then `step(1)` and so on: each when the one before has called `next`, which it does once, at once or
 * later, or not at all where it was the last. However many answer at once, no stack grows, and others come in between.
 */
export function oneByOne(process: Process, step: (at: number, next: () => void) => void): void {
  let at = 0;
  const turn = (): void => {
    for (let count = 0; count < turnItemsMax && (count === 0 || !process.isTurnOver); count++) {
      let isWithin = true;
      let isNext = false;
      step(at++, () => {
        if (isWithin) isNext = true;
        else turn();
      });
      isWithin = false;
      if (!isNext) return;
    }
    process.clock.after(turnMicros, kept(turn));
  };
  turn();
}

/** Does `work` on every item, some at a time, and then is `finished`. `work` calls `done` once, at once or later. */
export function inTurns<Item>(
  process: Process,
  items: readonly Item[],
  work: (item: Item, done: () => void) => void,
  finished: () => void,
): void {
  let at = 0;
  const turn = (): void => {
    const end = Math.min(at + turnItemsMax, items.length);
    let open = 1;
    const ended = (): void => {
      if (--open > 0) return;
      if (at < items.length) process.clock.after(turnMicros, kept(turn));
      else finished();
    };
    while (at < end) {
      open++;
      work(items[at++] as Item, ended);
      if (process.isTurnOver) break;
    }
    ended();
  };
  turn();
}

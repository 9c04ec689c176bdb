/** What the work queues of one server's controllers have had to do, by their names. */
import { Histogram, queueSeconds } from "../contract/histogram.ts";

export interface QueueCount {
  /** Items that came in, each once while it waits. */
  adds: number;
  /** Items that were to come in later. */
  retries: number;
  /** Items that wait now. */
  depth: number;
  /** Seconds that items waited from when they came in until somebody was at them. */
  readonly waited: Histogram;
  /** Seconds that somebody was at an item. */
  readonly worked: Histogram;
}

export const newQueueCount = (): QueueCount => ({
  adds: 0,
  retries: 0,
  depth: 0,
  waited: new Histogram(queueSeconds),
  worked: new Histogram(queueSeconds),
});

export class QueueCounts {
  private readonly byName = new Map<string, QueueCount>();

  of(name: string): QueueCount {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const made = newQueueCount();
    this.byName.set(name, made);
    return made;
  }

  all(): ReadonlyMap<string, Readonly<QueueCount>> {
    return this.byName;
  }
}

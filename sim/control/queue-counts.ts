/** What the work queues of one server's controllers have had to do, by their names. */
export interface QueueCount {
  /** Items that came in, each once while it waits. */
  adds: number;
  /** Items that were to come in later. */
  retries: number;
  /** Items that wait now. */
  depth: number;
}

export class QueueCounts {
  private readonly byName = new Map<string, QueueCount>();

  of(name: string): QueueCount {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const made = { adds: 0, retries: 0, depth: 0 };
    this.byName.set(name, made);
    return made;
  }

  all(): ReadonlyMap<string, Readonly<QueueCount>> {
    return this.byName;
  }
}

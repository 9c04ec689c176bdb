/** Answers that are believed for a while; the oldest go when there are too many. */
import type { Micros } from "../../kernel/types.ts";

const entriesMax = 4096;

export class KeptAnswers<Value> {
  private readonly now: () => Micros;
  private readonly entries = new Map<string, { readonly value: Value; readonly untilMicros: Micros }>();

  constructor(now: () => Micros) {
    this.now = now;
  }

  /** Undefined: there is none that still holds. */
  get(key: string): { readonly value: Value } | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || this.now() < entry.untilMicros) return entry;
    this.entries.delete(key);
    return undefined;
  }

  keep(key: string, value: Value, forMicros: Micros): void {
    this.entries.delete(key);
    if (forMicros <= 0) return;
    this.entries.set(key, { value, untilMicros: this.now() + forMicros });
    if (this.entries.size <= entriesMax) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.entries.delete(oldest);
  }
}

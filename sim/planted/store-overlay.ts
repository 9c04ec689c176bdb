/** What planted bugs of a store make of its answers: keys that are hidden though they are there, and others that are shown though they are not. */
import type { KeyValue, RangeResult, RevisionProblem } from "../store/types.ts";

export class StoreOverlay {
  private readonly hidden = new Set<string>();
  private readonly raised = new Map<string, KeyValue>();

  hide(key: string): void {
    this.hidden.add(key);
  }

  raise(item: KeyValue): void {
    this.raised.set(item.key, item);
  }

  /** A write of a key ends what was wrong with it. */
  written(key: string): void {
    this.hidden.delete(key);
    this.raised.delete(key);
  }

  get(key: string, found: KeyValue | undefined | RevisionProblem): KeyValue | undefined | RevisionProblem {
    if (this.hidden.has(key)) return undefined;
    return found ?? this.raised.get(key);
  }

  range(start: string, end: string, found: RangeResult): RangeResult {
    const shown = found.items.filter(({ key }) => !this.hidden.has(key));
    for (const item of this.raised.values()) {
      const isInside = item.key >= start && (end === "" || item.key < end);
      if (isInside && !shown.some(({ key }) => key === item.key)) shown.push(item);
    }
    shown.sort((one, other) => (one.key < other.key ? -1 : 1));
    return { ...found, items: shown };
  }
}

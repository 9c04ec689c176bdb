/**
 * The past events of one resource that a watch can still start from.
 *
 * `window` keeps what is younger than the history window, as the documents say of the persistence layer.
 * `ring` keeps the newest 100 to 102,400: it grows while it would otherwise lose events younger than 75 s, shrinks
 * when a quarter of it is older, and loses nothing before it is full.
 * Source: document 1, Limits; the facts, D5, and kubernetes/apiserver, storage/cacher/watch_cache.go, resizeCacheLocked.
 */
import type { Micros } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";

const RING_CAPACITY_MIN = 100;
const RING_CAPACITY_MAX = 102_400;
const RING_FRESH_MICROS = 75_000_000;

export type Retention = { readonly kind: "window"; readonly windowMicros: Micros } | { readonly kind: "ring" };

export class EventHistory {
  private readonly retention: Retention;
  /** Oldest first; those before `first` are dropped and only wait to be cut off. */
  private events: StoreEvent[] = [];
  private times: Micros[] = [];
  private first = 0;
  private capacity = RING_CAPACITY_MIN;
  private lastDropped: number;
  private hasDropped = false;

  /** Nothing at or before `startRevision` was ever kept. */
  constructor(retention: Retention, startRevision: number) {
    this.retention = retention;
    this.lastDropped = startRevision;
  }

  /** How many events there is room for; undefined where their age alone decides. */
  get eventsMax(): number | undefined {
    return this.retention.kind === "ring" ? this.capacity : undefined;
  }

  get size(): number {
    return this.events.length - this.first;
  }

  append(event: StoreEvent, now: Micros): void {
    if (this.retention.kind === "ring") this.makeRoom(now);
    this.events.push(event);
    this.times.push(now);
    this.dropOld(now);
  }

  /**
   * All events after the revision returned can be had, and after any later one. A ring that lost events starts
   * just before its oldest, though nothing may lie in between: so does the real one.
   */
  oldestStart(now: Micros): number {
    this.dropOld(now);
    const oldest = this.events[this.first];
    return this.retention.kind === "ring" && this.hasDropped && oldest !== undefined
      ? oldest.revision - 1
      : this.lastDropped;
  }

  /** Drops all events; watches can start from `revision`, the last that has arrived, and later. */
  forget(revision: number): void {
    this.events = [];
    this.times = [];
    this.first = 0;
    this.lastDropped = revision;
  }

  /** Drops the events up to `revision`. */
  forgetThrough(revision: number): void {
    while (this.size > 0 && (this.events[this.first] as StoreEvent).revision <= revision) this.dropFirst();
  }

  /** Whether no event after `revision` has been dropped. */
  keepsAfter(revision: number, now: Micros): boolean {
    this.dropOld(now);
    return this.lastDropped <= revision;
  }

  /** Events with revision > `revision`, oldest first; `max` of them at most. */
  after(revision: number, max = Infinity): readonly StoreEvent[] {
    let low = this.first;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle] as StoreEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low === this.events.length ? [] : this.events.slice(low, Math.min(this.events.length, low + max));
  }

  private makeRoom(now: Micros): void {
    if (this.size < this.capacity) return;
    const age = (index: number): Micros => now - (this.times[index] as Micros);
    if (age(this.first) < RING_FRESH_MICROS) {
      this.capacity = Math.min(this.capacity * 2, RING_CAPACITY_MAX);
    } else if (age(this.events.length - this.capacity / 4) > RING_FRESH_MICROS) {
      this.capacity = Math.max(this.capacity >> 1, RING_CAPACITY_MIN);
    }
    while (this.size >= this.capacity) this.dropFirst();
  }

  private dropOld(now: Micros): void {
    if (this.retention.kind !== "window") return;
    const { windowMicros } = this.retention;
    while (this.size > 0 && now - (this.times[this.first] as Micros) > windowMicros) this.dropFirst();
  }

  private dropFirst(): void {
    this.lastDropped = (this.events[this.first] as StoreEvent).revision;
    this.hasDropped = true;
    this.first++;
    if (this.first < 64 || this.first * 2 < this.events.length) return;
    this.events = this.events.slice(this.first);
    this.times = this.times.slice(this.first);
    this.first = 0;
  }
}

/**
 * Who watches a resource, arranged so that an event reaches those whom it may concern without asking the others:
 * by namespace, and by one field that a selector fixes (an object's name; the node of a pod, which is how
 * thousands of agents each see their own pods).
 */
import type { Cancel } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";
import type { ApiError } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { Delivery, TellingTurn } from "./delivery.ts";

/** The value of `field` that an object must have before or after a change for a watcher to care. */
export interface Trigger {
  readonly field: string;
  readonly value: string;
  readonly read: (object: JsonObject) => string;
}

export interface Listener {
  /** "" for all namespaces. */
  readonly namespace: string;
  readonly trigger: Trigger | undefined;
  hear(delivery: Delivery): void;
  /** Something happened that it cannot be told: an event with `error`, if there is one, and the end. */
  lose(error: ApiError | undefined): void;
}

/** The watchers of one namespace, or of all. */
class Circle {
  readonly open = new Set<Listener>();
  readonly triggered = new Map<
    string,
    { readonly read: Trigger["read"]; readonly byValue: Map<string, Set<Listener>> }
  >();

  get isEmpty(): boolean {
    return this.open.size === 0 && this.triggered.size === 0;
  }

  add(listener: Listener): void {
    const { trigger } = listener;
    if (trigger === undefined) {
      this.open.add(listener);
      return;
    }
    const { field, value, read } = trigger;
    const row = this.triggered.get(field) ?? { read, byValue: new Map<string, Set<Listener>>() };
    const set = row.byValue.get(value) ?? new Set<Listener>();
    this.triggered.set(field, row);
    row.byValue.set(value, set.add(listener));
  }

  remove(listener: Listener): void {
    const { trigger } = listener;
    if (trigger === undefined) {
      this.open.delete(listener);
      return;
    }
    const row = this.triggered.get(trigger.field);
    const set = row?.byValue.get(trigger.value);
    set?.delete(listener);
    if (set?.size === 0) row?.byValue.delete(trigger.value);
    if (row?.byValue.size === 0) this.triggered.delete(trigger.field);
  }

  all(): readonly Listener[] {
    const rows = [...this.triggered.values()].flatMap(({ byValue }) => [...byValue.values()]);
    return [...this.open, ...rows.flatMap((listeners) => [...listeners])];
  }

  tell(delivery: Delivery): void {
    for (const listener of this.open) listener.hear(delivery);
    const value = delivery.event.value as JsonObject | undefined;
    const previous = delivery.event.previous as JsonObject | undefined;
    for (const { read, byValue } of this.triggered.values()) {
      const now = value === undefined ? undefined : read(value);
      const before = previous === undefined ? undefined : read(previous);
      if (now !== undefined) tellAll(byValue.get(now), delivery);
      if (before !== undefined && before !== now) tellAll(byValue.get(before), delivery);
    }
  }
}

export class Audience {
  /** Namespaces by their own name; "" for the watchers of all of them. */
  private readonly circles = new Map<string, Circle>();
  private listenerCount = 0;
  readonly turn = new TellingTurn();
  /** Events that some are still to be told, and those that came meanwhile, which they are told next. */
  private readonly shared = new Map<StoreEvent, Delivery>();
  /** Watches that were ended because their clients did not read. */
  endedForSlowness = 0;
  /** Those that wait for their readers. */
  waitingCount = 0;
  private readonly prefix: string;

  /** `prefix` of the resource's keys. */
  constructor(prefix: string) {
    this.prefix = prefix;
  }

  get size(): number {
    return this.listenerCount;
  }

  add(listener: Listener): Cancel {
    const { namespace } = listener;
    const circle = this.circles.get(namespace) ?? new Circle();
    this.circles.set(namespace, circle);
    circle.add(listener);
    this.listenerCount++;
    let present = true;
    return () => {
      if (!present) return;
      present = false;
      this.listenerCount--;
      circle.remove(listener);
      if (circle.isEmpty && this.circles.get(namespace) === circle) this.circles.delete(namespace);
    };
  }

  /** Ends every watch. */
  lose(error: ApiError | undefined): void {
    for (const circle of [...this.circles.values()]) for (const listener of circle.all()) listener.lose(error);
  }

  /** Those of all namespaces first, then those of the event's own; each in the order in which they came. */
  tell(event: StoreEvent): void {
    if (this.listenerCount === 0) return;
    const delivery = new Delivery(event, this.turn, () => this.forgetTold());
    this.circles.get("")?.tell(delivery);
    const slash = event.key.lastIndexOf("/");
    // Else it is cluster-scoped.
    if (slash >= this.prefix.length) this.circles.get(event.key.slice(this.prefix.length, slash))?.tell(delivery);
    if (delivery.isWaitedFor || this.shared.size > 0) this.share(delivery);
  }

  /** For whoever is behind: with what others have made of it, where it was told of late. */
  deliveryOf(event: StoreEvent): Delivery {
    return this.shared.get(event) ?? new Delivery(event, this.turn);
  }

  private share(delivery: Delivery): void {
    this.shared.set(delivery.event, delivery);
    let bytes = 0;
    for (const { bytesWritten } of this.shared.values()) bytes += bytesWritten;
    for (const [event, { bytesWritten }] of this.shared) {
      if (bytes <= SHARED_BYTES_MAX && this.shared.size <= SHARED_MAX) return;
      this.shared.delete(event);
      bytes -= bytesWritten;
    }
  }

  private forgetTold(): void {
    for (const { isWaitedFor } of this.shared.values()) if (isWaitedFor) return;
    this.shared.clear();
  }
}

const SHARED_MAX = 500;
/** What is not shared any more is written again for each who is behind. */
const SHARED_BYTES_MAX = 64 * 1024 * 1024;

function tellAll(listeners: ReadonlySet<Listener> | undefined, delivery: Delivery): void {
  if (listeners !== undefined) for (const listener of listeners) listener.hear(delivery);
}

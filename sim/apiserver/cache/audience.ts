/**
 * Who watches a resource, arranged so that an event reaches those whom it may concern without asking the others:
 * by namespace, and by one field that a selector fixes (an object's name; the node of a pod, which is how
 * thousands of agents each see their own pods).
 */
import type { Cancel, Clock, Micros } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";
import type { ApiError } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";

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

interface Made {
  readonly maker: object;
  readonly what: string;
  readonly result: object;
}

/** Watchers that wait for what `maker` makes for `what`. */
interface PutOff {
  readonly maker: object;
  readonly what: string;
  readonly resumes: (() => void)[];
}

/** Until the next turn: the least time that lets sockets speak in between. */
const TURN_MICROS: Micros = 1;

/** One event is written in as many forms as are watched: so much of it at once, some milliseconds' work. */
const TURN_BYTES = 128 * 1024;

/** One event on its way out. What watchers make of it is kept here while it is told, so that they share it. */
export class Delivery {
  readonly event: StoreEvent;
  private readonly made: Made[] = [];
  /** Who asks mostly wants what the one before wanted. */
  private last: Made | undefined;
  /** Written in this turn of what nobody had asked for before. */
  private bytesWritten = 0;
  private readonly putOffs: PutOff[] = [];
  private hasTurn = false;
  private readonly whenAllTold: () => void;

  /** `whenAllTold` is called when nobody waits for another turn any more, if somebody did. */
  constructor(event: StoreEvent, whenAllTold: () => void = () => {}) {
    this.event = event;
    this.whenAllTold = whenAllTold;
  }

  /** What this `maker` has made for `what`. Asked by every watcher for every event: nothing is made to ask. */
  known<Result extends object>(maker: object, what: string): Result | undefined {
    const { last } = this;
    if (last !== undefined && last.maker === maker && last.what === what) return last.result as Result;
    for (const entry of this.made) {
      if (entry.maker !== maker || entry.what !== what) continue;
      this.last = entry;
      return entry.result as Result;
    }
    return undefined;
  }

  keep<Result extends object>(maker: object, what: string, result: Result): Result {
    this.last = { maker, what, result };
    this.made.push(this.last);
    return result;
  }

  /** Whether what nobody has asked for yet is to wait for another turn. */
  get isTurnOver(): boolean {
    return this.bytesWritten >= TURN_BYTES;
  }

  /** What has been made was written, in so many bytes. */
  wrote(bytes: number): void {
    this.bytesWritten += bytes;
  }

  get hasPutOff(): boolean {
    return this.putOffs.length > 0;
  }

  /** For a turn of its own, with all others that want the same. */
  putOff(clock: Clock, maker: object, what: string, resume: () => void): void {
    const known = this.putOffs.find((each) => each.maker === maker && each.what === what);
    if (known !== undefined) known.resumes.push(resume);
    else this.putOffs.push({ maker, what, resumes: [resume] });
    if (!this.hasTurn) this.planTurn(clock);
  }

  private planTurn(clock: Clock): void {
    this.hasTurn = true;
    clock.after(TURN_MICROS, () => {
      this.bytesWritten = 0;
      for (const resume of this.putOffs.shift()?.resumes ?? []) resume();
      this.hasTurn = this.hasPutOff;
      if (this.hasTurn) this.planTurn(clock);
      else this.whenAllTold();
    });
  }
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
  /** Events that some are still to be told, and those that came meanwhile, which they are told next: the last few. */
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
    const delivery = new Delivery(event, () => this.forgetTold());
    this.circles.get("")?.tell(delivery);
    const slash = event.key.lastIndexOf("/");
    // Else it is cluster-scoped.
    if (slash >= this.prefix.length) this.circles.get(event.key.slice(this.prefix.length, slash))?.tell(delivery);
    if (delivery.hasPutOff || this.shared.size > 0) this.share(delivery);
  }

  /** For whoever is behind: with what others have made of it, where it was told of late. */
  deliveryOf(event: StoreEvent): Delivery {
    return this.shared.get(event) ?? new Delivery(event);
  }

  private share(delivery: Delivery): void {
    this.shared.set(delivery.event, delivery);
    const [oldest] = this.shared.keys();
    if (this.shared.size > SHARED_MAX && oldest !== undefined) this.shared.delete(oldest);
  }

  private forgetTold(): void {
    for (const delivery of this.shared.values()) if (delivery.hasPutOff) return;
    this.shared.clear();
  }
}

/** Each holds all forms of one object. */
const SHARED_MAX = 3;

function tellAll(listeners: ReadonlySet<Listener> | undefined, delivery: Delivery): void {
  if (listeners !== undefined) for (const listener of listeners) listener.hear(delivery);
}

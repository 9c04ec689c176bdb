/**
 * One open watch: initial state, then past events, then events as they arrive, each once and in order; bookmarks
 * in between; the end at its deadline, or when its reader does not read.
 */
import type { Cancel, Clock, Micros } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";
import type { Listener, Trigger } from "../cache/audience.ts";
import { type Delivery, type TellingTurn, TURN_MICROS } from "../cache/delivery.ts";
import { type ApiError, expired } from "../../contract/errors.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { bookmarkObject, initialEventsEnd, nextBookmarkAt } from "./bookmark.ts";
import type { Selection } from "./selection.ts";
import type { WatchEventType, WatchRequest, WatchSink } from "./types.ts";
import type { WatchPlan } from "./watch-plan.ts";

const BACKLOG_BYTES_MAX_DEFAULT = 16 * 1024 * 1024;

/** Unread, beyond which a watch waits for its reader: what it has not told yet costs nothing. */
const UNREAD_BYTES_MAX = 512 * 1024;

/** A reader that has taken nothing for so long has gone, whatever its connection says. */
const READER_MICROS_MAX: Micros = 60_000_000;

/** Events told in one turn before others have theirs. */
const EVENTS_PER_TURN_MAX = 250;

/** Telling one watch of what has been written, and one term of its selector, take as long as writing so much. */
const TOLD_BYTES = 512;
const TERM_BYTES = 3;

/** So much of a long event is as much work as another. */
const EVENT_BYTES = 4096;

/** Without `timeoutSeconds`: somewhere in [half an hour, an hour). */
const TIMEOUT_MICROS_MIN: Micros = 1_800_000_000;
const TIMEOUT_MICROS_MAX: Micros = 3_599_999_999;

/** Longer than any run. */
const TIMEOUT_SECONDS_MAX = 1_000_000_000;

const nothing: Cancel = () => {};

export class Watcher implements Listener {
  readonly namespace: string;
  readonly trigger: Trigger | undefined;
  private readonly plan: WatchPlan;
  // What every event is asked about lies here, not behind the plan: with many watches each step there is a miss.
  private readonly single: boolean;
  private readonly firstKey: string;
  private readonly matches: Selection["matches"];
  private readonly encoder: WatchRequest["encoder"];
  private readonly sink: WatchSink;
  /** A socket, whose server has others to hear. */
  private readonly isPaced: boolean;
  private readonly clock: Clock;
  private readonly turn: TellingTurn;
  /** What one event takes, beside what is written of it. */
  private readonly costBytes: number;
  private readonly startRevision: number;
  private readonly deadline: Micros;
  private readonly backlogBytesMax: number;
  /** Revision of the last change seen, told or not: what is at or before it is not told again. */
  private position: number;
  /** Busy with the past, at its reader's pace: what arrives meanwhile is found there. */
  private catchingUp = true;
  /** The state to begin with, how much of it has been told, and whether a bookmark is owed after it. */
  private initial: readonly JsonObject[] = [];
  private initialTold = 0;
  private owesMark = false;
  /** Said to be unread when something was last sent. */
  private unreadBytes = 0;
  private waiting = false;
  /** Events, or what costs as much, before others have their turn. */
  private turnLeft = 0;
  private cancelTurn = nothing;
  private ended = false;
  private leaveAudience = nothing;
  private cancelBookmark = nothing;
  private cancelDeadline = nothing;

  constructor(plan: WatchPlan, startRevision: number) {
    const { request, target, context } = plan;
    this.plan = plan;
    this.namespace = target.namespaced ? request.namespace : "";
    this.trigger = plan.selection.trigger;
    this.single = plan.selection.single;
    this.firstKey = plan.selection.start;
    this.matches = plan.selection.matches;
    this.encoder = request.encoder;
    this.sink = plan.sink;
    this.isPaced = plan.sink.whenTaken !== undefined;
    this.clock = context.process.clock;
    this.turn = plan.source.audience.turn;
    this.costBytes = TOLD_BYTES + TERM_BYTES * plan.selection.termCount;
    this.startRevision = startRevision;
    this.position = startRevision;
    this.backlogBytesMax = request.backlogBytesMax ?? BACKLOG_BYTES_MAX_DEFAULT;
    this.deadline = context.process.clock.nowMicros() + this.lengthMicros();
  }

  /** `initial` is shared, and not changed by anybody. `marked` true: a bookmark says when the initial state is over. */
  start(initial: readonly JsonObject[], marked: boolean): void {
    const { context, source, sink } = this.plan;
    const { clock } = context.process;
    this.leaveAudience = source.audience.add(this);
    this.cancelDeadline = clock.after(this.deadline - clock.nowMicros(), () => this.close());
    this.planBookmark();
    sink.open();
    this.initial = initial;
    this.owesMark = marked;
    this.catchUp();
  }

  /** A bug in telling it ends this watch alone: its client begins anew. */
  hear(delivery: Delivery): void {
    if (this.catchingUp) return;
    try {
      this.tell(delivery);
    } catch (error) {
      this.broke(error);
    }
  }

  lose(error: ApiError | undefined): void {
    if (error !== undefined && !this.ended) this.send(this.plan.request.encoder.event("ERROR", error.status));
    if (!this.ended) this.close();
  }

  /** The client went away, or the stream is over. Nothing is told any more. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.leaveAudience();
    this.cancelBookmark();
    this.cancelDeadline();
    this.cancelTurn();
    this.setWaiting(false);
    this.initial = [];
  }

  private lengthMicros(): Micros {
    const { context, request } = this.plan;
    const { timeoutSeconds = 0 } = request.options;
    if (timeoutSeconds !== 0) return Math.min(Math.max(0, timeoutSeconds), TIMEOUT_SECONDS_MAX) * 1_000_000;
    return context.frontEnd.watchPrng.intInclusive(TIMEOUT_MICROS_MIN, TIMEOUT_MICROS_MAX);
  }

  /**
   * Tells the state, the mark at its end, and what has happened since, until nothing is left: all at once, or, where a
   * reader has to keep up, a turn at a time. A sink may write, and so make events meanwhile.
   */
  private catchUp(): void {
    const { source } = this.plan;
    this.turnLeft = EVENTS_PER_TURN_MAX;
    while (this.initialTold < this.initial.length) {
      if (this.ended || this.mustWait()) return;
      this.tellInitial(this.initial[this.initialTold++] as JsonObject);
    }
    if (this.owesMark && !this.ended) this.tellInitialEnd();
    this.owesMark = false;
    this.initial = [];
    this.initialTold = 0;
    for (let told = true; told; ) {
      told = false;
      if (this.ended) return;
      if (!source.keepsAfter(this.position)) {
        this.loseHistory();
        return;
      }
      for (const event of source.eventsAfter(this.position, EVENTS_PER_TURN_MAX)) {
        if (this.ended || this.mustWait()) return;
        this.tell(source.audience.deliveryOf(event));
        if (this.position < event.revision) return; // put off
        told = true;
      }
    }
    this.catchingUp = false;
  }

  /** For its reader, or for others to have their turn; it goes on by itself. */
  private mustWait(): boolean {
    if (this.sink.whenTaken === undefined) return false;
    if (this.unreadBytes > UNREAD_BYTES_MAX) {
      this.waitForReader();
      return true;
    }
    if (this.turnLeft-- > 0) return false;
    this.goOnLater();
    return true;
  }

  private goOnLater(): void {
    this.cancelTurn = this.plan.context.process.clock.after(TURN_MICROS, () => this.goOn());
  }

  private waitForReader(): void {
    this.catchingUp = true;
    this.setWaiting(true);
    this.cancelTurn = this.plan.context.process.clock.after(READER_MICROS_MAX, () => this.loseReader());
    this.sink.whenTaken?.(() => {
      this.cancelTurn();
      this.setWaiting(false);
      this.unreadBytes = 0;
      this.goOnLater(); // a hundred readers may take what they were sent at one moment
    });
  }

  private setWaiting(isWaiting: boolean): void {
    if (isWaiting === this.waiting) return;
    this.waiting = isWaiting;
    this.plan.source.audience.waitingCount += isWaiting ? 1 : -1;
  }

  private goOn(): void {
    if (this.ended) return;
    try {
      this.catchUp();
    } catch (error) {
      this.broke(error);
    }
  }

  private broke(error: unknown): void {
    this.plan.context.process.caught("watch", error);
    if (!this.ended) this.close();
  }

  /** It has read so slowly that what it should be told next is forgotten. */
  private loseHistory(): void {
    const { source } = this.plan;
    source.audience.endedForSlowness++;
    this.lose(expired(`too old resource version: ${this.position} (${source.oldestStart()})`));
  }

  private loseReader(): void {
    this.plan.source.audience.endedForSlowness++;
    if (!this.ended) this.close();
  }

  private tellInitial(object: JsonObject): void {
    const { matches, encoder } = this;
    if (matches !== undefined && !matches(object)) return;
    this.send(encoder.initial?.(object) ?? encoder.event("ADDED", object));
  }

  private tellInitialEnd(): void {
    const { request, context, target } = this.plan;
    if (!request.options.allowWatchBookmarks || this.ended) return;
    this.sendBookmark(this.startRevision, initialEventsEnd(context.profile, target, request.encoder));
  }

  private tell(delivery: Delivery): void {
    const { event } = delivery;
    if (event.revision <= this.position || this.ended) return;
    if (this.single ? event.key !== this.firstKey : !event.key.startsWith(this.firstKey)) {
      this.position = event.revision;
      return;
    }
    if (this.isPaced) {
      const nowMicros = this.clock.nowMicros();
      if (this.turn.isOver(nowMicros)) {
        this.putOff(delivery);
        return;
      }
      this.turn.spend(nowMicros, this.costBytes);
    }
    this.position = event.revision;
    const type = changeSeen(event, this.matches);
    if (type === undefined) return;
    const { encoder } = this;
    const known = delivery.known<Payload>(encoder, type);
    if (known !== undefined) {
      this.send(known);
      return;
    }
    const made = delivery.keep(encoder, type, encoder.event(type, this.objectOf(type, delivery)));
    this.send(made);
    delivery.wrote(this.clock.nowMicros(), made.sizeBytes ?? 0);
  }

  /** Until it is told this, it hears of nothing else. */
  private putOff(delivery: Delivery): void {
    this.catchingUp = true;
    delivery.putOff(this.clock, () => {
      if (this.ended) return;
      try {
        this.tell(delivery);
        if (this.position >= delivery.event.revision) this.catchUp();
      } catch (error) {
        this.broke(error);
      }
    });
  }

  private objectOf(type: WatchEventType, delivery: Delivery): JsonObject {
    const { value, previous, revision } = delivery.event;
    if (type !== "DELETED") return value as JsonObject;
    const last = previous as JsonObject;
    return delivery.known<JsonObject>(last, "deleted") ?? delivery.keep(last, "deleted", atRevision(last, revision));
  }

  private planBookmark(): void {
    const { request, source, context } = this.plan;
    if (!request.options.allowWatchBookmarks || !source.cached) return;
    const { clock } = context.process;
    const now = clock.nowMicros();
    const due = nextBookmarkAt(now, this.deadline);
    if (due === undefined) return;
    this.cancelBookmark = clock.after(due - now, () => {
      // Nothing happened since the start: nothing to say. Nor may it say that all is told while it is not.
      if (source.applied > this.startRevision && !this.catchingUp) this.sendBookmark(source.applied);
      if (!this.ended) this.planBookmark();
    });
  }

  private sendBookmark(revision: number, annotations?: Readonly<Record<string, string>>): void {
    const { context, target, request } = this.plan;
    const object = bookmarkObject(context.profile, target, revision, annotations);
    this.send(request.encoder.event("BOOKMARK", object));
  }

  private send(payload: Payload): void {
    this.unreadBytes = this.sink.event(payload);
    this.turnLeft -= (payload.extraWeight ?? 0) + Math.floor((payload.sizeBytes ?? 0) / EVENT_BYTES);
    if (this.ended) return;
    if (this.sink.whenTaken !== undefined) {
      if (this.unreadBytes > UNREAD_BYTES_MAX && !this.catchingUp) this.waitForReader();
    } else if (this.unreadBytes > this.backlogBytesMax) {
      this.plan.source.audience.endedForSlowness++;
      this.close();
    }
  }

  private close(): void {
    this.end();
    this.plan.sink.close();
  }
}

/** What a change is to a watch with a selector; undefined when it concerns neither what it showed nor what it shows. */
export function changeSeen(
  event: StoreEvent,
  matches: ((object: JsonObject) => boolean) | undefined,
): WatchEventType | undefined {
  const { value, previous } = event;
  const now = value !== undefined && (matches === undefined || matches(value as JsonObject));
  const before = previous !== undefined && (matches === undefined || matches(previous as JsonObject));
  if (now) return before ? "MODIFIED" : "ADDED";
  return before ? "DELETED" : undefined;
}

/** The last state of what is gone, at the version at which it went. */
export function atRevision(object: JsonObject, revision: number): JsonObject {
  const metadata = { ...(object["metadata"] as JsonObject), resourceVersion: String(revision) };
  return Object.freeze({ ...object, metadata: Object.freeze(metadata) });
}

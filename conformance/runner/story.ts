/**
 * The story that the watch checks are told in many ways: a log watch is open before the first write, writers run at
 * the same time, and a fence tells the end. Everything is recorded; judges come afterwards.
 */
import { append } from "../../wire/lists.ts";
import type { WriteStep } from "../model/write-step.ts";
import { mediaTypeOf, type Query } from "../client/client.ts";
import type { Collection } from "../client/collection.ts";
import type { ApiList, ApiObject, WatchEvent } from "../client/types.ts";
import type { WatchStream } from "../client/watch-stream.ts";
import { isApiObject } from "../client/types.ts";
import type { LogEvent } from "../model/history.ts";
import { logOf } from "../model/history.ts";
import { type State, stateOf } from "../model/replay.ts";
import type { Attempt } from "./attempt.ts";
import { type Performance, performAll } from "./perform.ts";

export interface Story extends Performance {
  readonly collection: Collection;
  /** The list from whose version the log was watched. */
  readonly before: ApiList;
  readonly base: State;
  /** Raw events of the log's stream up to the fence, and the changes of our own objects among them. */
  readonly events: readonly WatchEvent[];
  readonly log: readonly LogEvent[];
  /** Of the log's stream. */
  readonly mediaType: string;
  readonly fence: ApiObject;
}

/** `meanwhile` is started with the writers and runs beside them; other watches are opened there. */
export async function tellStory(
  attempt: Attempt,
  writers: readonly (readonly WriteStep[])[],
  options: {
    readonly fenceLabels?: Readonly<Record<string, string>>;
    readonly meanwhile?: (collection: Collection, before: ApiList) => Promise<void>;
  } = {},
): Promise<Story> {
  const collection = await attempt.target.collection("configmaps");
  const before = await collection.readList();
  const watch = await attempt.openWatch(collection, { resourceVersion: before.resourceVersion });
  const [performance] = await Promise.all([
    performAll(collection, writers),
    options.meanwhile?.(collection, before) ?? Promise.resolve(),
  ]);
  const fence = await attempt.fence(collection, options.fenceLabels);
  const events = await attempt.untilFence(watch, fence);
  watch.close();
  const base = stateOf(attempt.target.own(collection, before.items));
  const log = ownLog(attempt, collection, events);
  return { ...performance, collection, before, base, events, log, mediaType: mediaTypeOf(watch.headers), fence };
}

/** The changes of the attempt's own objects. */
export function ownLog(attempt: Attempt, collection: Collection, events: readonly WatchEvent[]): LogEvent[] {
  return logOf(events).filter((event) => attempt.target.isOwn(collection, event.object));
}

/**
 * A watch that is cut after every few events and resumed from the version last seen, until a fence. `cutAfter` gives
 * the number of events after which each connection in turn is cut; the last one is left alone.
 */
export class ResumingWatch {
  readonly events: WatchEvent[] = [];
  readonly resumedFrom: string[] = [];
  /** The last connection. */
  latest: WatchStream | undefined;
  private readonly attempt: Attempt;
  private readonly collection: Collection;
  private readonly query: Query;
  private version: string;

  constructor(attempt: Attempt, collection: Collection, query: Query, version: string) {
    this.attempt = attempt;
    this.collection = collection;
    this.query = query;
    this.version = version;
  }

  /** One connection: ends after `count` events, or after `millis`. */
  async connectFor(count: number, millis: number): Promise<void> {
    const watch = await this.connect();
    await watch.until(() => watch.events.length >= count, millis);
    watch.close();
    this.take(watch.events.slice(0, count)); // what had already arrived beyond it is lost with the connection
  }

  async connectUntil(fence: ApiObject): Promise<void> {
    const watch = await this.connect();
    this.take(await this.attempt.untilFence(watch, fence));
    watch.close();
  }

  private async connect(): Promise<WatchStream> {
    this.resumedFrom.push(this.version);
    this.latest = await this.attempt.openWatch(this.collection, { ...this.query, resourceVersion: this.version });
    return this.latest;
  }

  private take(events: readonly WatchEvent[]): void {
    append(this.events, events);
    const last = events.at(-1)?.object;
    // A bookmark's object has a version and no name.
    const metadata = last === undefined ? undefined : (last["metadata"] as { resourceVersion?: string } | undefined);
    if (last !== undefined && (isApiObject(last) || metadata !== undefined))
      this.version = metadata?.resourceVersion ?? this.version;
  }
}

/**
 * One API server's view of the store. Changes come over a link that may lag; each resource has a watch cache
 * behind it, made on first use and as if it had been there since the server started. Several front-ends may
 * stand on one store, each with a lag of its own.
 */
import { invariant } from "../../kernel/invariant.ts";
import type { Micros, Process, Prng } from "../../kernel/types.ts";
import type { Store, StoreEvent } from "../../store/types.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Retention } from "./event-history.ts";
import { lostDeletion, type Unreadable, unreadableOf } from "../../contract/unreadable.ts";
import { Feed } from "./feed.ts";
import type { Source } from "./source.ts";
import { StoreView } from "./store-view.ts";
import { WatchCache } from "./watch-cache.ts";

const HISTORY_WINDOW_MICROS_DEFAULT: Micros = 300_000_000;

export interface FrontEndOptions {
  readonly store: Store;
  /** The API server's own process: when it crashes, nothing arrives any more. */
  readonly process: Process;
  readonly profile: Pick<Profile, "watchHistory">;
  /** What a `window` keeps, in microseconds > 0. Default 5 minutes. */
  readonly historyWindowMicros?: Micros;
  /** How late changes arrive, in microseconds >= 0; Infinity = never. Default 0: within the write itself. */
  readonly lagMicros?: Micros;
  /** What all keys begin with; the next path segment names the resource. Default `/registry/`. */
  readonly root?: string;
}

/** What reads and watches of one resource stand on. */
export interface CacheFigures {
  readonly prefix: string;
  /**
   * Changes that arrived, those that watches could be told, the version of the state, and how many past changes there is
   * room for, if there is such a bound. Undefined without a cache.
   */
  readonly cache:
    | {
        readonly received: number;
        readonly told: number;
        readonly revision: number;
        readonly capacity: number | undefined;
      }
    | undefined;
  readonly endedForSlowness: number;
}

export class FrontEnd {
  /** For the lengths of watches that set none: a stream of its own, so that they shift no other draw. */
  readonly watchPrng: Prng;
  private readonly store: Store;
  private readonly process: Process;
  private readonly unreadable: Unreadable;
  private readonly root: string;
  private readonly retention: Retention;
  protected readonly feed: Feed;
  private readonly ownFeeds = new Map<string, Feed>();
  private readonly caches = new Map<string, WatchCache>();
  /** What a cache made on first use has listed first: the store's revision when the server started, or forgot. */
  private historyFrom: number;
  private readonly views = new Map<string, StoreView>();
  /** Of the last key's resource; the next key is mostly of the same. No key begins like the first one. */
  private lastPrefix = "\0";
  private readonly unsubscribe: () => void;
  private lagMicros: Micros;

  constructor(options: FrontEndOptions) {
    const { store, process, profile } = options;
    const windowMicros = options.historyWindowMicros ?? HISTORY_WINDOW_MICROS_DEFAULT;
    invariant(windowMicros > 0, "the history window is longer than nothing", options);
    this.store = store;
    this.process = process;
    this.root = options.root ?? "/registry/";
    this.retention = profile.watchHistory === "ring" ? { kind: "ring" } : { kind: "window", windowMicros };
    this.lagMicros = options.lagMicros ?? 0;
    this.historyFrom = store.revision;
    this.unreadable = unreadableOf(store); // subscribes, and before this does
    this.watchPrng = process.prng.stream("watch-timeout");
    this.feed = new Feed(process, store.revision, this.lagMicros, (event) => this.arrived(this.feed, event));
    this.unsubscribe = store.subscribe((event) => this.committed(event));
  }

  /** Where reads of the resource under `prefix` come from. `prefix` is the root, one path segment and a slash. */
  source(prefix: string, cached: boolean): Source {
    return cached ? this.cache(prefix) : this.view(prefix);
  }

  /** Changes how late changes arrive: of all resources without a lag of their own, or of the one under `prefix`. */
  setLag(lagMicros: Micros, prefix?: string): void {
    invariant(lagMicros >= 0, "a lag is not negative", { lagMicros });
    if (prefix === undefined) {
      this.lagMicros = lagMicros;
      this.feed.setLag(lagMicros);
      return;
    }
    const own = this.ownFeeds.get(prefix);
    if (own !== undefined) {
      own.setLag(lagMicros);
      return;
    }
    const cache = this.cache(prefix);
    const feed: Feed = this.feed.split(Infinity, (event) => this.arrived(feed, event));
    this.ownFeeds.set(prefix, feed);
    cache.feed = feed;
    feed.setLag(lagMicros); // only now: what is due arrives through the cache's new feed
  }

  /** No watch can start from before the present: as after a restart, but nobody is disconnected. */
  forgetHistory(): void {
    this.historyFrom = this.feed.applied;
    for (const cache of this.caches.values()) cache.forgetHistory();
  }

  /** No watch can start from before `revision`, which has been compacted. */
  forgetThrough(revision: number): void {
    this.historyFrom = Math.max(this.historyFrom, Math.min(revision, this.feed.applied));
    for (const cache of this.caches.values()) cache.forgetThrough(revision);
  }

  /** Of every resource that somebody has read or written, by the prefix of its keys. */
  figures(): readonly CacheFigures[] {
    const cached = [...this.caches].map(([prefix, cache]) => ({
      prefix,
      cache: {
        received: cache.receivedCount,
        told: cache.toldCount,
        revision: cache.applied,
        capacity: cache.historyCapacity,
      },
      endedForSlowness: cache.audience.endedForSlowness,
    }));
    const uncached = [...this.views].map(([prefix, { audience }]) => ({
      prefix,
      cache: undefined,
      endedForSlowness: audience.endedForSlowness,
    }));
    return [...cached, ...uncached];
  }

  /** The server stops: nothing more arrives. */
  stop(): void {
    this.unsubscribe();
  }

  private committed(event: StoreEvent): void {
    if (!this.process.alive) {
      this.stop();
      return;
    }
    if (this.views.size > 0) this.tellView(event);
    this.deliver(event);
  }

  protected deliver(event: StoreEvent): void {
    this.feed.committed(event);
    if (this.ownFeeds.size > 0) for (const feed of this.ownFeeds.values()) feed.committed(event);
  }

  /** Undefined for a key that belongs to no resource. */
  protected cacheOf(key: string): WatchCache | undefined {
    const prefix = this.prefixOf(key);
    return prefix === undefined ? undefined : this.cache(prefix);
  }

  private tellView(event: StoreEvent): void {
    const audience = this.views.get(this.prefixOf(event.key) ?? "")?.audience;
    try {
      if (this.unreadable.isLost(event)) audience?.lose(lostDeletion());
      else audience?.tell(event);
    } catch (error) {
      this.process.caught("a change on its way to watches without a cache", error);
      audience?.lose(undefined);
    }
  }

  private arrived(feed: Feed, event: StoreEvent): void {
    const prefix = this.prefixOf(event.key);
    if (prefix === undefined || this.views.has(prefix)) return;
    const cache = this.cache(prefix);
    if (cache.feed !== feed) return;
    try {
      cache.apply(event);
    } catch (error) {
      this.process.caught("a change on its way into a cache", error);
      cache.reset();
    }
  }

  /** Undefined for a key that belongs to no resource. */
  private prefixOf(key: string): string | undefined {
    if (key.startsWith(this.lastPrefix)) return this.lastPrefix;
    const slash = key.indexOf("/", this.root.length);
    if (slash < 0) return undefined;
    this.lastPrefix = key.slice(0, slash + 1);
    return this.lastPrefix;
  }

  private cache(prefix: string): WatchCache {
    const known = this.caches.get(prefix);
    if (known !== undefined) return known;
    const { store, process, retention, historyFrom, feed } = this;
    const cache = new WatchCache({ store, process, prefix, retention, startRevision: historyFrom, feed });
    this.caches.set(prefix, cache);
    return cache;
  }

  private view(prefix: string): StoreView {
    const known = this.views.get(prefix);
    if (known !== undefined) return known;
    const view = new StoreView(this.store, prefix);
    this.views.set(prefix, view);
    this.caches.delete(prefix);
    return view;
  }
}

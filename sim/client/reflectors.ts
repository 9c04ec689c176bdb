/**
 * Follows collections for controllers: a list, then the watch after it, and a new list when history has been lost. A
 * collection that several controllers follow is followed once. Nothing is kept of the objects but their last version.
 * Source: client-go, tools/cache/reflector.go and the factory of shared informers.
 *
 * Simplification: the real one asks for watches of five to ten minutes, to spread clients over servers; these last a
 * day. A refused request is sent again after one second, then after twice as long each time, half a minute at most.
 */
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import type { Cancel, Micros } from "../kernel/types.ts";
import type { ControlClient } from "./control-client.ts";

export interface CollectionHearer {
  /** All that there is. What was there before and is not among it has gone. */
  replaced(objects: readonly JsonObject[]): void;
  /** Created or changed. */
  changed(object: JsonObject): void;
  /** Deleted; as it last was. */
  gone(object: JsonObject): void;
}

const retryMicrosMin: Micros = 1_000_000;
const retryMicrosMax: Micros = 30_000_000;
const watchSeconds = 86_400;
/** A watch that is over sooner has not worked, whatever it told: it may be the next one's whole story, too. */
const workingMicrosMin: Micros = 1_000_000;

export class Reflectors {
  private readonly client: ControlClient;
  private readonly byPath = new Map<string, Reflector>();
  private started = false;
  private whenSynced: (() => void)[] = [];

  constructor(client: ControlClient) {
    this.client = client;
  }

  /** Everybody who follows a collection before the start hears of the same first list; who comes later has it listed anew. */
  follow(path: string, hearer: CollectionHearer): Cancel {
    let reflector = this.byPath.get(path);
    if (reflector === undefined) {
      reflector = new Reflector(this.client, path, () => this.listed());
      this.byPath.set(path, reflector);
    }
    reflector.hearers.add(hearer);
    if (this.started) reflector.start();
    const followed = reflector;
    return () => {
      followed.hearers.delete(hearer);
      if (followed.hearers.size > 0) return;
      followed.stop();
      this.byPath.delete(path);
      this.listed();
    };
  }

  start(): void {
    this.started = true;
    for (const reflector of [...this.byPath.values()]) reflector.start();
  }

  /** Calls `done` once every collection that is followed has been listed at least once. */
  onceSynced(done: () => void): void {
    this.whenSynced.push(done);
    this.listed();
  }

  private listed(): void {
    if (this.whenSynced.length === 0 || ![...this.byPath.values()].every(({ synced }) => synced)) return;
    for (const done of this.whenSynced.splice(0)) done();
  }
}

class Reflector {
  readonly hearers = new Set<CollectionHearer>();
  synced = false;
  private readonly client: ControlClient;
  private readonly path: string;
  private readonly listed: () => void;
  /** Of the newest list or event that was heard. */
  private version = "";
  /** Counts beginnings: what an earlier one still hears is not for this one. */
  private beginning = 0;
  private retryMicros = retryMicrosMin;
  /** It began again, and no watch has lasted since. */
  private inVain = false;
  private cancelStream: Cancel = () => {};

  constructor(client: ControlClient, path: string, listed: () => void) {
    this.client = client;
    this.path = path;
    this.listed = listed;
  }

  start(): void {
    this.stop();
    this.list();
  }

  stop(): void {
    this.beginning++;
    this.cancelStream();
    this.cancelStream = () => {};
  }

  private list(): void {
    const { beginning } = this;
    this.client.get(this.path, ({ status, object }) => {
      if (beginning !== this.beginning) return;
      if (status !== 200 || object === undefined) {
        this.later(() => this.list(), this.backedOff());
        return;
      }
      this.version = metadataOf(object).resourceVersion ?? "";
      this.synced = true;
      // Null items are none.
      const objects = (object["items"] ?? []) as readonly JsonObject[];
      for (const hearer of this.hearers) hearer.replaced(objects);
      this.listed();
      if (beginning === this.beginning) this.watch();
    });
  }

  private watch(): void {
    const query = `watch=true&timeoutSeconds=${watchSeconds}&resourceVersion=${encodeURIComponent(this.version)}`;
    const { beginning } = this;
    const { clock } = this.client.process;
    const openedMicros = clock.nowMicros();
    let lost = false;
    const current = (act: () => void): void => {
      if (beginning === this.beginning) act();
    };
    const cancel = this.client.watch(this.path, query, {
      event: (type, object) =>
        current(() => {
          if (type === "ERROR") lost = true;
          else this.hear(type, object);
        }),
      // The version is no longer known, or the resource is not served at the moment: begin with a list.
      refused: (status) => current(() => this.again(() => this.list(), status === 410)),
      ended: () =>
        current(() => {
          if (clock.nowMicros() - openedMicros >= workingMicrosMin) this.worked();
          this.again(() => (lost ? this.list() : this.watch()), true);
        }),
    });
    if (beginning === this.beginning) this.cancelStream = cancel;
  }

  /** Later in this very instant, when `soon` and for the first time; not within the event that ended a watch. */
  private again(act: () => void, soon: boolean): void {
    this.later(act, soon && !this.inVain ? 0 : this.backedOff());
    this.inVain = true;
  }

  private hear(type: string, object: JsonObject): void {
    this.version = metadataOf(object).resourceVersion ?? this.version;
    for (const hearer of this.hearers) {
      if (type === "DELETED") hearer.gone(object);
      else hearer.changed(object);
    }
  }

  private worked(): void {
    this.inVain = false;
    this.retryMicros = retryMicrosMin;
  }

  private backedOff(): Micros {
    const micros = this.retryMicros;
    this.retryMicros = Math.min(2 * micros, retryMicrosMax);
    return micros;
  }

  private later(again: () => void, micros: Micros): void {
    const { beginning } = this;
    this.client.process.clock.after(micros, () => {
      if (beginning === this.beginning) again();
    });
  }
}

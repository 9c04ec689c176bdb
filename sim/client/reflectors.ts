/**
 * Follows collections for controllers. A collection that several controllers follow is followed once.
 *
 * Simplification: the real ones ask for watches of five to ten minutes, to spread clients over servers; these last a
 * day. A refused request is sent again after one second, then after twice as long each time, half a minute at most.
 */
import type { JsonObject } from "../contract/http-message.ts";
import type { Cancel, Micros } from "../kernel/types.ts";
import type { ControlClient } from "./control-client.ts";
import { type CollectionHearer, type Interruption, Reflector, type ReflectorHabits } from "./reflector.ts";

const retryMicrosMin: Micros = 1_000_000;
const retryMicrosMax: Micros = 30_000_000;
const watchSeconds = 86_400;

export class Reflectors {
  private readonly client: ControlClient;
  private readonly byPath = new Map<string, SharedReflector>();
  private started = false;
  private whenSynced: (() => void)[] = [];

  constructor(client: ControlClient) {
    this.client = client;
  }

  /** Everybody who follows a collection before the start hears of the same first list; who comes later has it listed anew. */
  follow(path: string, hearer: CollectionHearer): Cancel {
    let shared = this.byPath.get(path);
    if (shared === undefined) {
      shared = new SharedReflector(this.client, path, () => this.listed());
      this.byPath.set(path, shared);
    }
    shared.hearers.add(hearer);
    if (this.started) shared.reflector.start();
    const followed = shared;
    return () => {
      followed.hearers.delete(hearer);
      if (followed.hearers.size > 0) return;
      followed.reflector.stop();
      this.byPath.delete(path);
      this.listed();
    };
  }

  start(): void {
    this.started = true;
    for (const { reflector } of [...this.byPath.values()]) reflector.start();
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

class SharedReflector implements CollectionHearer {
  readonly hearers = new Set<CollectionHearer>();
  readonly reflector: Reflector;
  synced = false;
  private readonly listed: () => void;

  constructor(client: ControlClient, path: string, listed: () => void) {
    this.reflector = new Reflector(client, path, this, controllersHabits());
    this.listed = listed;
  }

  replaced(objects: readonly JsonObject[]): void {
    this.synced = true;
    for (const hearer of this.hearers) hearer.replaced(objects);
    this.listed();
  }

  changed(object: JsonObject): void {
    for (const hearer of this.hearers) hearer.changed(object);
  }

  gone(object: JsonObject): void {
    for (const hearer of this.hearers) hearer.gone(object);
  }
}

/** Of one reflector: its pauses grow. */
function controllersHabits(): ReflectorHabits {
  let retryMicros = retryMicrosMin;
  /** It began again, and no watch has lasted since. */
  let inVain = false;
  const backedOff = (): Micros => {
    const micros = retryMicros;
    retryMicros = Math.min(2 * micros, retryMicrosMax);
    return micros;
  };
  const pauseMicros = (why: Interruption, isTrusted: boolean): Micros => {
    if (why === "list-refused") return backedOff();
    if (isTrusted) {
      inVain = false;
      retryMicros = retryMicrosMin;
    }
    const isSoon = why !== "watch-refused" && !inVain;
    inVain = true;
    return isSoon ? 0 : backedOff();
  };
  return {
    selector: "",
    listQuery: () => "",
    watchQuery: () => `watch=true&timeoutSeconds=${watchSeconds}`,
    // The resource may not be served at the moment.
    afterRefusal: "list",
    pauseMicros,
  };
}

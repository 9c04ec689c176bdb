/** Hands the exchanges of a run to the judge, with what had been acknowledged when each began. */
import type { ApiRequest, JsonObject } from "../contract/http-message.ts";
import type { CallFailure, Micros } from "../kernel/types.ts";
import type { Acknowledged, Exchange, Judge } from "./judge.ts";
import { queryOf } from "./query-words.ts";
import { type Place, revisionOf, type Truth } from "./truth.ts";

const nothing: Acknowledged = { revision: 0, isDeletion: false };

export class ExchangeWitness {
  private readonly judge: Judge;
  private readonly truth: Truth;
  private readonly nowMicros: () => Micros;
  private readonly acknowledged = new Map<string, Acknowledged>();
  private floor = 0;
  private count = 0;

  constructor(judge: Judge, truth: Truth, nowMicros: () => Micros) {
    this.judge = judge;
    this.truth = truth;
    this.nowMicros = nowMicros;
  }

  /** The newest version that anybody was told of a write of. */
  get floorRevision(): number {
    return this.floor;
  }

  begin(client: string, server: string, request: ApiRequest): Exchange {
    const place = this.truth.place(request.path);
    const key = place?.key;
    const query = queryOf(request.query);
    const watch = query.get("watch");
    const exchange: Exchange = {
      number: ++this.count,
      client,
      server,
      method: request.method,
      path: request.path,
      place,
      query,
      isWatch: request.method === "GET" && watch !== undefined && watch !== "false" && watch !== "0",
      startedMicros: this.nowMicros(),
      floorRevision: this.floor,
      keyFloor: (key === undefined ? undefined : this.acknowledged.get(key)) ?? nothing,
    };
    this.judge.asked(exchange);
    return exchange;
  }

  answered(exchange: Exchange, status: number, object: JsonObject): void {
    this.judge.answered(exchange, status, object);
    if (exchange.method !== "GET" && status < 300) this.acknowledge(exchange, object);
  }

  opened(exchange: Exchange): void {
    this.judge.opened(exchange);
  }

  event(exchange: Exchange, type: string, object: JsonObject): void {
    this.judge.event(exchange, type, object);
  }

  ended(exchange: Exchange, how: CallFailure | "closed" | "cancelled"): void {
    this.judge.ended(exchange, how);
  }

  /** After a restore from a backup the past is another one: what was acknowledged since is known to be gone. */
  forget(): void {
    this.acknowledged.clear();
    this.floor = 0;
  }

  private acknowledge(exchange: Exchange, object: JsonObject): void {
    const key = exchange.place?.key ?? createdKey(exchange.place, object);
    if (key === undefined) return;
    const before = this.acknowledged.get(key) ?? nothing;
    const deletion = exchange.method === "DELETE" ? this.lastDeletion(key, before.revision) : undefined;
    const revision = deletion ?? revisionOf(object);
    if (!(revision > before.revision)) return;
    this.acknowledged.set(key, { revision, isDeletion: deletion !== undefined });
    this.floor = Math.max(this.floor, revision);
  }

  /** The answer to a deletion does not always say at which version it was; the store does. */
  private lastDeletion(key: string, after: number): number | undefined {
    const change = this.truth.heads.get(key);
    return change !== undefined && change.object === undefined && change.revision > after ? change.revision : undefined;
  }
}

function createdKey(place: Place | undefined, object: JsonObject): string | undefined {
  const { name } = (object["metadata"] ?? {}) as { name?: string };
  return place === undefined || name === undefined ? undefined : place.prefix + name;
}

/**
 * How long requests take, from published costs: a server of so many cores that does one thing a core at a time, first come,
 * first served; a store behind it that takes one write after another; a link that carries so many bytes a second.
 *
 * Simplification: a real server shares its cores between all that is under way. Whoever waits for a core waits before
 * the whole of its work here, so means agree and the shortest requests are held up a little more. Watch events cost
 * processor time and have a modelled delivery, but arrive at once.
 */
import type { Costs } from "../../scenarios/capacity/cost-constants.ts";
import type { CostModel } from "../apiserver/api-server-options.ts";
import type { Run } from "../apiserver/requests/run.ts";
import type { Payload } from "../contract/http-message.ts";
import type { Clock, Micros } from "../kernel/types.ts";
import { sizeOf } from "./sizes.ts";

export interface ServiceTimesOptions {
  readonly costs: Costs;
  readonly cores: number;
  /** Undefined: the link carries whatever comes. */
  readonly bytesPerSecond: number | undefined;
}

export class ServiceTimes implements CostModel {
  /** Processor time that was asked for, in whole. */
  busyMicros = 0;
  private readonly clock: Clock;
  private readonly options: ServiceTimesOptions;
  /** When each core has done what it was given. */
  private readonly freeAt: Micros[];
  private storeFreeAt: Micros = 0;
  private linkFreeAt: Micros = 0;

  constructor(clock: Clock, options: ServiceTimesOptions) {
    this.clock = clock;
    this.options = options;
    this.freeAt = Array.from({ length: options.cores }, () => 0);
  }

  seatMicros(): Micros {
    return 0;
  }

  answerMicros(_verb: string, _resource: string, run: Run, payload: Payload): Micros {
    const { costs } = this.options;
    if (run.answered === 429) return this.work(costs.refusalMicros);
    if (run.verb === "list") return this.listMicros(run, payload);
    const isRead = run.verb === "get" || run.verb === "watch" || run.verb === "" || run.verb === "options";
    if (isRead) return this.work(costs.getMicros) + this.carry(sizeOf(payload));
    const stored = run.answered < 300 ? this.storeWrite() : 0;
    return this.work(costs.writeMicros) + stored + this.carry(sizeOf(payload));
  }

  /** A watch begins. */
  watchOpened(): void {
    this.work(this.options.costs.watchStartMicros);
  }

  /** From a change to the moment at which a watch has been told of it. */
  eventMicros(bytes: number): Micros {
    return this.work(this.options.costs.watchEventMicros) + this.carry(bytes);
  }

  private listMicros(run: Run, payload: Payload): Micros {
    const { costs } = this.options;
    const bytes = sizeOf(payload);
    const { readCount, origin } = workOf(run);
    const answer = Math.ceil((bytes * costs.answerMegabyteMicros) / 1_000_000);
    if (origin === "store") {
      const objects = Math.ceil((readCount * costs.storeObjectNanos) / 1000);
      const read = objects + Math.ceil((bytes * costs.storeMegabyteMicros) / 1_000_000);
      return read + this.work(costs.listBaseMicros + answer) + this.carry(bytes);
    }
    const looked = Math.ceil((readCount * costs.cacheObjectNanos) / 1000);
    const consistent = run.query.first("resourceVersion") === undefined ? costs.consistentReadMicros : 0;
    return consistent + this.work(costs.listBaseMicros + looked + answer) + this.carry(bytes);
  }

  /** Waits for a core and then has it. */
  private work(micros: Micros): Micros {
    const { freeAt } = this;
    this.busyMicros += micros;
    let first = 0;
    for (let core = 1; core < freeAt.length; core++) if (at(freeAt, core) < at(freeAt, first)) first = core;
    const now = this.clock.nowMicros();
    const done = Math.max(now, at(freeAt, first)) + micros;
    freeAt[first] = done;
    return done - now;
  }

  private storeWrite(): Micros {
    const { storeWriteMicros, storeWriteGapMicros } = this.options.costs;
    const now = this.clock.nowMicros();
    const begins = Math.max(now, this.storeFreeAt);
    this.storeFreeAt = begins + storeWriteGapMicros;
    return begins - now + storeWriteMicros;
  }

  private carry(bytes: number): Micros {
    const { bytesPerSecond } = this.options;
    if (bytesPerSecond === undefined) return 0;
    const now = this.clock.nowMicros();
    const done = Math.max(now, this.linkFreeAt) + Math.ceil((bytes * 1_000_000) / bytesPerSecond);
    this.linkFreeAt = done;
    return done - now;
  }
}

const at = (times: readonly Micros[], core: number): Micros => times[core] as Micros;

/** The real cache has an index of pods by their node: who asks by it looks at no others. */
function workOf({ listed, query }: Run): NonNullable<Run["listed"]> {
  if (listed === undefined) return { readCount: 0, givenCount: 0, origin: "cache" };
  const byNode = listed.origin === "cache" && query.first("fieldSelector")?.includes("spec.nodeName=") === true;
  return byNode ? { ...listed, readCount: listed.givenCount } : listed;
}

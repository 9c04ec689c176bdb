import type { SuiteClock, WireRequest } from "../../wire/ports.ts";
import type { ExchangeRecord } from "../../reports/schema/suite-report.ts";
import { type CurlStyle, Exchange } from "./exchange.ts";
import type { Json, WatchEvent } from "./types.ts";

/** Is shown everything that comes back, as it comes. */
export interface Observer {
  /** A complete answer. `document`: its body, when that is JSON; `retryAfter`: the header. */
  answered(exchange: Exchange, document: Json | undefined, retryAfter: string | undefined): void;
  told(exchange: Exchange, event: WatchEvent): void;
  /** We have ended a watch, so long after its last event. */
  left(exchange: Exchange, silentMillis: number): void;
}

/**
 * The history of one attempt: every exchange in the order of sending, and one counter over sendings and answers, so
 * that judges can tell what overlapped without comparing clocks. Bounded: the oldest exchanges go first.
 */
export class Recorder {
  private readonly exchanges: Exchange[] = [];
  private readonly clock: SuiteClock;
  readonly observer: Observer | undefined;
  private latest: Exchange | undefined;
  private ticks = 0;
  private exchangeCount = 0;

  constructor(clock: SuiteClock, observer?: Observer) {
    this.clock = clock;
    this.observer = observer;
  }

  begin(request: WireRequest): Exchange {
    const exchange = new Exchange(this.exchangeCount, request, this.tick(), this.clock.nowMillis());
    this.exchangeCount += 1;
    this.exchanges.push(exchange);
    this.latest = exchange;
    if (this.exchanges.length > exchangesMax) this.exchanges.shift();
    return exchange;
  }

  end(exchange: Exchange): void {
    exchange.ended = this.tick();
    exchange.endedAtMillis = this.clock.nowMillis();
  }

  /** A watch has received one more document. */
  arrive(exchange: Exchange): void {
    exchange.arrivals.push({ place: this.tick(), atMillis: this.clock.nowMillis() });
  }

  /** The next place in the order of events. */
  tick(): number {
    this.ticks += 1;
    return this.ticks;
  }

  get count(): number {
    return this.exchangeCount;
  }

  get droppedCount(): number {
    return this.exchangeCount - this.exchanges.length;
  }

  /** The exchange that shows what is judged next: the one that was begun last, asides excepted. */
  last(): Exchange | undefined {
    return this.latest;
  }

  /** What was asked meanwhile was asked about this exchange, which is the last one again. */
  returnTo(exchange: Exchange): void {
    this.latest = exchange;
  }

  /** Those that are still kept, in the order of sending. */
  all(): readonly Exchange[] {
    return this.exchanges;
  }

  records(style: CurlStyle): ExchangeRecord[] {
    return this.exchanges.map((exchange) => exchange.record(style));
  }
}

const exchangesMax = 2000;

/** A rate: so many at once, and so many a second. It starts full. Source: the facts, Clients and events. */
import type { Micros } from "../../kernel/types.ts";

export class TokenBucket {
  private readonly perMicro: number;
  private readonly burst: number;
  private tokens: number;
  private filledMicros: Micros;

  /** `perSecond` may be a fraction; > 0. */
  constructor(perSecond: number, burst: number, nowMicros: Micros) {
    this.perMicro = perSecond / 1_000_000;
    this.burst = burst;
    this.tokens = burst;
    this.filledMicros = nowMicros;
  }

  /** Takes a token if one is there. */
  tryTake(nowMicros: Micros): boolean {
    this.fill(nowMicros);
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }

  /** Takes a token that may not be there yet, and says how long to wait for it. Who comes later waits longer. */
  take(nowMicros: Micros): Micros {
    this.fill(nowMicros);
    this.tokens--;
    return this.tokens >= 0 ? 0 : Math.ceil(-this.tokens / this.perMicro);
  }

  private fill(nowMicros: Micros): void {
    this.tokens = Math.min(this.burst, this.tokens + (nowMicros - this.filledMicros) * this.perMicro);
    this.filledMicros = nowMicros;
  }
}

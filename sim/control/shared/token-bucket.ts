/** A bucket of tokens that fills at a steady rate, in whole microseconds. Source: golang.org/x/time/rate, by what it does. */
import type { Micros } from "../../kernel/types.ts";

export interface Rate {
  /** Between two tokens, an integer > 0. */
  readonly intervalMicros: Micros;
  /** Tokens that it holds when full, an integer >= 1. */
  readonly burst: number;
}

export class TokenBucket {
  private readonly rate: Rate;
  /** When the bucket would be full again. */
  private fullMicros: Micros = 0;

  constructor(rate: Rate) {
    this.rate = rate;
  }

  /** Takes a token if there is one. */
  take(nowMicros: Micros): boolean {
    if (this.waitMicros(nowMicros) > 0) return false;
    this.reserve(nowMicros);
    return true;
  }

  /** Takes a token that may still have to come; returns how long that is. */
  reserve(nowMicros: Micros): Micros {
    const wait = this.waitMicros(nowMicros);
    this.fullMicros = Math.max(this.fullMicros, nowMicros) + this.rate.intervalMicros;
    return wait;
  }

  private waitMicros(nowMicros: Micros): Micros {
    const { intervalMicros, burst } = this.rate;
    return Math.max(0, Math.max(this.fullMicros, nowMicros) + intervalMicros - nowMicros - burst * intervalMicros);
  }
}

/**
 * What a controller has asked for and not yet seen: it looks at an item again only when its cache shows all of it, or
 * after five minutes. Source: the published controllers' expectations.
 */
import type { Clock, Micros } from "../../kernel/types.ts";

const patienceMicros: Micros = 300_000_000;

interface Expectation {
  creations: number;
  /** Keys of what was told to go. */
  readonly deletions: Set<string>;
  readonly sinceMicros: Micros;
}

export class Expectations {
  private readonly clock: Clock;
  private readonly byKey = new Map<string, Expectation>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  expect(key: string, creations: number, deletions: readonly string[]): void {
    this.byKey.set(key, { creations, deletions: new Set(deletions), sinceMicros: this.clock.nowMicros() });
  }

  /** Also for a creation that failed: it is not to be expected any more. */
  created(key: string, count = 1): void {
    const expectation = this.byKey.get(key);
    if (expectation !== undefined) expectation.creations -= count;
  }

  deleted(key: string, what: string): void {
    this.byKey.get(key)?.deletions.delete(what);
  }

  isMet(key: string): boolean {
    const expectation = this.byKey.get(key);
    if (expectation === undefined) return true;
    if (expectation.creations <= 0 && expectation.deletions.size === 0) return true;
    return this.clock.nowMicros() - expectation.sinceMicros > patienceMicros;
  }

  forget(key: string): void {
    this.byKey.delete(key);
  }
}

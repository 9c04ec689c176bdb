/**
 * Answers of an authorization webhook, each for its lifetime and no longer.
 * Source: document 2, WebhookConfiguration, authorizedTTL, unauthorizedTTL.
 */
import type { Clock, Micros } from "../../../kernel/types.ts";
import type { ReviewStatus } from "./access-review.ts";

interface Kept {
  readonly status: ReviewStatus;
  readonly untilMicros: Micros;
}

/** As many as the observed server keeps. */
const entriesMax = 8_192;
/** Of a key and a reason: a question that somebody has made huge is asked again each time, and so is one with a huge answer. */
const charactersMax = 10_000;

export class DecisionCache {
  private readonly clock: Clock;
  private readonly kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  find(key: string): ReviewStatus | undefined {
    const found = this.kept.get(key);
    if (found === undefined) return undefined;
    if (this.clock.nowMicros() < found.untilMicros) return found.status;
    this.kept.delete(key);
    return undefined;
  }

  /** The oldest makes room. */
  keep(key: string, status: ReviewStatus, lifetimeMicros: Micros): void {
    if (key.length + status.reason.length > charactersMax || lifetimeMicros <= 0) return;
    this.kept.delete(key);
    if (this.kept.size >= entriesMax) this.kept.delete(this.kept.keys().next().value as string);
    this.kept.set(key, { status, untilMicros: this.clock.nowMicros() + lifetimeMicros });
  }
}

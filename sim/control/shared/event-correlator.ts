/**
 * Which events are written, and which are counted on ones that are there: ten alike in words become one, what is said
 * again raises a count, and of one object a component tells 25 times and then once in five minutes.
 * Source: client-go, tools/record/events_cache.go.
 */
import type { Micros } from "../../kernel/types.ts";
import { TokenBucket } from "./token-bucket.ts";

export interface Told {
  /** What the event is about and who tells. */
  readonly subject: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** `write`: a new event of this message. `raise`: the event of that name gets this count. `drop`: nothing. */
export type Correlation =
  | { readonly act: "write"; readonly name: string; readonly message: string }
  | {
      readonly act: "raise";
      readonly name: string;
      readonly count: number;
      readonly message: string;
      readonly firstTimestamp: string;
    }
  | { readonly act: "drop" };

const similarMax = 10;
const similarMicros: Micros = 600_000_000;
const rate = { intervalMicros: 300_000_000, burst: 25 };
/** Entries of each memory; the oldest makes room. */
const rememberedMax = 4096;

interface Similar {
  readonly messages: Set<string>;
  lastMicros: Micros;
}

interface Observed {
  readonly name: string;
  count: number;
  readonly firstTimestamp: string;
}

export class EventCorrelator {
  private readonly similar = new Map<string, Similar>();
  private readonly observed = new Map<string, Observed>();
  private readonly buckets = new Map<string, TokenBucket>();

  /** `name` and `timestamp` are for a new event. */
  correlate(told: Told, name: string, timestamp: string, nowMicros: Micros): Correlation {
    const kind = `${told.subject}\n${told.type}\n${told.reason}`;
    const isMany = this.isOneOfMany(kind, told.message, nowMicros);
    const key = isMany ? kind : `${kind}\n${told.message}`;
    const message = isMany ? `(combined from similar events): ${told.message}` : told.message;
    let seen = this.observed.get(key);
    if (seen === undefined) remember(this.observed, key, (seen = { name, count: 1, firstTimestamp: timestamp }));
    else seen.count++;
    let bucket = this.buckets.get(told.subject);
    if (bucket === undefined) remember(this.buckets, told.subject, (bucket = new TokenBucket(rate)));
    if (!bucket.take(nowMicros)) return { act: "drop" };
    const { count, firstTimestamp } = seen;
    if (count === 1) return { act: "write", name, message };
    return { act: "raise", name: seen.name, count, message, firstTimestamp };
  }

  private isOneOfMany(kind: string, message: string, nowMicros: Micros): boolean {
    let similar = this.similar.get(kind);
    if (similar === undefined || nowMicros - similar.lastMicros > similarMicros) {
      remember(this.similar, kind, (similar = { messages: new Set(), lastMicros: nowMicros }));
    }
    similar.lastMicros = nowMicros;
    similar.messages.add(message);
    if (similar.messages.size < similarMax) return false;
    const [oldest = ""] = similar.messages;
    similar.messages.delete(oldest);
    return true;
  }
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size > rememberedMax) memory.delete(memory.keys().next().value as string);
}

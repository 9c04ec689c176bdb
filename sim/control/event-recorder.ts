/**
 * Events that controllers leave about objects.
 *
 * Simplification: an event that would say the same of the same object again is left out. The real recorder raises
 * the count of the one that is there.
 * Source: client-go, tools/record.
 */
import { formatTime } from "../../wire/time.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Clock } from "../kernel/types.ts";
import type { ControlClient } from "../client/control-client.ts";

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for what lies in none: the event lies in `default` then. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Events remembered as said; then all is forgotten. */
const saidMax = 4096;

export class EventRecorder {
  private readonly client: ControlClient;
  /** Of the component, as events name their source. */
  private readonly component: string;
  private readonly said = new Set<string>();
  private count = 0;

  constructor(client: ControlClient, component: string) {
    this.client = client;
    this.component = component;
  }

  tell(subject: EventSubject, type: "Normal" | "Warning", reason: string, message: string): void {
    const words = `${subject.uid} ${reason} ${message}`;
    if (this.said.has(words)) return;
    if (this.said.size === saidMax) this.said.clear();
    this.said.add(words);
    const namespace = subject.namespace === "" ? "default" : subject.namespace;
    const { clock } = this.client.process;
    const now = formatTime(unixSeconds(clock));
    const body: JsonObject = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${subject.name}.${this.unixNanos().toString(16)}`, namespace },
      involvedObject: { ...subject },
      reason,
      message,
      source: { component: this.component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type,
      reportingComponent: this.component,
    };
    // Nothing depends on an event: one that is refused is lost.
    this.client.call({ method: "POST", path: `/api/v1/namespaces/${namespace}/events`, body }, () => {});
  }

  /** For names: of one instant, no two are the same. */
  private unixNanos(): bigint {
    const { epochUnixMillis, nowMicros } = this.client.process.clock;
    return BigInt(epochUnixMillis) * 1_000_000n + BigInt(nowMicros()) * 1_000n + BigInt(this.count++ % 1_000);
  }
}

/** Whole seconds since 1970. */
export function unixSeconds(clock: Clock): number {
  return Math.floor((clock.epochUnixMillis + clock.nowMicros() / 1000) / 1000);
}

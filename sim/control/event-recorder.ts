/**
 * Events that controllers leave about objects: written, or counted on what is there already.
 * Source: client-go, tools/record.
 */
import { formatTime } from "../../wire/time.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Clock } from "../kernel/types.ts";
import type { ControlClient } from "../client/control-client.ts";
import { EventCorrelator } from "./shared/event-correlator.ts";

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for what lies in none: the event lies in `default` then. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export class EventRecorder {
  private readonly client: ControlClient;
  /** Of the component, as events name their source. */
  private readonly component: string;
  private readonly correlator = new EventCorrelator();
  private count = 0;

  constructor(client: ControlClient, component: string) {
    this.client = client;
    this.component = component;
  }

  tell(subject: EventSubject, type: "Normal" | "Warning", reason: string, message: string): void {
    const { clock } = this.client.process;
    const now = formatTime(unixSeconds(clock));
    const { apiVersion, kind, namespace: place, name: about, uid } = subject;
    const namespace = place === "" ? "default" : place;
    const told = { subject: `${apiVersion} ${kind} ${place}/${about} ${uid}`, type, reason, message };
    const name = `${about}.${this.unixNanos().toString(16)}`;
    const correlation = this.correlator.correlate(told, name, now, clock.nowMicros());
    if (correlation.act === "drop") return;
    const event: JsonObject = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: correlation.name, namespace },
      involvedObject: { ...subject },
      reason,
      message: correlation.message,
      source: { component: this.component },
      firstTimestamp: correlation.act === "raise" ? correlation.firstTimestamp : now,
      lastTimestamp: now,
      count: correlation.act === "raise" ? correlation.count : 1,
      type,
      reportingComponent: this.component,
    };
    const path = `/api/v1/namespaces/${namespace}/events`;
    // Nothing depends on an event: one that is refused is lost.
    const write = (): void => void this.client.call({ method: "POST", path, body: event }, () => {});
    if (correlation.act === "write") {
      write();
      return;
    }
    const body = { count: correlation.count, lastTimestamp: now, message: correlation.message };
    const contentType = "application/strategic-merge-patch+json";
    this.client.call({ method: "PATCH", path: `${path}/${correlation.name}`, contentType, body }, ({ status }) => {
      if (status === 404) write();
    });
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

/** The published histories, as texts that a replay can be held against. Source: recordings of a live 1.33 agent. */
import recorded from "./histories.json" with { type: "json" };
import type { JsonObject } from "../../contract/http-message.ts";

export interface Recorded {
  readonly name: string;
  readonly spec: JsonObject;
  /** Seconds. */
  readonly steps: readonly number[];
  readonly statuses: readonly Row[];
  readonly events: readonly Row[];
  readonly calls: readonly Row[];
}

interface Row {
  readonly at: number;
  readonly text: string;
}

interface Raw {
  readonly name: string;
  readonly spec: object;
  readonly steps: readonly number[];
  readonly statuses: readonly {
    at: number;
    head: string;
    conditions: readonly string[];
    init: readonly string[];
    containers: readonly string[];
    qos: string;
  }[];
  readonly events: readonly { at: number; text: string; count: number; field: string }[];
  readonly calls: readonly { at: number; text: string }[];
}

export const histories: readonly Recorded[] = (recorded as unknown as readonly Raw[]).map((raw) => ({
  name: raw.name,
  spec: raw.spec as JsonObject,
  steps: raw.steps,
  statuses: raw.statuses.map(({ at, head, conditions, init, containers, qos }) => ({
    at,
    text: [head, conditions.join("|"), init.join("|"), containers.join("|"), qos].join(" || "),
  })),
  events: raw.events.map(({ at, text, count, field }) => ({ at, text: `${text} x${count} ${field}`.trim() })),
  calls: raw.calls,
}));

/** What happened in one simulated run, to be read and drawn: who did what when. Renderers work from this alone. */
import type { SimulationFailure } from "./simulation-report.ts";

export interface TraceDocument {
  readonly apiVersion: "traces/v1";
  readonly kind: "Trace";
  readonly scenario: string;
  readonly seed: number;
  readonly profile: string;
  readonly mode: string;
  readonly bugs: readonly string[];
  readonly untilMicros: number;
  readonly traceHash: string;
  /** In the order in which they are drawn. */
  readonly lanes: readonly TraceLane[];
  /** By time. */
  readonly entries: readonly TraceEntry[];
  readonly messages: readonly TraceMessage[];
  readonly faults: readonly TraceFault[];
  /** Every change of the store, oldest first: the state at any moment is what they add up to. */
  readonly writes: readonly TraceWrite[];
  readonly failure?: SimulationFailure;
}

export interface TraceLane {
  readonly name: string;
  readonly kind: "store" | "server" | "client" | "node" | "pod";
}

/** What a sign in a trace means, by the sign. */
export const traceLegend = {
  "+": "created",
  "~": "changed",
  "-": "deleted",
  "?": "asked",
  "=": "answered",
  E: "answered with an error, or not at all",
  L: "told a list",
  W: "a watch is open",
  e: "told an event",
  w: "a watch is over",
  G: "told that its version is gone",
  R: "a pod runs",
  r: "a pod has stopped",
  "*": "leads",
  "'": "leads no longer",
  "!": "crashed",
  "^": "started",
  X: "something goes wrong",
  o: "it is over",
  F: "a promise is broken",
} as const;

export type TraceSign = keyof typeof traceLegend;

export interface TraceEntry {
  readonly atMicros: number;
  readonly lane: string;
  readonly sign: TraceSign;
  readonly text: string;
  /** The version that it is about, if any: a link to the write. */
  readonly revision?: number;
}

export interface TraceMessage {
  readonly from: string;
  readonly to: string;
  readonly sentMicros: number;
  /** Absent: it never arrived. */
  readonly arrivesMicros?: number;
  readonly about: string;
}

export interface TraceFault {
  readonly what: string;
  readonly places: readonly string[];
  readonly fromMicros: number;
  /** Absent for what is over at once. */
  readonly toMicros?: number;
}

export interface TraceWrite {
  readonly revision: number;
  readonly atMicros: number;
  readonly key: string;
  readonly sign: "+" | "~" | "-";
  /** As stored; absent for a deletion. */
  readonly object?: unknown;
}

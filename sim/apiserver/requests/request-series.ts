/** Where requests are counted, by what they have in common: kept with a request from its answer to the bytes of it. */
import type { Histogram } from "../../contract/histogram.ts";

/** Requests alike in everything but whether they are dry runs. */
export interface Endpoint {
  readonly labels: Readonly<Record<string, string>>;
  readonly series: (RequestSeries | undefined)[];
  readonly terminated: Map<number, number>;
  readonly sli: Histogram;
  readonly sizes: Histogram;
}

/** Requests of one kind: kept with a run between its answer and the bytes of it. */
export interface RequestSeries {
  readonly endpoint: Endpoint;
  readonly dryRun: string;
  /** By status. */
  readonly counts: Map<number, number>;
  readonly durations: Histogram;
}

/**
 * What experiments on capacity have found. A report is a list of runs, each with its own figures; everything that is shown
 * (percentiles, intervals, verdicts) is computed from them. So reports of parts merge into that of the whole, exactly.
 *
 * Figures are *counted* (requests, bytes, events: what the components really did), *modelled* (times on the virtual clock,
 * by the constants in `costs`) or *measured* (`measured`: wall time and memory of this machine).
 */
import { z } from "zod";

const count = z.int().min(0);
const histogram = z.object({ counts: z.array(count), sum: count, max: count });
const counts = z.array(count);

const requestRow = z.object({
  who: z.string(),
  verb: z.string(),
  resource: z.string(),
  scope: z.string(),
  code: z.int(),
  count,
  bytesIn: count,
  bytesOut: count,
});

/** The SLIs of the field, and what they are read from. */
const sliNames = ["mutating", "get", "list", "podStartup", "watchDelivery"] as const;

const objectiveResult = z.object({
  text: z.string(),
  /** What was found, in the unit of `limit`: µs or a count. Absent: there was nothing to judge. */
  value: count.optional(),
  limit: count,
  unit: z.enum(["micros", "count"]),
  met: z.boolean(),
  /** Which series was the worst one. */
  worst: z.string().optional(),
});

const run = z.object({
  arm: z.string(),
  repetition: z.int().min(1),
  seed: z.string(),
  /** Length of the measurement; shorter than asked for when it was stopped. */
  virtualMicros: count,
  stoppedBy: z.string().optional(),
  nodes: count,
  requests: z.array(requestRow),
  /** Counted, by second of the measurement. */
  byVerb: z.array(z.object({ verb: z.string(), code: z.int(), seconds: counts })),
  byWho: z.array(z.object({ who: z.string(), seconds: counts })),
  lists: z.array(
    z.object({
      who: z.string(),
      resource: z.string(),
      origin: z.string(),
      lists: count,
      read: count,
      given: count,
      bytes: count,
    }),
  ),
  watches: z.array(z.object({ resource: z.string(), opened: count, most: count, events: count, bytes: count })),
  agents: z.object({ count, requests: count, most: count, mostName: z.string() }),
  store: z.object({
    objects: z.array(z.object({ resource: z.string(), count, bytes: count })),
    bytes: count,
    bytesMost: count,
    revisions: count,
    revisionBytes: count,
    /** Live and old versions together, every ten seconds. */
    bytesOverTime: counts,
  }),
  pods: z.object({ created: count, ready: count, deleted: count, unscheduled: count, evicted: count }),
  /** Where nodes were drained. Counted: so many were to be, and so many were. Modelled: their times, and that of all together. */
  drains: z.object({ nodes: count, done: count, micros: histogram, wholeMicros: count.optional() }).optional(),
  /** Modelled. */
  latencies: z.array(z.object({ verb: z.string(), resource: z.string(), scope: z.string(), micros: histogram })),
  /** Modelled: a histogram for each of so many equal parts of the measurement. */
  latencyOverTime: z.array(z.object({ sli: z.enum(sliNames), parts: z.array(histogram) })),
  partMicros: count,
  podStartup: histogram,
  podScheduled: histogram,
  podPulled: histogram,
  watchDelivery: histogram,
  seatWaits: histogram,
  processor: z.object({ cores: count, busyMicros: count, busySeconds: counts }),
  objectives: z.array(objectiveResult),
  /** Of this machine; left out of every comparison of reports. */
  measured: z.object({ wallMillis: z.number(), events: count, heapBytes: count.optional() }),
});

export const capacityReportSchema = z.object({
  apiVersion: z.literal("capacity-reports/v1"),
  kind: z.literal("CapacityReport"),
  name: z.string(),
  question: z.string(),
  build: z.string(),
  profile: z.string(),
  /** `full`, `quick` or `tiny`. */
  form: z.string(),
  /** The file, word for word. */
  experiment: z.string(),
  /** Constants of the latency model, and where each is from. */
  costs: z.array(z.object({ name: z.string(), value: z.int(), is: z.string(), source: z.string() })),
  arms: z.array(z.object({ name: z.string(), changes: z.array(z.tuple([z.string(), z.json()])) })),
  repetitions: z.int().min(1),
  reality: z.array(
    z.object({
      who: z.string(),
      verb: z.string(),
      resource: z.string(),
      code: z.int().optional(),
      count,
      within: z.string(),
    }),
  ),
  realityEvents: z.array(z.object({ resource: z.string(), count, within: z.string() })),
  runs: z.array(run),
  /** Runs that were interrupted before their measured time began: they have no figures. */
  unmeasured: z.array(z.object({ arm: z.string(), repetition: z.int().min(1) })).optional(),
  /** Runs that were to be played and never began: it was interrupted before, or the part that has them was not merged. */
  lacking: z.array(z.object({ arm: z.string(), repetition: z.int().min(1) })).optional(),
  shard: z.string().optional(),
});

export type CapacityReport = z.infer<typeof capacityReportSchema>;
export type CapacityRun = z.infer<typeof run>;
export type ObjectiveResult = z.infer<typeof objectiveResult>;
export type SliName = (typeof sliNames)[number];

/** One that somebody interrupted has counted for less long than the others: it is compared with none, and nothing is judged of it. */
export const isInterrupted = ({ stoppedBy }: CapacityRun): boolean => stoppedBy === "interrupted";

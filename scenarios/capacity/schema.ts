/** An experiment on capacity: a cluster, what is done to it, what is asked, and which parameters are varied. */
import { z } from "zod";
import { pool, quantity } from "../node-file.ts";
import { duration, place, positiveDuration, span } from "../values.ts";
import { costFileSchema } from "./cost-constants.ts";
import { checkExperiment, checkPlayed } from "./experiment-rules.ts";
import { standingRow } from "./standing-rows.ts";
import { deploymentFields, workloadRow } from "./workload-rows.ts";

const rate = (perSecond: number, burst: number) =>
  z
    .union([
      z.literal("none"),
      z.strictObject({ perSecond: z.int().min(1).max(100_000), burst: z.int().min(1).max(100_000) }),
    ])
    .prefault({ perSecond, burst });

const server = z.strictObject({
  reads: z.int().min(0).max(100_000).default(400).describe("Reads in flight at most; 0 for no limit."),
  writes: z.int().min(0).max(100_000).default(200).describe("Writes in flight at most; 0 for no limit."),
  queue: z
    .int()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe("Requests that may wait for a seat, instead of 429 at once."),
  queueWait: positiveDuration.default(15_000_000).describe("The longest wait for a seat."),
  cores: z.int().min(1).max(256).default(8).describe("Of the latency model."),
  bytesPerSecond: z
    .int()
    .min(1_000)
    .optional()
    .describe("What its link carries, all clients together. Default: as much as comes."),
  historyWindow: positiveDuration.default(300_000_000).describe("How long old versions stay readable."),
  requestTimeout: positiveDuration.default(60_000_000),
  storeQuota: quantity.optional().describe("Bytes of the store, beyond which it takes no writes. Default: none."),
  streamingLists: z.boolean().default(true).describe("Watches may begin with the state (sendInitialEvents)."),
});

const agents = z.strictObject({
  kind: z
    .enum(["real", "silent"])
    .default("real")
    .describe(
      "real: the node agent and a simulated runtime each. silent: nodes that only renew leases; a driver says the rest.",
    ),
  flags: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .default({})
    .describe(
      "Of the node agent, as on its command line: svc-api-qps: 50. Default: as published, with its thresholds of eviction.",
    ),
  leaseEvery: positiveDuration.default(8_000_000).describe("Of silent nodes."),
});

const cluster = z.strictObject({
  nodes: z.int().min(0).max(100_000).default(10).describe("All alike. Leave it out where there are pools."),
  pools: z.array(pool).max(5000).default([]).describe("Instead of `nodes`: as in a node file."),
  zones: z.int().min(1).max(100).default(3).describe("Nodes are in zone-1, zone-2 … by turns."),
  cpu: quantity.prefault("16"),
  memory: quantity.prefault("64Gi"),
  podsMax: z.int().min(1).max(1000).default(110).describe("Of a node."),
  podsPerNode: z.int().min(0).max(1000).default(0).describe("Bare pods that are there from the beginning."),
  pod: z
    .strictObject({
      containers: z.int().min(1).max(20).default(1),
      bytes: z.int().min(0).max(1_000_000).default(0),
    })
    .prefault({})
    .describe("What those are like."),
  deployments: z
    .array(
      z.strictObject({
        ...deploymentFields,
        ready: z
          .boolean()
          .default(false)
          .describe("Of silent nodes: the driver writes its pods' statuses as Ready before the measurement."),
      }),
    )
    .max(5000)
    .default([])
    .describe("There from the beginning."),
  standing: z
    .array(standingRow)
    .max(100_000)
    .default([])
    .describe("Pods that run on given nodes from the beginning, with their owners: an imported cluster. Needs pools."),
  configMaps: z
    .strictObject({ count: z.int().min(0).max(500_000).default(0), bytes: z.int().min(0).max(1_000_000).default(400) })
    .prefault({}),
  namespaces: z.array(place).max(10_000).default([]),
  objects: z.array(z.record(z.string(), z.json())).default([]).describe("There from the beginning, created in order."),
  agents: agents.prefault({}),
  server: server.prefault({}),
  controllers: rate(20, 30).describe("Requests of each controller: a rate, or none."),
  scheduler: rate(50, 100).describe("Requests of the scheduler: a rate, or none."),
  heldLeases: z
    .boolean()
    .default(false)
    .describe("The scheduler renews the lease of its election, and the server that of its identity, as real ones do."),
  latency: span.prefault("500us").describe("Of each message between a client and the server, each way."),
});

const codeRule = "expected a status such as 410, or 4xx";

const requestFilter = z.strictObject({
  who: z.string().optional().describe("A component; * stands for any ending."),
  verb: z.string().optional(),
  resource: z.string().optional(),
  scope: z.enum(["resource", "namespace", "cluster"]).optional(),
  code: z
    .union([z.int(), z.string().regex(/^\dxx$/, { error: codeRule })], { error: codeRule })
    .optional()
    .describe("410, or 4xx for all of them."),
});

/** Figures of a whole run that an objective may bound. */
const figureNames = [
  "storeBytes",
  "storeObjects",
  "requests",
  "refused",
  "relists",
  "unschedulable",
  "podsNotReady",
  "processorPercent",
  "evictions",
] as const;

const objective = z.union([
  z.strictObject({
    sli: z.enum(["mutating", "get", "list", "podStartup", "watchDelivery"]),
    percentile: z.int().min(1).max(100).default(99),
    max: positiveDuration,
  }),
  z.strictObject({
    requests: requestFilter,
    max: z.int().min(0),
    each: z.enum(["run", "second"]).default("run").describe("In the whole measurement, or in any second of it."),
  }),
  z.strictObject({ figure: z.enum(figureNames), max: z.int().min(0) }),
]);

const scalar = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.json()),
  z.record(z.string(), z.json()),
]);
const settings = z.record(z.string(), scalar);

export const experimentSchema = z
  .strictObject({
    apiVersion: z.literal("capacity/v1"),
    name: place,
    question: z
      .string()
      .min(1)
      .describe("What a person wants to know, in a sentence. {cluster.nodes} stands for what is played."),
    seed: z.int().min(0).max(4_294_967_295).default(1),
    profile: z.enum(["svc", "kubernetes"]).default("kubernetes"),
    settle: duration
      .default(60_000_000)
      .describe("Before the measurement: the cluster comes up, and nothing is counted."),
    until: positiveDuration.describe("Length of the measurement, in virtual time."),
    cluster: cluster.prefault({}),
    workload: z.array(workloadRow).max(1000).default([]),
    costs: costFileSchema.default({}).describe("Constants of the latency model that differ from the published ones."),
    objectives: z
      .array(objective)
      .default([
        { sli: "mutating", percentile: 99, max: 1_000_000 },
        { sli: "get", percentile: 99, max: 1_000_000 },
        { sli: "list", percentile: 99, max: 30_000_000 },
        { sli: "podStartup", percentile: 99, max: 5_000_000 },
      ])
      .describe(
        "Default: the field's own, mutating and get 1 s, list 30 s, pod start-up 5 s, each at the 99th percentile.",
      ),
    stop: z
      .array(objective)
      .default([])
      .describe("A run ends as soon as one of these is broken; looked at every ten seconds."),
    sweep: z
      .array(z.strictObject({ set: z.string(), to: z.array(scalar).min(1).max(100) }))
      .max(4)
      .default([])
      .describe("Parameters that are varied, each with every other: set: cluster.nodes, to: [100, 200]."),
    arms: z
      .array(z.strictObject({ name: place, set: settings }))
      .max(50)
      .default([])
      .describe("Variants with a name, and what differs in each: server.reads: 100. Default: one, called base."),
    repetitions: z.int().min(1).max(10_000).default(1),
    quick: settings.default({}).describe("What differs with --quick."),
    tiny: settings.default({}).describe("What differs with --tiny: a second or so, for tests."),
    find: z
      .strictObject({ set: z.string(), from: z.int().min(0), to: z.int().min(1) })
      .optional()
      .describe("Which parameter `capacity find` bisects, and between which bounds."),
    reality: z
      .array(
        z.strictObject({
          who: z.string(),
          verb: z.string(),
          resource: z.string(),
          code: z.int().optional(),
          count: z.int().min(0),
          within: z.enum(["tenth", "factor-2"]),
        }),
      )
      .default([])
      .describe("What a real cluster was asked for the same workload."),
    realityEvents: z
      .array(z.strictObject({ resource: z.string(), count: z.int().min(0), within: z.enum(["tenth", "factor-2"]) }))
      .default([])
      .describe("Watch events that a real server sent for it, to all watches together."),
  })
  .superRefine(checkExperiment);

/** Of what a run is played by. */
export const playedSchema = experimentSchema.superRefine(checkPlayed);

export type Experiment = z.infer<typeof experimentSchema>;
export type Objective = z.infer<typeof objective>;
export type RequestFilter = z.infer<typeof requestFilter>;
export type FigureName = (typeof figureNames)[number];

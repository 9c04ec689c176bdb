/** What is done to a cluster while an experiment measures: one row a thing, named by its verb. Times count from the start of the measurement. */
import { z } from "zod";
import { duration, place, positiveDuration, ratio, span } from "../values.ts";
import { quantity } from "../node-file.ts";

const many = z.int().min(1).max(200_000);
const at = duration.default(0).describe("When, from the start of the measurement.");
const forLong = positiveDuration.optional().describe("For how long. Default: until the end.");
const apiPath = z
  .string()
  .regex(/^\/(api|apis)\/[^\s?]+$/, { error: "expected the path of a collection such as /api/v1/pods" });

/** What the pods of a workload are like. */
const podFields = {
  cpu: quantity.prefault("100m"),
  memory: quantity.prefault("64Mi"),
  containers: z.int().min(1).max(20).default(1).describe("In each pod."),
  bytes: z.int().min(0).max(1_000_000).default(0).describe("Of an annotation that makes each pod larger."),
  image: z.string().min(1).default("app:1"),
  imageSize: quantity.prefault("20Mi").describe("Of its image, which takes time to pull."),
  uses: z
    .string()
    .optional()
    .describe("Memory that each container uses: 200Mi, leak 10Mi + 1Mi/s, ramp 10Mi..2Gi over 60s."),
  grace: z.int().min(0).max(3600).default(30).describe("Seconds that its containers have to stop."),
  tolerates: z
    .int()
    .min(0)
    .optional()
    .describe("Seconds that its pods stay on a node that is not heard of. Default: the server's own, 300."),
} as const;

export const deploymentFields = {
  name: place.max(40),
  namespace: place.default("default"),
  replicas: z.int().min(0).max(150_000),
  minAvailable: z.int().min(0).optional().describe("A budget: evictions leave so many ready."),
  ...podFields,
} as const;

const rows = [
  z.strictObject({
    do: z.literal("burst").describe("Deployments that were not there."),
    at,
    count: z.int().min(1).max(2_000).default(1).describe("How many Deployments of this kind, each with its replicas."),
    ...deploymentFields,
  }),
  z.strictObject({
    do: z.literal("scale").describe("A Deployment gets another number of replicas."),
    at,
    name: place,
    namespace: place.default("default"),
    to: z.int().min(0).max(150_000),
  }),
  z.strictObject({
    do: z.literal("rollout").describe("A Deployment gets a new template, and so new pods."),
    at,
    name: place,
    namespace: place.default("default"),
  }),
  z.strictObject({
    do: z
      .literal("churn")
      .describe("Objects come and go: one is created and, once `keep` are there, the oldest deleted."),
    at,
    for: forLong,
    what: z.enum(["pods", "configmaps", "secrets", "deployments"]).default("pods"),
    perSecond: z.int().min(1).max(5_000).default(20).describe("Creations a second."),
    keep: many.default(100),
    ...podFields,
  }),
  z.strictObject({
    do: z.literal("drain").describe("Nodes are cordoned, and their pods evicted as budgets allow."),
    at,
    nodes: many.default(1),
    every: duration.default(0).describe("Between two nodes."),
  }),
  z.strictObject({
    do: z.literal("restart").describe("Processes die and start again."),
    at,
    who: z.enum(["agents", "scheduler", "controllers", "apiserver"]).default("agents"),
    share: ratio.prefault("1/1").describe("Of the agents."),
    within: duration.default(0).describe("Starts are spread evenly by chance over so long: jitter."),
    down: duration.default(1_000_000).describe("Between death and start."),
  }),
  z.strictObject({
    do: z.literal("list").describe("Clients list a collection, again and again."),
    at,
    for: forLong,
    path: apiPath,
    clients: many.default(1),
    every: positiveDuration.optional().describe("Between the starts of two lists of a client. Default: one list each."),
    limit: z.int().min(0).max(100_000).default(0).describe("Objects a page; 0 for all at once."),
    version: z
      .enum(["", "0"])
      .default("")
      .describe('resourceVersion: "" asks for the newest, "0" for what the cache has.'),
    selector: z.string().default("").describe("fieldSelector or labelSelector, as in a query."),
    deadline: positiveDuration.default(30_000_000).describe("A client that waits longer gives up."),
    again: z
      .enum(["at-once", "backing-off", "never"])
      .default("never")
      .describe("What a client does whose list failed."),
  }),
  z.strictObject({
    do: z.literal("watch").describe("Clients follow a collection."),
    at,
    path: apiPath,
    clients: many.default(1),
    per: z.enum(["cluster", "node"]).default("cluster").describe("node: so many clients for every node."),
    begin: z
      .enum(["list", "stream", "now"])
      .default("now")
      .describe(
        "list: a list, then the watch after it. stream: the state as events of the watch. now: only what comes.",
      ),
    within: duration.default(0).describe("They begin spread by chance over so long."),
    breakEvery: span.optional().describe("Each loses its connection so often, and goes on from the last version."),
    away: span.prefault("1s").describe("Until it is back, after each loss."),
  }),
  z.strictObject({
    do: z.literal("change").describe("Objects of a collection that is there are changed one after another."),
    at,
    for: forLong,
    path: apiPath,
    perSecond: z.int().min(1).max(10_000).default(10),
  }),
  z.strictObject({
    do: z.literal("fail").describe("Nodes die: agents, runtimes and what ran there."),
    at,
    zone: z.string().optional().describe("All nodes of this zone."),
    nodes: many.optional().describe("So many, from the last on."),
    for: forLong,
  }),
  z.strictObject({
    do: z.literal("pull").describe("A DaemonSet with an image that no node has: every node pulls it."),
    at,
    name: place.max(40).default("pull"),
    imageSize: quantity.prefault("500Mi"),
  }),
  z.strictObject({
    do: z.literal("ready").describe("The driver writes pods' statuses as Ready, one after another. For silent nodes."),
    at,
    name: place,
    namespace: place.default("default"),
    every: duration.default(0).describe("Between two writes. Default: each after the answer to the one before."),
  }),
  z.strictObject({
    do: z.literal("objects").describe("Objects of one kind are created."),
    at,
    what: z.enum(["configmaps", "secrets", "services"]),
    namespace: place.default("default"),
    count: many,
    bytes: z.int().min(0).max(1_000_000).default(400).describe("Of each one's data."),
  }),
  z.strictObject({
    do: z.literal("delete").describe("A namespace goes, with all that is in it."),
    at,
    namespace: place,
  }),
  z.strictObject({
    do: z.literal("replay").describe("Requests of a recorded audit log, at their times."),
    at,
    log: z.string().min(1).describe("JSON lines, one audit event each; relative to this file."),
    speed: z.int().min(1).max(1000).default(1),
    users: z
      .array(z.string().min(1))
      .max(1000)
      .default([])
      .describe(
        "Only requests of these; * stands for any ending. Default: of all but nodes and the cluster's own components, which are played.",
      ),
  }),
] as const;

export const workloadRow = z.discriminatedUnion("do", rows, {
  error: `expected do: with one of ${rows.map(({ shape }) => shape.do.value).join(", ")}`,
});

export type WorkloadRow = z.infer<typeof workloadRow>;
export type RowOf<Verb extends WorkloadRow["do"]> = Extract<WorkloadRow, { readonly do: Verb }>;
export const workloadVerbs: readonly string[] = rows.map(({ shape }) => shape.do.value);

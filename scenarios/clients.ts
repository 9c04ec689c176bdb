/** Who talks to the server in a scenario: one row a client, its kind first. */
import { z } from "zod";
import { type EvictionSettings, parseEvictionSettings } from "../wire/eviction-thresholds.ts";
import { parseQuantity } from "../wire/quantity.ts";
import { duration, place, positiveDuration, span } from "./values.ts";

const namespace = place.default("default");

/** What every client has. */
const common = {
  name: place,
  server: place
    .optional()
    .describe("The server that it connects to, or any: another one for each connection. Default: the first."),
  start: duration.default(0).describe("When it starts."),
};

/** Collections that clients can be told to follow, by what scenarios call them. */
const collections = ["configmaps", "pods", "nodes", "leases", "events"] as const;
export type CollectionName = (typeof collections)[number];

const informer = z.strictObject({
  ...common,
  kind: z.literal("informer"),
  namespace,
  resource: z.enum(collections).default("configmaps"),
  begin: z
    .enum(["list", "watch"])
    .default("list")
    .describe("list: as controllers do. watch: a watch without a version, whose first events are the present state."),
  timeout: positiveDuration
    .optional()
    .describe(
      "Length that it asks its watches to have; without a word for this and 5 s more it takes them for dead. Default: the server's choice.",
    ),
});

const writer = z.strictObject({
  ...common,
  kind: z.literal("writer"),
  namespace,
  resource: z.enum(["configmaps", "events"]).default("configmaps"),
  every: positiveDuration.describe("Time between two writes."),
  until: positiveDuration.optional().describe("When it stops. Default: never."),
  objects: z.int().min(1).max(1000).default(5).describe("How many names it writes to."),
  bytes: z.int().min(0).max(900_000).default(0).describe("Ballast in each object."),
  finalizers: z
    .boolean()
    .default(false)
    .describe("Whether some objects have a finalizer, which it takes off in its own time."),
});

const lister = z.strictObject({
  ...common,
  kind: z.literal("lister"),
  namespace,
  resource: z.enum(collections).default("configmaps"),
  every: positiveDuration.describe("Time between two whole lists."),
  limit: z.int().min(1).max(10_000).default(3).describe("Objects a page."),
  pause: duration.default(0).describe("Time between two pages."),
});

const replicator = z.strictObject({
  ...common,
  kind: z.literal("replicator"),
  namespace,
  until: positiveDuration.optional().describe("After this it makes no more parents. It mends for ever."),
  parents: z.int().min(1).max(100).default(2).describe("How many parents it makes, one each second."),
  replicas: z.int().min(1).max(20).default(3).describe("Children that each parent is to have."),
});

const candidate = z.strictObject({
  ...common,
  kind: z.literal("candidate"),
  namespace,
  lease: place.describe("The lease that is campaigned for."),
  duration: positiveDuration.default(15_000_000).describe("How long a lease that is not renewed is respected."),
  renew: positiveDuration.default(2_000_000).describe("Time between two renewals, and between two attempts."),
  giveUp: positiveDuration.default(10_000_000).describe("A leader whose renewals fail for so long stops leading."),
});

const node = z.strictObject({
  ...common,
  kind: z.literal("node"),
  renew: span.default({ min: 10_000_000, max: 10_000_000 }).describe("Time between two renewals of its lease."),
  follows: z
    .enum(["all", "own"])
    .default("all")
    .describe("Which pods it watches. own: those that are bound to it, as agents do; what many nodes need."),
  timeout: positiveDuration
    .default(20_000_000)
    .describe("How long its watch may last. After it and five seconds without a word the watch begins anew."),
});

const quantity = z
  .string()
  .refine((text) => !("error" in parseQuantity(text)), { error: "expected a quantity such as 4, 500m or 4Gi" });

/** Soft thresholds of a scenario, as an agent's configuration has them. Times are whole milliseconds, rounded up. */
export function softSettings(
  soft: Readonly<Record<string, { readonly below: string; readonly for: number }>>,
): Pick<EvictionSettings, "evictionSoft" | "evictionSoftGracePeriod"> {
  const rows = Object.entries(soft);
  return {
    evictionSoft: Object.fromEntries(rows.map(([signal, { below }]) => [signal, below])),
    evictionSoftGracePeriod: Object.fromEntries(
      rows.map(([signal, row]) => [signal, `${Math.ceil(row.for / 1000)}ms`]),
    ),
  };
}

const agent = z.strictObject({
  ...common,
  kind: z.literal("agent"),
  capacity: z
    .strictObject({
      cpu: quantity.default("4"),
      memory: quantity.default("4Gi"),
      disk: quantity.default("40Gi"),
      pods: z.int().min(1).max(1000).default(110),
    })
    .prefault({})
    .describe("What its machine has."),
  thresholds: z
    .record(z.string(), z.string())
    .default({
      "memory.available": "100Mi",
      "nodefs.available": "10%",
      "nodefs.inodesFree": "5%",
      "pid.available": "5%",
    })
    .superRefine((evictionHard, context) => {
      const rules = parseEvictionSettings({ evictionHard });
      if ("error" in rules) context.addIssue({ code: "custom", message: rules.error });
    })
    .describe("Below which it evicts: by signal, a quantity or a percentage, as its configuration file has it."),
  soft: z
    .record(
      z.string(),
      z.strictObject({
        below: z.string().describe("A quantity or a percentage."),
        for: positiveDuration.describe("For so long it is crossed before somebody is evicted."),
      }),
    )
    .default({})
    .superRefine((soft, context) => {
      const rules = parseEvictionSettings(softSettings(soft));
      if ("error" in rules) context.addIssue({ code: "custom", message: rules.error });
    })
    .describe("Thresholds that evict after a grace period, by signal."),
  reclaim: z
    .record(z.string(), z.string())
    .default({})
    .superRefine((evictionMinimumReclaim, context) => {
      const rules = parseEvictionSettings({ evictionMinimumReclaim });
      if ("error" in rules) context.addIssue({ code: "custom", message: rules.error });
    })
    .describe("So much more than its threshold is made free once a signal evicts: a quantity or a percentage."),
  transition: positiveDuration
    .default(30_000_000)
    .describe("For so long after the last crossing of a threshold its node is told to be under pressure."),
  manifests: z
    .array(z.record(z.string(), z.json()))
    .max(100)
    .default([])
    .describe("Static pods: what lies in its folder of manifests."),
});

const monitor = z.strictObject({
  ...common,
  kind: z.literal("monitor"),
  grace: positiveDuration.default(40_000_000).describe("A node whose lease was not renewed for so long is not ready."),
});

const binder = z.strictObject({
  ...common,
  kind: z.literal("binder"),
  pods: z
    .int()
    .min(1)
    .max(1000)
    .default(3)
    .describe("How many pods it keeps, each bound to a node; by name pod-1, pod-2 …"),
  specs: z
    .array(z.record(z.string(), z.json()))
    .min(1)
    .max(100)
    .default([{ containers: [{ name: "main", image: "registry.example/main:1" }] }])
    .describe("Specs of its pods, of which each pod gets one, drawn from the seed. Default: one container."),
  every: positiveDuration.default(2_000_000).describe("Time between two looks."),
  until: positiveDuration.optional().describe("When it stops replacing. Default: never."),
  replace: positiveDuration
    .optional()
    .describe("How often it deletes one and makes it anew, on another node. Default: never."),
});

const callerRequest = /^(GET|DELETE) \/\S*$/;
const caller = z.strictObject({
  ...common,
  kind: z.literal("caller"),
  request: z
    .string()
    .regex(callerRequest, { error: "expected a request such as GET /api/v1/namespaces/default/pods" })
    .describe("What it asks, again and again."),
  every: positiveDuration.describe("Time between two requests."),
  until: positiveDuration.optional().describe("When it stops. Default: never."),
  token: z
    .strictObject({
      issuer: place.describe("Which of access.issuers signs it."),
      claims: z.record(z.string(), z.json()).default({}).describe("What it says beside iss, iat and exp."),
      lasts: positiveDuration.default(3_600_000_000).describe("From its making to its exp, in whole seconds."),
      renew: positiveDuration.optional().describe("How often a new one is asked for. Default: never."),
    })
    .optional()
    .describe("Who it is. Default: nobody, without credentials."),
});

export const clientRow = z.discriminatedUnion("kind", [
  informer,
  writer,
  lister,
  replicator,
  candidate,
  node,
  agent,
  monitor,
  binder,
  caller,
]);

/** What an import reads of objects that a cluster gave away; everything else of them is passed over. */
import { z } from "zod";
import { quantity } from "../../node-file.ts";
import { place } from "../../values.ts";

const texts = z.record(z.string(), z.string()).nullish();
const amounts = z.record(z.string(), quantity).nullish();
const name = z.string().min(1).max(300);
const namespace = place.default("default");
const selector = z
  .object({
    matchLabels: texts,
    matchExpressions: z
      .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).nullish() }))
      .nullish(),
  })
  .nullish();

const countRule = "expected a whole number of zero or more, or a percentage such as 25%, of 100% at most";
const countOrPercent = z.union(
  [z.int().min(0, { error: countRule }), z.string().regex(/^0{0,6}(100|\d{1,2})%$/, { error: countRule })],
  { error: countRule },
);

export const seenNode = z.object({
  metadata: z.object({ name, labels: texts }),
  spec: z
    .object({
      taints: z
        .array(
          z.object({
            key: z.string(),
            value: z.string().nullish(),
            effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
          }),
        )
        .nullish(),
      unschedulable: z.boolean().nullish(),
    })
    .nullish(),
  status: z.object({ capacity: amounts, allocatable: amounts }).nullish(),
});

const container = z.object({
  restartPolicy: z.string().nullish(),
  resources: z.object({ requests: amounts }).nullish(),
});

/** What all pods have, those as well of which nothing else is read. */
export const seenPodState = z.object({
  metadata: z.object({ name, namespace, deletionTimestamp: z.unknown().optional() }),
  status: z.object({ phase: z.string().nullish() }).nullish(),
});

export const seenPod = z.object({
  metadata: z.object({
    name,
    namespace,
    labels: texts,
    ownerReferences: z.array(z.object({ kind: z.string(), name, controller: z.boolean().nullish() })).nullish(),
  }),
  spec: z.object({
    nodeName: z.string().nullish(),
    containers: z.array(container).min(1),
    initContainers: z.array(container).nullish(),
    nodeSelector: texts,
    tolerations: z
      .array(
        z.object({
          key: z.string().nullish(),
          operator: z.enum(["Equal", "Exists"]).nullish(),
          value: z.string().nullish(),
          effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).nullish(),
          tolerationSeconds: z.int().nullish(),
        }),
      )
      .nullish(),
    priorityClassName: z.string().nullish(),
    priority: z.int().nullish(),
    terminationGracePeriodSeconds: z.int().min(0).nullish(),
    affinity: z.record(z.string(), z.unknown()).nullish(),
    topologySpreadConstraints: z.array(z.unknown()).nullish(),
  }),
});

export const seenBudget = z.object({
  metadata: z.object({ name, namespace }),
  spec: z
    .object({
      minAvailable: countOrPercent.nullish(),
      maxUnavailable: countOrPercent.nullish(),
      unhealthyPodEvictionPolicy: z.string().nullish(),
      selector,
    })
    .refine(({ minAvailable, maxUnavailable }) => minAvailable == null || maxUnavailable == null, {
      error: "minAvailable and maxUnavailable do not go together: expected one of them",
    }),
});

export const seenPriority = z.object({
  metadata: z.object({ name }),
  value: z.int(),
  globalDefault: z.boolean().nullish(),
  preemptionPolicy: z.string().nullish(),
});

export type SeenNode = z.infer<typeof seenNode>;
export type SeenPod = z.infer<typeof seenPod>;
export type SeenBudget = z.infer<typeof seenBudget>;
export type SeenPriority = z.infer<typeof seenPriority>;

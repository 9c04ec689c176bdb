/** Node files: which nodes a served cluster has, pool by pool, and how pods fare on them. */
import { z } from "zod";
import { parseQuantity } from "../wire/quantity.ts";
import { place, span } from "./values.ts";

export const quantity = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine((text) => !("error" in parseQuantity(text)), {
    error: "expected a quantity such as 500m, 16 or 64Gi",
    abort: true,
  })
  .refine((text) => !isNegative(text), { error: "expected a quantity of zero or more" });

function isNegative(text: string): boolean {
  const amount = parseQuantity(text);
  return "digits" in amount && amount.digits < 0n;
}

const taint = z.strictObject({
  key: z.string().min(1),
  value: z.string().default(""),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
});

const usage = z.strictObject({
  start: span.prefault("500ms..2s").describe("What the runtime takes to make a pod's sandbox."),
  stop: span.prefault("100ms..500ms").describe("How long a container takes to stop when it is asked to."),
  run: span
    .prefault("1s..3s")
    .describe("How long the containers of pods run that are not to run for ever, when their command says nothing."),
});

export const pool = z.strictObject({
  name: place.max(40).describe("Nodes are called by it and a number: general-0."),
  count: z.int().min(0).max(32_000).default(1),
  cpu: quantity.prefault("16"),
  memory: quantity.prefault("64Gi"),
  storage: quantity.prefault("100Gi").describe("Ephemeral storage."),
  pods: z.int().min(1).max(1000).default(110).describe("The most pods of a node."),
  resources: z.record(z.string(), quantity).default({}).describe("Extended resources, such as example.com/gpu: 4."),
  region: z.string().optional(),
  zones: z.array(z.string()).default([]).describe("Nodes are in them by turns."),
  labels: z.record(z.string(), z.string()).default({}),
  taints: z.array(taint).default([]),
  usage: usage.prefault({}),
});

export const nodeFileSchema = z.strictObject({ pools: z.array(pool).min(1) }).superRefine(({ pools }, context) => {
  const names = new Set<string>();
  for (const [at, { name }] of pools.entries()) {
    if (names.has(name))
      context.addIssue({ code: "custom", path: ["pools", at, "name"], message: `the name ${name} is taken` });
    names.add(name);
  }
});

export type NodePool = z.infer<typeof pool>;
export type NodeFile = z.infer<typeof nodeFileSchema>;

/** Pods that are there from the beginning, each where it is said to be: what an imported cluster is made of. */
import { z } from "zod";
import { quantity } from "../node-file.ts";
import { place } from "../values.ts";

/** Nodes of a pool by their numbers: `0..99 105*2` for one pod each on nodes 0 to 99 and two on node 105. */
const placesPattern = /^\d{1,5}(\.\.\d{1,5})?(\*\d{1,4})?( \d{1,5}(\.\.\d{1,5})?(\*\d{1,4})?)*$/;

const places = z
  .string()
  .max(1_000_000)
  .regex(placesPattern, { error: 'expected numbers of nodes such as "0..99 105*2"' });

export interface NodeRange {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
  /** On each of them. */
  readonly count: number;
}

export function rangesOf(text: string): readonly NodeRange[] {
  return text.split(" ").map((part) => {
    const [range = "", count = "1"] = part.split("*");
    const [first = "0", last = first] = range.split("..");
    return { first: Number(first), last: Number(last), count: Number(count) };
  });
}

/** The shortest text of so many pods on each node; `counts` by number of node, the numbers rising. */
export function placesText(counts: readonly (readonly [node: number, count: number])[]): string {
  const ranges: { first: number; last: number; count: number }[] = [];
  for (const [node, count] of counts) {
    const last = ranges.at(-1);
    if (last !== undefined && last.last === node - 1 && last.count === count) last.last = node;
    else ranges.push({ first: node, last: node, count });
  }
  return ranges
    .map(({ first, last, count }) => `${first}${last > first ? `..${last}` : ""}${count > 1 ? `*${count}` : ""}`)
    .join(" ");
}

const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(["Equal", "Exists"]).optional(),
  value: z.string().optional(),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional(),
  tolerationSeconds: z.int().optional(),
});

/** Whose pods they are. `none`: nobody makes them anew. */
const standingOwners = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "none"] as const;

export const standingRow = z.strictObject({
  name: place.max(52),
  namespace: place.default("default"),
  owner: z.enum(standingOwners).default("Deployment"),
  on: z
    .record(z.string(), places)
    .default({})
    .describe('How many on which nodes, by pool: { general: "0..99 105*2" } is one on each of a hundred, two on one.'),
  waiting: z.int().min(0).max(200_000).default(0).describe("Pods that no node has yet."),
  labels: z.record(z.string(), z.string()).default({}),
  containers: z
    .array(
      z.strictObject({
        cpu: quantity.optional(),
        memory: quantity.optional(),
        resources: z.record(z.string(), quantity).default({}).describe("Others, such as example.com/gpu: 1."),
      }),
    )
    .min(1)
    .max(50)
    .prefault([{}])
    .describe("What each container asks for."),
  size: z.int().min(0).max(200_000).default(0).describe("Bytes of each pod as JSON, made up by an annotation."),
  grace: z.int().min(0).max(1_000_000).default(30).describe("Seconds that its containers have to stop."),
  priorityClass: z.string().optional(),
  nodeSelector: z.record(z.string(), z.string()).default({}),
  tolerations: z.array(toleration).max(100).default([]),
});

export type StandingRow = z.infer<typeof standingRow>;
export type Toleration = z.infer<typeof toleration>;

/** What is wrong with where pods stand; undefined: nothing. `nodeCounts` by pool. */
export function placesProblem(on: StandingRow["on"], nodeCounts: ReadonlyMap<string, number>): string | undefined {
  for (const [name, text] of Object.entries(on)) {
    const nodes = nodeCounts.get(name);
    if (nodes === undefined) return `no pool is called ${name}`;
    for (const { first, last, count } of rangesOf(text)) {
      if (first > last || count < 1) return `${name}: "${first}..${last}*${count}" is no pod on no node`;
      if (last >= nodes) return `${name}: it has no node ${last}: its ${nodes} nodes count from 0`;
    }
  }
  return undefined;
}

/**
 * Bugs that a node agent can be told to have, modelled on published ones. With every switch off it has none. Those that a
 * client sees are rows of `server-bugs.ts`, too: agents of the embedded cluster have them when they are asked for.
 */
import { commonMistake, type BugRow } from "./bug-row.ts";

export const seenAgentBugs = {
  "evict-soft-without-grace": {
    area: "eviction",
    symptom: "A soft threshold evicts at once, whatever its grace period.",
    source: commonMistake,
  },
  "evict-two-a-look": {
    area: "eviction",
    symptom: "Two pods are evicted at one look at usage.",
    source: commonMistake,
  },
  "evict-min-reclaim-too-little": {
    area: "eviction",
    symptom: "Evictions end at the threshold, and not when the minimum reclaim is there.",
    source: "kubernetes/kubernetes#56152",
  },
  "evict-pressure-flap": {
    area: "eviction",
    symptom: "A condition of pressure goes as soon as the pressure does, without its transition period.",
    source: "kubernetes/kubernetes#25372, #12041",
  },
} as const satisfies Record<string, BugRow>;

interface UnseenBug {
  /** What is wrong, in one sentence. */
  readonly symptom: string;
  /** Published report that it is modelled on. */
  readonly source: string;
}

/** It takes images, restarts, partitions or many nodes to see these: simulations do. */
const unseenAgentBugs = {
  "evict-at-the-threshold": {
    symptom: "Pods are evicted when exactly as much is available as the threshold says.",
    source: commonMistake,
  },
  "evict-critical-static": {
    symptom: "Static pods and pods of the system's priorities are evicted like any other.",
    source: "kubernetes/kubernetes#73572, #74222, #75144, #83317",
  },
  "evict-grace-sign-bug": {
    symptom: "The greatest grace period of a soft eviction lengthens what a pod asks for.",
    source: "kubernetes/kubernetes#118172, #141017, #64530, #124405",
  },
  "evict-wrong-rank": {
    symptom: "The pod that uses the most goes first, whatever it requests and whatever its priority.",
    source: "kubernetes/kubernetes#27199, #30311",
  },
  "evict-inodes-ignored": {
    symptom: "A node without inodes and with free bytes is under no pressure.",
    source: "kubernetes/kubernetes#21546, #41033, #44208",
  },
  "evict-min-reclaim-stuck": {
    symptom:
      "Unused images free a little more than the threshold wants, and nothing is done about the minimum reclaim.",
    source: "kubernetes/kubernetes#99094",
  },
  "evict-although-reclaim-enough": {
    symptom: "A pod is evicted though the unused images that went had left enough.",
    source: "kubernetes/kubernetes#56573, #44951",
  },
  "evict-soft-imagefs-no-gc": {
    symptom: "Under a soft threshold pods go, and unused images stay.",
    source: "kubernetes/kubernetes#51516",
  },
  "evict-all-on-restart-threshold-change": {
    symptom: "An agent that starts under pressure evicts every pod at once.",
    source: "kubernetes/kubernetes#83612",
  },
  "imagegc-overshoots-low": {
    symptom: "Image collection does not stop when enough is free: every unused image goes.",
    source: "kubernetes/kubernetes#92925",
  },
  "imagegc-deletes-sandbox": {
    symptom: "Image collection removes the image that every pod needs to start.",
    source: "kubernetes/kubernetes#81756, #106037, #103494, #111796",
  },
  "imagegc-lru-wrong": {
    symptom: "Image collection takes what was used or pulled last, and spares what nobody has used for long.",
    source: "kubernetes/kubernetes#25237",
  },
  "lease-without-owner": {
    symptom: "An agent makes its lease without an owner when its node is gone.",
    source: "kubernetes/kubernetes#109777, #119660, #84981; kubernetes/kops#13259",
  },
  "lease-renewed-for-deleted-node": {
    symptom: "An agent renews the lease of a node that was deleted, and never registers again.",
    source: "kubernetes/kubernetes#116485, #115761, #71398",
  },
  "lease-period-vs-grace-flap": {
    symptom: "A lease is renewed every ten seconds, however short it is.",
    source: "kubernetes/kubernetes#80172",
  },
  "ready-blip-on-restart": {
    symptom: "An agent that comes back says that its node is not ready before it has asked its runtime.",
    source: "kubernetes/kubernetes#96945, #89748",
  },
  "status-not-refreshed-after-reconnect": {
    symptom: "After a partition a node stays not ready: its agent sends only what it thinks has changed.",
    source: "kubernetes/kubernetes#80968, #88255, #83455",
  },
} as const satisfies Record<string, UnseenBug>;

export type AgentBugName = keyof typeof seenAgentBugs | keyof typeof unseenAgentBugs;
export type AgentBugs = Readonly<Record<AgentBugName, boolean>>;

const agentBugNames = Object.keys({ ...seenAgentBugs, ...unseenAgentBugs }) as readonly AgentBugName[];

/** Every switch off, or those of the named that an agent has. */
export function agentBugsOn(names: readonly string[] = []): AgentBugs {
  const on = new Set<string>(names);
  return Object.fromEntries(agentBugNames.map((name) => [name, on.has(name)])) as AgentBugs;
}

/**
 * Bugs that a node agent can be told to have, modelled on published ones. With every switch off it has none. Those that a
 * client sees are rows of `server-bugs.ts`, too: agents of the embedded cluster have them when they are asked for.
 */
import { commonMistake, type BugRow } from "./bug-row.ts";
import { podBugs } from "./pod-bugs.ts";

export const seenAgentBugs = {
  "evict-soft-without-grace": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A soft threshold evicts at once, whatever its grace period.",
    source: commonMistake,
  },
  "evict-two-a-look": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Two pods are evicted at one look at usage.",
    source: commonMistake,
  },
  "evict-min-reclaim-too-little": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Evictions end at the threshold, and not when the minimum reclaim is there.",
    source: "kubernetes/kubernetes#56152",
  },
  "evict-pressure-flap": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A condition of pressure goes as soon as the pressure does, without its transition period.",
    source: "kubernetes/kubernetes#25372, #12041",
  },
  "evict-critical-static": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Static pods and pods of the system's priorities are evicted like any other.",
    source: "kubernetes/kubernetes#73572, #74222, #75144, #83317",
  },
  "evict-wrong-rank": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "The pod that uses the most goes first, whatever it requests and whatever its priority.",
    source: "kubernetes/kubernetes#27199, #30311",
  },
  "evict-inodes-ignored": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A node without inodes and with free bytes is under no pressure.",
    source: "kubernetes/kubernetes#21546, #41033, #44208",
  },
  "evict-grace-of-the-shortest": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Every soft threshold has the shortest of the grace periods.",
    source: commonMistake,
  },
  "evict-transition-from-first": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom:
      "The transition period counts from the first crossing of a threshold, and not from the last look below it.",
    source: commonMistake,
  },
  "evict-condition-after-grace": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A soft threshold raises no condition before its grace period is over.",
    source: commonMistake,
  },
  "evict-condition-of-hard-alone": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Soft thresholds evict, and raise no condition.",
    source: commonMistake,
  },
  "evict-rank-best-effort-first": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Pods that request nothing go before all others, whatever the others use.",
    source: commonMistake,
  },
  "evict-critical-boundary": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "The lowest of the system's priorities is not spared.",
    source: commonMistake,
  },
  "evict-without-condition": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "An evicted pod has no condition of a disruption.",
    source: commonMistake,
  },
  "evict-message-swapped": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom:
      "The message of an eviction takes what is available for the threshold, and the threshold for what is available.",
    source: commonMistake,
  },
  "evict-at-the-threshold": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Pods are evicted when exactly as much is available as the threshold says.",
    source: commonMistake,
  },
  "evict-grace-sign-bug": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "The greatest grace period of a soft eviction lengthens what a pod asks for.",
    source: "kubernetes/kubernetes#118172, #141017, #64530, #124405",
  },
  "evict-grace-goes-on": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A soft threshold that was clear for a while goes on with the grace period that had begun.",
    source: commonMistake,
  },
  "evict-percent-of-allocatable": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A percentage is taken of what a node leaves to pods, and not of its capacity.",
    source: commonMistake,
  },
  "evict-minimum-reclaim-of-hard-alone": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Soft thresholds have no minimum reclaim.",
    source: commonMistake,
  },
  "evict-minimum-reclaim-from-the-start": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A threshold is met when less than its value and its minimum reclaim together is available.",
    source: commonMistake,
  },
  "evict-on-old-figures": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A pod is evicted for figures that were there before the last eviction.",
    source: commonMistake,
  },
  "evict-rank-by-limits": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Pods are ranked by how much they are above their limits, and not above their requests.",
    source: commonMistake,
  },
  "evict-rank-priority-first": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom:
      "Of pods with different priorities the lowest goes first, though only the other uses more than it requests.",
    source: commonMistake,
  },
  "evict-rank-by-share": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Among pods above their requests the one goes first that is the most times above.",
    source: commonMistake,
  },
  "evict-rank-unmeasured-last": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A pod without figures goes last.",
    source: commonMistake,
  },
  "evict-rank-inodes-by-bytes": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Short of inodes, the pod goes that has the most bytes.",
    source: commonMistake,
  },
  "evict-rank-disk-of-the-other": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Pods are ranked by what they have on the other file system.",
    source: commonMistake,
  },
  "evict-hard-leaves-grace": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A pod that goes for a hard threshold is left its own grace period.",
    source: commonMistake,
  },
  "evict-soft-leaves-grace": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A soft eviction leaves pods their own grace period, whatever the greatest is.",
    source: commonMistake,
  },
  "evict-soft-at-once": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A soft eviction leaves pods no grace period, whatever the greatest is.",
    source: commonMistake,
  },
  "evict-shown-early": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A pod is said to have been evicted while its containers run.",
    source: commonMistake,
  },
  "evict-message-without-quantities": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "The message of an eviction names no threshold.",
    source: commonMistake,
  },
  "evict-memory-is-last": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Short of memory and of disk, an agent acts on the disk.",
    source: commonMistake,
  },
  "evict-one-for-each-signal": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "Where two thresholds drive, a pod is evicted for each at one look.",
    source: commonMistake,
  },
  "evict-waits-for-a-second-look": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A hard threshold evicts nobody before it is met at two looks.",
    source: commonMistake,
  },
  "evict-pids-ignored": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "A node that runs out of process numbers is under no pressure.",
    source: commonMistake,
  },
  "evict-stops-after-first": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "After one eviction a threshold evicts nobody until it was clear.",
    source: commonMistake,
  },
  "evict-message-of-requests": {
    area: "eviction",
    foundBy: "joined-nodes-evict-lawfully",
    symptom: "The message of an eviction says of containers within their requests that they use more.",
    source: commonMistake,
  },
  ...podBugs,
} as const satisfies Record<string, BugRow>;

interface UnseenBug {
  /** What is wrong, in one sentence. */
  readonly symptom: string;
  /** Published report that it is modelled on. */
  readonly source: string;
}

/**
 * Bugs that the suite does not see at a node of its own: it takes images, restarts, partitions or many nodes. Simulations and
 * tests of the agent see many of them, and not all.
 */
const unseenAgentBugs = {
  "preempt-critical-too": {
    symptom: "Room for a critical pod is made by other critical pods, too.",
    source: commonMistake,
  },
  "preempt-dear-first": {
    symptom: "Pods whose resources are guaranteed go before all others, to make room for a critical one.",
    source: commonMistake,
  },
  "preempt-one-short": {
    symptom: "A critical pod is started when most of what it lacks is there, and not all.",
    source: commonMistake,
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
  "evict-forgotten-after-restart": {
    symptom: "A pod that was evicted is started again by an agent that starts anew.",
    source: "kubernetes/kubernetes#31362, #105358, #37447",
  },
  "phase-leaves-terminal": {
    symptom: "A pod that has ended gets another phase.",
    source: "kubernetes/kubernetes#54499, #58711, #125410, #111646",
  },
  "mirror-stuck-terminating": {
    symptom: "A mirror pod that is being deleted is left so for ever.",
    source: "kubernetes/kubernetes#22625, #22626",
  },
  "mirror-recreate-churn": {
    symptom: "A mirror pod that was deleted once is made and deleted several times before it stays.",
    source: "kubernetes/kubernetes#79147",
  },
  "mirror-not-recreated-after-terminal": {
    symptom: "A static pod whose containers have ended has no mirror any more once that is deleted.",
    source: "kubernetes/kubernetes#29845, #76598, #41507",
  },
  "static-readd-same-uid-stuck": {
    symptom: "A manifest that is taken away and put back unchanged is never run again.",
    source: "kubernetes/kubernetes#104648, #113145",
  },
  "static-two-running-same-name": {
    symptom: "A changed manifest is run before the containers of the old one have ended.",
    source: "kubernetes/kubernetes#97722, #104743",
  },
  "static-uid-collision-or-drift": {
    symptom: "The same manifest has the same uid on every node.",
    source: "kubernetes/kubernetes#87461, #67537, #104712",
  },
  "static-removed-while-api-down": {
    symptom: "While the API server is away, a pod whose manifest is gone goes on.",
    source: "kubernetes/kubernetes#112814, #43292; rancher/rke2#3415",
  },
  "status-patch-hits-new-uid": {
    symptom: "The last word about a deleted pod is told of the pod that has its name now.",
    source: "kubernetes/kubernetes#82387",
  },
  "admission-rejects-running-on-restart": {
    symptom: "An agent that starts again admits waiting pods before those that run, and rejects some of the latter.",
    source: "kubernetes/kubernetes#105523, #37447",
  },
  "services-not-awaited": {
    symptom: "Containers that are started before the agent knows the cluster's services are told of none.",
    source: commonMistake,
  },
  "volumes-stay-as-mounted": {
    symptom: "Volumes of config maps, secrets and the pod itself stay as they were when the pod began.",
    source: commonMistake,
  },
  "volumes-change-in-pieces": {
    symptom: "Files of a volume change one after another, so that a reader sees old ones beside new ones.",
    source: commonMistake,
  },
  "immutable-cache-stale-after-recreate": {
    symptom: "An immutable object that was deleted and made again is still the old one to pods.",
    source: "kubernetes/kubernetes#132046",
  },
} as const satisfies Record<string, UnseenBug>;

export type AgentBugName = keyof typeof seenAgentBugs | keyof typeof unseenAgentBugs;
export type AgentBugs = Readonly<Record<AgentBugName, boolean>>;

export const agentBugNames = Object.keys({ ...seenAgentBugs, ...unseenAgentBugs }) as readonly AgentBugName[];

/** What goes wrong with it. */
export const agentBugSymptom = (name: AgentBugName): string => ({ ...seenAgentBugs, ...unseenAgentBugs })[name].symptom;

/** Every switch off, or those of the named that an agent has. */
export function agentBugsOn(names: readonly string[] = []): AgentBugs {
  const on = new Set<string>(names);
  return Object.fromEntries(agentBugNames.map((name) => [name, on.has(name)])) as AgentBugs;
}

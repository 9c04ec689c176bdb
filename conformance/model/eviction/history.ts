/**
 * What is known of one node when its evictions are judged: the rules, every look of the agent at usage, and what the
 * target's API showed of the node and of its pods. Times are milliseconds of one clock.
 */
import type { EvictionRules, PressureCondition } from "../../../wire/eviction-thresholds.ts";
import type { UsageReading } from "../../../wire/node-host.ts";
import type { Violation } from "../../client/findings.ts";

export interface EvictionHistory {
  readonly rules: EvictionRules;
  /** Images lie on a file system of their own. */
  readonly dedicatedImagefs: boolean;
  /** Ascending. Each is one synchronization. */
  readonly readings: readonly UsageReading[];
  /** The node as it was seen, ascending. */
  readonly sightings: readonly NodeSighting[];
  readonly pods: readonly PodLife[];
  readonly patience: Patience;
  /** A negative greatest grace period may come to no time at all: an implementation is known that has it so. */
  readonly negativeGraceIsOpen?: boolean;
}

/** How late a lawful agent may be; the documents set no bound, so whoever records chooses. */
export interface Patience {
  /** From a look to the node's status that shows it. */
  readonly reportMillis: number;
  /** From the look that decides an eviction to the pod's status that shows it, beside the pod's time to end. */
  readonly evictionMillis: number;
  /** From that look to the event that tells of it. */
  readonly tellMillis: number;
  /** From a condition to the taint of it. */
  readonly taintMillis: number;
}

export interface NodeSighting {
  readonly atMillis: number;
  /** A condition that was not shown is missing. */
  readonly conditions: Readonly<Partial<Record<PressureCondition, "True" | "False" | "Unknown">>>;
  /** Pressure conditions that have a taint with the effect NoSchedule. */
  readonly taints: ReadonlySet<PressureCondition>;
}

export interface PodLife {
  /** `namespace/name`. */
  readonly name: string;
  /** Absent in the object: 0. */
  readonly priority: number;
  /** Static, or the mirror of a static pod. */
  readonly static: boolean;
  /** Sums over the containers; what is not requested is 0. */
  readonly requests: { readonly memoryBytes: number; readonly diskBytes: number };
  readonly graceSeconds: number;
  /** From when on the agent surely runs it, and the last time that it was seen to run. */
  readonly startedMillis: number;
  readonly lastAliveMillis: number;
  /** Every status that was shown, without repetitions, in order. */
  readonly statuses: readonly PodStatus[];
  readonly eviction: EvictionShown | undefined;
}

export interface PodStatus {
  readonly phase: string;
  readonly reason: string;
}

/** A status that says that the pod was evicted for what the node lacks. It was decided at a look before. */
export interface EvictionShown extends PodStatus {
  readonly seenMillis: number;
  readonly message: string;
  /** A container was still shown to run when the pod was first shown to be evicted. */
  readonly containersRun?: boolean;
  /** An event told of it: it was not there at the one time, and there at the other. Absent: none was seen. */
  readonly told?: { readonly afterMillis: number; readonly byMillis: number };
  /** Status and reason of the condition DisruptionTarget. */
  readonly disruptionTarget: { readonly status: string; readonly reason: string } | undefined;
}

/** A pod that was evicted. */
export type Victim = PodLife & { readonly eviction: EvictionShown };

export function victimsOf(history: EvictionHistory): Victim[] {
  return history.pods.filter((pod): pod is Victim => pod.eviction !== undefined);
}

/** What a law found. `judged` is false where the history gave it no occasion: that proves nothing. */
export interface Judgement {
  readonly judged: boolean;
  readonly violation: Violation | undefined;
}

/** Priorities from here on are the system's own. Source: the fact sheet of the 1.33 agent, on killing and status. */
const criticalPriorityMin = 2_000_000_000;

export function isCritical(pod: Pick<PodLife, "static" | "priority">): boolean {
  return pod.static || pod.priority >= criticalPriorityMin;
}

/** Judges each until one is wrong; judged when there was any. */
export function judgeEach<Item>(items: readonly Item[], judge: (item: Item) => Violation | undefined): Judgement {
  for (const item of items) {
    const violation = judge(item);
    if (violation !== undefined) return { judged: true, violation };
  }
  return { judged: items.length > 0, violation: undefined };
}

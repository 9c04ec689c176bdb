/**
 * The thresholds that an agent acts on: those of its configuration, and those that follow from them.
 * Source: document 3, Options, --eviction-hard and --experimental-allocatable-ignore-eviction; the fact sheet of the 1.33
 * agent, signals and defaults.
 */
import type { EvictionRules, EvictionThreshold } from "../../../wire/eviction-thresholds.ts";
import type { DiskLayout } from "../stats/figures.ts";

export interface ThresholdOptions {
  /** `pods` is among what node allocatable is enforced for. */
  readonly enforcesPods: boolean;
  /** --experimental-allocatable-ignore-eviction */
  readonly ignoresEviction: boolean;
}

/** Each hard threshold of memory also guards the memory of all pods together. */
export function withAllocatable(rules: EvictionRules, options: ThresholdOptions): EvictionRules {
  if (!options.enforcesPods || options.ignoresEviction) return rules;
  const copies = rules.thresholds
    .filter(({ signal, graceMillis }) => signal === "memory.available" && graceMillis === 0)
    .map((threshold): EvictionThreshold => ({ ...threshold, signal: "allocatableMemory.available" }));
  return copies.length === 0 ? rules : { ...rules, thresholds: [...rules.thresholds, ...copies] };
}

/**
 * What a user wrote for containerfs is not used: it has the values of the file system that it is part of, hard and soft.
 * Every threshold keeps its place; those that nobody wrote come last.
 */
export function withContainerfs(thresholds: readonly EvictionThreshold[], layout: DiskLayout): EvictionThreshold[] {
  const whole = layout === "dedicated-imagefs" ? "imagefs" : "nodefs";
  const isHard = ({ graceMillis }: EvictionThreshold): boolean => graceMillis === 0;
  const kept = thresholds.map((threshold): EvictionThreshold => {
    if (!threshold.signal.startsWith("containerfs.")) return threshold;
    const signal = threshold.signal.replace("containerfs", whole);
    const like = thresholds.find((each) => each.signal === signal && isHard(each) === isHard(threshold));
    return like === undefined ? { ...threshold, value: { amount: 0 } } : { ...like, signal: threshold.signal };
  });
  const added = thresholds
    .filter(({ signal }) => signal.startsWith(`${whole}.`))
    .map((threshold): EvictionThreshold => {
      const signal = threshold.signal.endsWith(".available") ? "containerfs.available" : "containerfs.inodesFree";
      return { ...threshold, signal };
    })
    .filter((copy) => !kept.some((each) => each.signal === copy.signal && isHard(each) === isHard(copy)));
  return [...kept, ...added];
}

/**
 * The thresholds that an agent acts on: those of its configuration, and those that follow from them.
 * Source: document 3, Options, --eviction-hard and --experimental-allocatable-ignore-eviction; the fact sheet of the 1.33
 * agent, signals, grammar and defaults.
 */
import type { EvictionRules, EvictionThreshold } from "../../../wire/eviction-thresholds.ts";
import type { DiskLayout } from "../stats/figures.ts";

export type ThresholdMap = Readonly<Record<string, string>>;

export interface HardDefaults {
  /** Of an agent without a file of configuration. */
  readonly withoutFile: ThresholdMap;
  /** Of a file that sets none. */
  readonly ofFile: ThresholdMap;
}

const documented: ThresholdMap = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
};

/**
 * Document 3 has one set of defaults on Linux. The 1.33 agent has thresholds by default only where a file was loaded, and
 * there one more.
 */
export const hardDefaults: Readonly<Record<"documented" | "observed", HardDefaults>> = {
  documented: { withoutFile: documented, ofFile: documented },
  observed: { withoutFile: {}, ofFile: { ...documented, "imagefs.inodesFree": "5%" } },
};

/** A file that sets any hard threshold replaces the whole set, unless it asks to have the missing ones filled in. */
export function hardOfFile(
  given: ThresholdMap | undefined,
  mergeDefaults: boolean,
  { ofFile }: HardDefaults,
): ThresholdMap {
  if (given === undefined) return ofFile;
  return mergeDefaults ? { ...ofFile, ...given } : given;
}

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

/** Short histories for tests of the laws: a look every ten seconds at memory, of which there are a hundred. */
import { type EvictionSettings, parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import type { UsageReading } from "../../../wire/node-host.ts";
import type { EvictionHistory, EvictionShown, NodeSighting, PodLife } from "./history.ts";

export function history(
  settings: EvictionSettings,
  available: readonly number[],
  rest: Partial<EvictionHistory> = {},
): EvictionHistory {
  const rules = parseEvictionSettings(settings);
  if ("error" in rules) throw new Error(rules.error);
  return {
    rules,
    dedicatedImagefs: false,
    readings: available.map((each, index) => reading(index * 10_000, each)),
    sightings: [],
    pods: [],
    patience: { reportMillis: 5000, evictionMillis: 3000, tellMillis: 1500, taintMillis: 5000 },
    ...rest,
  };
}

export function reading(atMillis: number, available: number, pods: UsageReading["pods"] = {}): UsageReading {
  return { atMillis, takenMillis: atMillis, signals: { "memory.available": { available, capacity: 100 } }, pods };
}

export function memory(memoryBytes: number): UsageReading["pods"][string] {
  return { memoryBytes, pids: 1, layers: { bytes: 0, inodes: 0 }, volumes: { bytes: 0, inodes: 0 } };
}

export function podLife(name: string, fields: Partial<PodLife> = {}): PodLife {
  return {
    name,
    priority: 0,
    static: false,
    requests: { memoryBytes: 0, diskBytes: 0 },
    graceSeconds: 0,
    startedMillis: 0,
    lastAliveMillis: 1_000_000,
    statuses: [],
    eviction: undefined,
    ...fields,
  };
}

/** Shown a second after it was last seen to run. */
export function evicted(name: string, seenMillis: number, fields: Partial<PodLife> = {}): PodLife {
  return podLife(name, { lastAliveMillis: seenMillis - 1000, eviction: shown(seenMillis), ...fields });
}

export function shown(seenMillis: number, fields: Partial<EvictionShown> = {}): EvictionShown {
  return {
    phase: "Failed",
    reason: "Evicted",
    seenMillis,
    message: "The node was low on resource: memory. Threshold quantity: 20, available: 15. ",
    disruptionTarget: { status: "True", reason: "TerminationByKubelet" },
    ...fields,
  };
}

export function sighting(atMillis: number, memoryPressure: "True" | "False", tainted = false): NodeSighting {
  return {
    atMillis,
    conditions: { MemoryPressure: memoryPressure },
    taints: new Set(tainted ? ["MemoryPressure" as const] : []),
  };
}

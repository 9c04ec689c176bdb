/**
 * Where the first objective of an experiment breaks as one parameter grows, and what binds there. Values are bisected; then
 * the run of the first breach is played again with each limit relieved in turn, all else and all chance the same: what binds is
 * the limit without which the objective holds.
 */
import type { CapacityRun, ObjectiveResult } from "../../reports/schema/capacity-report.ts";
import type { Changes } from "../../scenarios/capacity/load.ts";
import type { Experiment } from "../../scenarios/capacity/schema.ts";

export type ConstraintName =
  | "reads in flight"
  | "writes in flight"
  | "watch cache"
  | "store size"
  | "agent rate limit"
  | "scheduler"
  | "controllers"
  | "link"
  | "processors";

export interface Relieved {
  readonly constraint: ConstraintName;
  /** What was changed to relieve it. */
  readonly changes: Changes;
  /** Of the objective that was broken. */
  readonly value: number | undefined;
  readonly met: boolean;
  /** The part of the excess over the objective's limit that is gone: 1 for all of it, negative when it got worse. */
  readonly gain: number;
}

export interface Found {
  readonly parameter: string;
  /** The largest value at which all objectives held; undefined when not even the smallest one does. */
  readonly holdsAt: number | undefined;
  /** The smallest value at which one was broken; undefined when all held up to the largest. */
  readonly breaksAt: number | undefined;
  readonly tried: readonly { readonly value: number; readonly met: boolean; readonly objective?: ObjectiveResult }[];
  readonly broken: ObjectiveResult | undefined;
  /** Undefined: none of them alone. */
  readonly binding: ConstraintName | undefined;
  readonly relieved: readonly Relieved[];
  readonly evidence: readonly string[];
  /** There where it was interrupted: the rest is what was known by then, and what binds is not. */
  readonly interrupted?: true;
}

export interface Search {
  readonly parameter: string;
  readonly from: number;
  readonly to: number;
  /** One run with these changes, always with the same seed; asked for several times at once. Undefined: it was interrupted, and so is the search. */
  readonly play: (changes: Changes) => Promise<CapacityRun | undefined>;
  /** As the experiment is with these changes. */
  readonly experiment: (changes: Changes) => Experiment;
  readonly onProgress?: (text: string) => void;
}

export async function search({ parameter, from, to, play, experiment, onProgress }: Search): Promise<Found> {
  const tried: Found["tried"][number][] = [];
  /** The largest value that holds, and the smallest one that does not with its run. */
  const known: { low?: number; high?: { readonly value: number; readonly run: CapacityRun } } = {};
  /** False: it was interrupted. */
  const tries = async (value: number): Promise<boolean> => {
    onProgress?.(`${parameter}=${value}`);
    const run = await play([[parameter, value]]);
    if (run === undefined) return false;
    const broken = run.objectives.find(({ met }) => !met);
    tried.push({ value, met: broken === undefined, ...(broken === undefined ? {} : { objective: broken }) });
    if (broken === undefined) known.low = value;
    else known.high = { value, run };
    return true;
  };
  let isWhole = await tries(from);
  if (isWhole && known.low !== undefined) isWhole = await tries(to);
  while (isWhole && known.low !== undefined && known.high !== undefined) {
    if (known.high.value - known.low <= Math.max(1, Math.floor(known.low / 50))) break;
    isWhole = await tries(Math.floor((known.low + known.high.value) / 2));
  }
  const { low, high } = known;
  const run = high?.run;
  const at = run === undefined ? -1 : run.objectives.findIndex(({ met }) => !met);
  const broken = run?.objectives[at];
  const relieved: Relieved[] = [];
  if (isWhole && high !== undefined && broken !== undefined) {
    const limits = reliefs(experiment([[parameter, high.value]]), parameter);
    onProgress?.(`${parameter}=${high.value} with each of ${limits.length} limits relieved`);
    // Each is a run of its own: whoever plays them may play several at a time.
    const runs = await Promise.all(limits.map(([, changes]) => play([[parameter, high.value], ...changes])));
    for (const [index, [constraint, changes]] of limits.entries()) {
      const result = runs[index]?.objectives[at];
      if (result === undefined) isWhole = false;
      else
        relieved.push({
          constraint,
          changes,
          value: result.value,
          met: result.met,
          gain: gainOf(broken, result.value),
        });
    }
  }
  const best = relieved.reduce<Relieved | undefined>(
    (found, each) => (each.gain > (found?.gain ?? 0.2) ? each : found),
    undefined,
  );
  return {
    parameter,
    holdsAt: low,
    breaksAt: high?.value,
    tried,
    broken,
    binding: isWhole ? best?.constraint : undefined,
    relieved,
    evidence: run === undefined ? [] : evidenceOf(run),
    ...(isWhole ? {} : { interrupted: true }),
  };
}

function gainOf({ value = 0, limit }: ObjectiveResult, after = 0): number {
  const excess = value - limit;
  return excess <= 0 ? 0 : (value - after) / excess;
}

/** Each limit that the experiment has, made several times as wide; but not the parameter itself. */
function reliefs({ cluster }: Experiment, parameter: string): readonly (readonly [ConstraintName, Changes])[] {
  const { server, agents } = cluster;
  const flag = (name: string, usual: number): number => 10 * Number(agents.flags[name] ?? usual);
  const all: readonly (readonly [ConstraintName, Changes | undefined])[] = [
    ["reads in flight", server.reads === 0 ? undefined : [["cluster.server.reads", 4 * server.reads]]],
    ["writes in flight", server.writes === 0 ? undefined : [["cluster.server.writes", 4 * server.writes]]],
    ["watch cache", [["cluster.server.historyWindow", "24h"]]],
    ["store size", server.storeQuota === undefined ? undefined : [["cluster.server.storeQuota", null]]],
    [
      "agent rate limit",
      agents.kind === "silent" || (cluster.nodes === 0 && cluster.pools.length === 0)
        ? undefined
        : [
            [
              "cluster.agents.flags",
              { ...agents.flags, "svc-api-qps": flag("svc-api-qps", 50), "svc-api-burst": flag("svc-api-burst", 100) },
            ],
          ],
    ],
    ["scheduler", cluster.scheduler === "none" ? undefined : [["cluster.scheduler", "none"]]],
    ["controllers", cluster.controllers === "none" ? undefined : [["cluster.controllers", "none"]]],
    [
      "link",
      server.bytesPerSecond === undefined ? undefined : [["cluster.server.bytesPerSecond", 10 * server.bytesPerSecond]],
    ],
    ["processors", server.cores >= 64 ? undefined : [["cluster.server.cores", 4 * server.cores]]],
  ];
  return all.flatMap(([name, changes]) =>
    changes === undefined || changes.some(([path]) => path === parameter)
      ? []
      : [[name, withoutNull(changes)] as const],
  );
}

/** Null stands for a field that is left out. */
const withoutNull = (changes: Changes): Changes =>
  changes.map(([path, value]) => [path, value === null ? undefined : value]);

/** What of the run of the first breach points to a limit. */
function evidenceOf({
  requests,
  processor,
  virtualMicros,
  store,
  podScheduled,
  seatWaits,
}: CapacityRun): readonly string[] {
  const count = (takes: (row: CapacityRun["requests"][number]) => boolean): number =>
    requests.reduce((sum, row) => sum + (takes(row) ? row.count : 0), 0);
  const reads = new Set(["get", "list"]);
  const refused = (isRead: boolean): number =>
    count(({ code, verb, resource }) => code === 429 && reads.has(verb) === isRead && !resource.endsWith("/eviction"));
  const busy = processor.busySeconds.reduce((most, each) => Math.max(most, each), 0);
  return [
    `${refused(true)} reads and ${refused(false)} writes were turned away with 429`,
    `${count(({ code }) => code === 410)} reads of a version that was gone (410), ${count(({ code }) => code === 499)} requests given up by their clients, ${count(({ code }) => code >= 500)} server errors`,
    `processors were asked for ${((100 * processor.busyMicros) / Math.max(1, processor.cores * virtualMicros)).toFixed(0)} % of their time, ${((100 * busy) / (processor.cores * 1_000_000)).toFixed(0)} % in the busiest second`,
    `the store held ${(store.bytesMost / 1e6).toFixed(1)} MB at most`,
    `pods waited for the scheduler for ${(podScheduled.max / 1e6).toFixed(1)} s at most; requests waited for a seat for ${(seatWaits.max / 1e6).toFixed(1)} s at most`,
  ];
}

/** Planted bugs of which pod goes first. */
import { evictionSignals, type EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import type { AgentBugName } from "../../planted/agent-bugs.ts";
import type { EvictionLaw } from "../eviction/law.ts";
import { limitOf } from "../eviction/pod-traits.ts";
import { exceeds, type Keys, keysOf, requestOf, usedOf } from "../eviction/ranking.ts";
import type { ActivePod } from "../ports.ts";

type RankingBug = (law: EvictionLaw) => Partial<EvictionLaw>;

export const rankingBugs = {
  "evict-rank-unmeasured-last": ({ rankPods }) => ({
    rankPods: (signal, candidates, figuresOf, layout) =>
      rankPods(signal, candidates, figuresOf, layout, (at, candidate, figures, on) =>
        figures === undefined && !isOfProcesses(at)
          ? [2, 0, candidate.priority, 0]
          : keysOf(at, candidate, figures, on),
      ),
  }),
  "evict-wrong-rank": byStanding(({ used }) => [0, 0, 0, -used]),
  "evict-rank-by-limits": byStanding(({ used, pod, resource }) =>
    lawful(pod, resource, used, limitOf(pod.object, resource)),
  ),
  "evict-rank-priority-first": byStanding(({ used, request, pod, isOver }) => [
    1,
    pod.priority,
    isOver ? 0 : 1,
    -(used - request),
  ]),
  "evict-rank-by-share": byStanding(({ used, request, pod, isOver }) => [
    1,
    isOver ? 0 : 1,
    pod.priority,
    -used / Math.max(1, request),
  ]),
  "evict-rank-best-effort-first": byStanding(({ used, request, pod, isOver }) => [
    pod.qos === "BestEffort" ? 0 : 1,
    isOver ? 0 : 1,
    pod.priority,
    -(used - request),
  ]),
  "evict-rank-inodes-by-bytes": bySignal((signal) => signal.replace("inodesFree", "available") as EvictionSignal),
  "evict-rank-disk-of-the-other": bySignal(
    (signal) =>
      (signal.startsWith("nodefs")
        ? signal.replace("nodefs", "imagefs")
        : signal.replace("imagefs", "nodefs")) as EvictionSignal,
  ),
} as const satisfies Partial<Record<AgentBugName, RankingBug>>;

type Resource = (typeof evictionSignals)[EvictionSignal]["resource"];

interface Standing {
  readonly pod: ActivePod;
  readonly resource: Resource;
  readonly used: number;
  readonly request: number;
  readonly isOver: boolean;
}

const isOfProcesses = (signal: EvictionSignal): boolean => evictionSignals[signal].resource === "pids";

/** The order of those that were measured, of anything but processes. */
function byStanding(
  keysFrom: (standing: Standing) => Keys,
  figuresFrom: (signal: EvictionSignal) => EvictionSignal = (signal) => signal,
): RankingBug {
  return ({ rankPods }) => ({
    rankPods: (signal, candidates, figuresOf, layout) =>
      rankPods(signal, candidates, figuresOf, layout, (at, pod, figures, on) => {
        const { resource } = evictionSignals[at];
        const used = usedOf(figuresFrom(at), pod.object, figures, on);
        if (used === undefined || resource === "pids") return keysOf(at, pod, figures, on);
        const request = requestOf(pod, resource);
        return keysFrom({ pod, resource, used, request, isOver: exceeds(resource, used, request) });
      }),
  });
}

/** The right order, by the figures of another signal. */
function bySignal(figuresFrom: (signal: EvictionSignal) => EvictionSignal): RankingBug {
  return byStanding(({ pod, resource, used, request }) => lawful(pod, resource, used, request), figuresFrom);
}

const lawful = ({ priority }: ActivePod, resource: Resource, used: number, request: number): Keys => [
  1,
  exceeds(resource, used, request) ? 0 : 1,
  priority,
  -(used - request),
];

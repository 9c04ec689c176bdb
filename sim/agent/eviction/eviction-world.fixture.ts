/** A node made of numbers: an eviction manager, and pods whose usage is written down. What it does is kept in order. */
import {
  parseEvictionSettings,
  type EvictionSettings,
  type PressureCondition,
} from "../../../wire/eviction-thresholds.ts";
import { type AgentBugName, type AgentBugs, agentBugsOn } from "../../planted/agent-bugs.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { Micros } from "../../kernel/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { ActivePod, PodEnd } from "../ports.ts";
import type { DiskLayout, FilesystemFigures, NodeFigures, PodFigures } from "../stats/figures.ts";
import { EvictionManager, type PassOutcome, type UsageSeen } from "./eviction-manager.ts";
import { evictionLawWith } from "../planted/eviction-bugs.ts";
import { withAllocatable } from "./threshold-list.ts";

export interface WorldPod {
  readonly name: string;
  readonly priority?: number;
  readonly isCritical?: boolean;
  readonly memoryRequest?: number;
  readonly diskRequest?: number;
  readonly graceSeconds?: number;
  readonly spec?: JsonObject;
  readonly uses: Partial<PodUses>;
  /** Nothing was measured of it. */
  readonly unmeasured?: boolean;
}

export interface PodUses {
  readonly memory: number;
  readonly disk: number;
  readonly inodes: number;
  readonly pids: number;
}

/** What is used beside the pods. */
export type Besides = Readonly<Partial<PodUses>>;

export interface WorldOptions {
  readonly settings: EvictionSettings;
  readonly pods: readonly WorldPod[];
  readonly capacity?: number;
  readonly layout?: DiskLayout;
  /** Between two takings of figures. */
  readonly figuresMicros?: Micros;
  /** What deleting unused images gives back, once. */
  readonly unusedImages?: Besides;
  readonly bugs?: readonly AgentBugName[];
  /** In the place of `bugs`, to be turned on the way. */
  readonly switches?: AgentBugs;
  readonly negativeGraceIsPods?: boolean;
  readonly enforcesPods?: boolean;
}

export type Entry = { readonly atMicros: Micros } & (
  | { readonly is: "look"; readonly seen: UsageSeen; readonly conditions: readonly PressureCondition[] }
  | { readonly is: "outcome"; readonly outcome: PassOutcome }
  | { readonly is: "kill"; readonly pod: string; readonly end: PodEnd }
  | { readonly is: "event"; readonly about: string; readonly reason: string; readonly message: string }
  | { readonly is: "images" }
);

export const second: Micros = 1_000_000;

export function evictionWorld(options: WorldOptions) {
  const { capacity = 100, layout = "one", figuresMicros = 1, pods, settings } = options;
  const rules = parseEvictionSettings(settings);
  if ("error" in rules) throw new Error(rules.error);
  const { switches = agentBugsOn(options.bugs) } = options;
  const kernel = new Kernel({ seed: "eviction" });
  const process = kernel.process("agent");
  const entries: Entry[] = [];
  let besides: Besides = {};
  let images: Besides = options.unusedImages ?? {};
  const running = new Map(pods.map((pod) => [pod.name, { pod, active: activePodOf(pod), killed: false }]));
  const note = (entry: DistributiveOmit<Entry, "atMicros">): void => {
    entries.push({ ...entry, atMicros: kernel.nowMicros() } as Entry);
  };
  const used = (resource: keyof PodUses): number =>
    [...running.values()].reduce((sum, { pod }) => sum + (pod.uses[resource] ?? 0), 0) +
    (besides[resource] ?? 0) +
    (images[resource] ?? 0);
  let figures: { readonly node: NodeFigures; readonly pods: ReadonlyMap<string, PodFigures> } | undefined;
  let takenMicros = -1;
  /** Read again and again within one interval, figures are those of its beginning. */
  const take = () => {
    const now = kernel.nowMicros();
    if (figures === undefined || now - takenMicros >= figuresMicros) {
      takenMicros = now;
      const measured = [...running.values()].filter(({ pod }) => pod.unmeasured !== true);
      figures = {
        node: nodeFigures(capacity, used, now),
        pods: new Map(measured.map(({ pod }) => [pod.name, podFigures(pod.uses)])),
      };
    }
    return figures;
  };
  const later = (work: () => void): void => void process.clock.after(1000, work);
  const manager = new EvictionManager(
    {
      rules: withAllocatable(rules, { enforcesPods: options.enforcesPods ?? false, ignoresEviction: false }),
      monitoringMicros: 10 * second,
      localStorageCapacityIsolation: true,
      negativeGraceIsPods: options.negativeGraceIsPods ?? true,
      memoryTaintKey: "node.svc.io/memory-pressure",
      law: evictionLawWith(switches),
    },
    {
      process,
      usage: {
        layout: (done) => later(() => done(layout)),
        node: (done) => later(() => done(take().node)),
        pods: (done) => later(() => done((uid) => take().pods.get(uid))),
      },
      pods: {
        active: () => [...running.values()].map(({ active }) => active),
        has: (uid) => running.has(uid),
        isCleanedUp: (uid) => !running.has(uid),
        kill(uid, end, done) {
          note({ is: "kill", pod: uid, end });
          process.clock.after(Math.max(1, end.graceSeconds) * second, () => {
            running.delete(uid);
            done("stopped");
          });
        },
      },
      events: {
        pod: (pod, _type, reason, message) => note({ is: "event", about: nameOf(pod), reason, message }),
        node: (_type, reason, message) => note({ is: "event", about: "node", reason, message }),
      },
      garbage: { deleteUnused: (done) => later(done) },
      images: {
        deleteUnused(done) {
          note({ is: "images" });
          const freed = images.disk ?? 0;
          images = {};
          figures = undefined; // deleting takes long enough for new figures
          later(() => done(freed));
        },
      },
      watcher: {
        looked: (seen) => note({ is: "look", seen, conditions: manager.conditions() }),
        passed: (outcome) => note({ is: "outcome", outcome }),
      },
    },
  );
  kernel.enter(process, () => manager.start());
  return {
    manager,
    entries,
    use(next: Besides): void {
      besides = next;
    },
    /** Until so many seconds after the beginning. */
    run(untilSeconds: number): void {
      kernel.run(untilSeconds * second);
    },
    running: (): string[] => [...running.keys()],
    killed: (): string[] => entries.flatMap((entry) => (entry.is === "kill" ? [entry.pod] : [])),
  };
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export function activePodOf(pod: WorldPod): ActivePod {
  const { name, priority = 0, graceSeconds = 1, isCritical = false, memoryRequest = 0, diskRequest = 0, spec } = pod;
  return {
    uid: name,
    namespace: "n",
    name,
    object: {
      metadata: { namespace: "n", name },
      spec: { terminationGracePeriodSeconds: graceSeconds, containers: [{ name: "c" }], ...spec },
    },
    qos: memoryRequest > 0 ? "Burstable" : "BestEffort",
    priority,
    isCritical,
    requests: { milliCpu: 0, memoryBytes: memoryRequest, ephemeralStorageBytes: diskRequest, pods: 1, others: {} },
    isTerminating: false,
  };
}

function podFigures({ memory = 0, disk = 0, inodes = 0, pids = 0 }: Partial<PodUses>): PodFigures {
  const none = { bytes: 0, inodes: 0 };
  return {
    workingSetBytes: memory,
    processCount: pids,
    ephemeralBytes: undefined,
    containers: [{ name: "c", workingSetBytes: memory, rootfs: { bytes: disk, inodes }, logs: none }],
    volumes: [],
  };
}

function nodeFigures(capacity: number, used: (resource: keyof PodUses) => number, takenMicros: Micros): NodeFigures {
  const disk: FilesystemFigures = {
    availableBytes: Math.max(0, capacity - used("disk")),
    capacityBytes: capacity,
    inodesFree: Math.max(0, capacity - used("inodes")),
    inodes: capacity,
    takenMicros,
  };
  const workingSetBytes = Math.min(capacity, used("memory"));
  const memory = { availableBytes: capacity - workingSetBytes, workingSetBytes, takenMicros };
  const processes = { max: capacity, running: Math.min(capacity, used("pids")), takenMicros };
  return { memory, podsMemory: memory, nodefs: disk, imagefs: disk, containerfs: disk, processes };
}

const nameOf = (pod: JsonObject): string => String((pod["metadata"] as JsonObject)["name"]);

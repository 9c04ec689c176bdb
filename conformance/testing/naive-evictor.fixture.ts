/**
 * A node that evicts as naively as one can write it, second by second, for tests of the laws: it knows nothing of them.
 * `fault` makes it wrong in one way.
 */
import {
  amountOf,
  type EvictionSignal,
  evictionSignals,
  type EvictionThreshold,
  parseEvictionSettings,
  type PressureCondition,
} from "../../wire/eviction-thresholds.ts";
import type { NodeUsage, PodUsage, SignalReading, UsageReading } from "../../wire/node-host.ts";
import { mebibyte, type NodeScenario, type ScenarioPod } from "../arbitraries/node-scenarios.ts";
import type { EvictionHistory, EvictionShown, NodeSighting, PodLife, PodStatus } from "../model/eviction/history.ts";

export type EvictorFault =
  | "takes equality for less"
  | "takes a percentage for half of it"
  | "evicts far above the threshold"
  | "ignores grace periods"
  | "keeps grace periods over gaps"
  | "has one grace period for all"
  | "never evicts"
  | "evicts two at a look"
  | "ranks by usage alone"
  | "ranks priority before excess"
  | "ranks the other way"
  | "evicts critical pods"
  | "acts on old figures"
  | "drops conditions at once"
  | "never drops conditions"
  | "raises conditions after grace periods"
  | "knows no minimum reclaim"
  | "reclaims no minimum"
  | "sees no inodes and processes"
  | "leaves pods all the time they want"
  | "sets no taints"
  | "keeps taints"
  | "gives another reason"
  | "calls it a success"
  | "shows no disruption"
  | "names another resource"
  | "names another quantity"
  | "tells that enough is available"
  | "tells what was available before"
  | "blames who keeps to the request"
  | "blames nobody"
  | "names no threshold"
  | "leaves no time"
  | "leaves the longer time"
  | "leaves all their time at once"
  | "shows it while containers run"
  | "acts on the disk first"
  | "starts it again";

export interface Runner {
  readonly pod: ScenarioPod;
  state: "waiting" | "running" | "ending" | "over";
  evictedMillis: number;
  endMillis: number;
  message: string;
  lastAliveMillis: number;
  statuses: PodStatus[];
  eviction: EvictionShown | undefined;
}

interface Watched {
  readonly threshold: EvictionThreshold;
  sinceMillis: number | undefined;
  drove: boolean;
}

export function playEvictions(scenario: NodeScenario, fault?: EvictorFault): EvictionHistory {
  const node = new NaiveEvictor(scenario, fault);
  for (const pod of scenario.pods) node.runners.push(runnerOf(pod));
  for (let now = 0; now <= scenario.untilMillis; now += 1000) {
    for (const { atMillis, usage } of scenario.steps) if (atMillis === now) node.use(usage);
    node.tick(now);
  }
  return node.history();
}

export class NaiveEvictor {
  private readonly scenario: Pick<NodeScenario, "eviction" | "capacity" | "figuresMillis">;
  private readonly fault: EvictorFault | undefined;
  private readonly rules: EvictionHistory["rules"];
  private readonly watched: Watched[];
  readonly runners: Runner[] = [];
  readonly readings: UsageReading[] = [];
  private base: Partial<NodeUsage> = {};
  private readonly sightings: NodeSighting[] = [];
  private readonly lastLow = new Map<PressureCondition, number>();
  private pressed = new Set<PressureCondition>();
  private published = new Set<PressureCondition>();
  private tainted = new Set<PressureCondition>();
  private figures: Omit<UsageReading, "atMillis"> | undefined;
  private nextLookMillis = 0;
  private lastTakenMillis = -1;

  constructor(
    scenario: Pick<NodeScenario, "eviction" | "capacity" | "figuresMillis">,
    fault: EvictorFault | undefined,
  ) {
    const rules = parseEvictionSettings(scenario.eviction);
    if ("error" in rules) throw new Error(rules.error);
    this.scenario = scenario;
    this.fault = fault;
    this.rules = rules;
    this.watched = rules.thresholds.map((threshold) => ({ threshold, sinceMillis: undefined, drove: false }));
  }

  use(usage: Partial<NodeUsage>): void {
    this.base = { ...this.base, ...usage };
  }

  /** One second. */
  tick(now: number): void {
    for (const runner of this.runners) this.advance(runner, now);
    if (now >= this.nextLookMillis && !this.runners.some(({ state }) => state === "ending")) this.look(now);
    if (now % 10_000 === 0) this.published = new Set(this.pressed);
    if (now % 10_000 === 3000) this.taint();
    if (now % 5000 === 1000) this.sightings.push(this.sighting(now));
  }

  history(): EvictionHistory {
    return {
      rules: this.rules,
      dedicatedImagefs: this.scenario.capacity.imagefs !== undefined,
      readings: this.readings,
      sightings: this.sightings,
      pods: this.runners.map(lifeOf),
      patience: { reportMillis: 15_000, evictionMillis: 5000, tellMillis: 1000, taintMillis: 15_000 },
    };
  }

  private advance(runner: Runner, now: number): void {
    if (runner.state === "waiting" && now >= runner.pod.startMillis) {
      runner.state = "running";
      runner.statuses.push({ phase: "Running", reason: "" });
    }
    if (runner.state === "ending" && now >= runner.endMillis) {
      runner.state = "over";
      const phase = this.fault === "calls it a success" ? "Succeeded" : "Failed";
      const reason = this.fault === "gives another reason" ? "OutOfMemory" : "Evicted";
      const shown = this.fault !== "shows no disruption";
      runner.eviction = {
        phase,
        reason,
        seenMillis: now,
        ...(this.fault === "shows it while containers run" ? { containersRun: true } : {}),
        told: { afterMillis: runner.evictedMillis - 1000, byMillis: runner.evictedMillis + 500 },
        message: runner.message,
        disruptionTarget: shown ? { status: "True", reason: "TerminationByKubelet" } : undefined,
      };
      runner.statuses.push({ phase, reason });
      if (this.fault === "starts it again") runner.statuses.push({ phase: "Running", reason: "" });
      this.nextLookMillis = now + 1000;
    }
    if (runner.state === "running" || runner.state === "ending") runner.lastAliveMillis = now;
  }

  private look(now: number): void {
    this.nextLookMillis = now + 10_000;
    if (this.figures === undefined || now - this.figures.takenMillis >= this.scenario.figuresMillis) {
      this.figures = { takenMillis: now, signals: this.signals(), pods: this.podFigures() };
    }
    this.readings.push({ atMillis: now, ...this.figures });
    for (const watched of this.watched) this.update(watched, now);
    this.pressed = new Set(
      [...this.lastLow].filter(([, at]) => this.stillPressed(at, now)).map(([condition]) => condition),
    );
    const fresh = this.figures.takenMillis > this.lastTakenMillis || this.fault === "acts on old figures";
    this.lastTakenMillis = this.figures.takenMillis;
    const driving = this.watched.filter((watched) => watched.drove && !this.restrained(watched));
    if (driving.length === 0 || !fresh || this.fault === "never evicts") return;
    const memory = driving.find(({ threshold }) => threshold.signal === "memory.available");
    const other = driving.findLast(({ threshold }) => threshold.signal !== "memory.available");
    const first = this.fault === "acts on the disk first" ? (other ?? memory) : (memory ?? driving[0]);
    const { threshold } = first as Watched;
    const ranked = this.ranked(threshold.signal);
    for (const runner of ranked.slice(0, this.fault === "evicts two at a look" ? 2 : 1)) {
      this.evict(runner, threshold, now);
    }
  }

  private stillPressed(lowMillis: number, now: number): boolean {
    if (this.fault === "never drops conditions") return true;
    if (this.fault === "drops conditions at once") return lowMillis === now;
    return now - lowMillis < this.rules.transitionMillis;
  }

  private update(watched: Watched, now: number): void {
    const { threshold } = watched;
    const seen = this.figures?.signals[threshold.signal];
    const blind = this.fault === "sees no inodes and processes" && /inodes|pid/.test(threshold.signal);
    if (seen === undefined || blind) {
      watched.sinceMillis = undefined;
      watched.drove = false;
      return;
    }
    const value = this.valueOf(threshold, seen.capacity);
    const low = this.fault === "takes equality for less" ? seen.available <= value : seen.available < value;
    const wanted =
      value + (this.fault === "knows no minimum reclaim" ? 0 : amountOf(threshold.minimumReclaim, seen.capacity));
    const active = low || (watched.drove && seen.available < wanted);
    if (active) watched.sinceMillis ??= now;
    else if (this.fault !== "keeps grace periods over gaps") watched.sinceMillis = undefined;
    watched.drove = active && now - (watched.sinceMillis as number) >= this.graceOf(threshold);
    const raised = this.fault === "raises conditions after grace periods" ? watched.drove : active;
    if (raised) this.lastLow.set(evictionSignals[threshold.signal].condition, now);
  }

  private valueOf({ value }: EvictionThreshold, capacity: number): number {
    const amount = amountOf(value, capacity);
    if (this.fault === "takes a percentage for half of it" && "fraction" in value) return Math.trunc(amount / 2);
    return this.fault === "evicts far above the threshold" ? amount * 2 : amount;
  }

  private graceOf({ graceMillis }: EvictionThreshold): number {
    if (this.fault === "ignores grace periods") return 0;
    const soft = this.rules.thresholds.map((at) => at.graceMillis).filter((millis) => millis > 0);
    return this.fault === "has one grace period for all" && graceMillis > 0
      ? soft.reduce((least, millis) => Math.min(least, millis), Infinity)
      : graceMillis;
  }

  /** Under a fault, a threshold that only its minimum reclaim holds does nothing. */
  private restrained({ threshold }: Watched): boolean {
    const seen = this.figures?.signals[threshold.signal] as SignalReading;
    return this.fault === "reclaims no minimum" && seen.available >= amountOf(threshold.value, seen.capacity);
  }

  private ranked(signal: EvictionSignal): Runner[] {
    const spares = ({ pod }: Runner) =>
      this.fault === "evicts critical pods" || !(pod.static || pod.priority >= 2_000_000_000);
    const runners = this.runners.filter((runner) => runner.state === "running" && spares(runner));
    const sorted = runners.sort((left, right) => this.before(signal, left.pod, right.pod));
    return this.fault === "ranks the other way" ? sorted.reverse() : sorted;
  }

  /** Negative: `left` goes first. */
  private before(signal: EvictionSignal, left: ScenarioPod, right: ScenarioPod): number {
    const { resource } = evictionSignals[signal];
    const lower = left.priority - right.priority;
    if (resource === "pids") return lower || (right.usage?.pids ?? 1000) - (left.usage?.pids ?? 1000); // unseen: first
    if (left.usage === undefined || right.usage === undefined) {
      return Number(left.usage !== undefined) - Number(right.usage !== undefined);
    }
    const used = (pod: ScenarioPod) => this.used(signal, pod.usage as PodUsage);
    const over = (pod: ScenarioPod) => used(pod) - requestOf(resource, pod);
    if (this.fault === "ranks by usage alone") return used(right) - used(left);
    const excess = Number(over(right) > 0) - Number(over(left) > 0);
    if (this.fault === "ranks priority before excess") return lower || excess || over(right) - over(left);
    return excess || lower || over(right) - over(left);
  }

  private used(signal: EvictionSignal, { memoryBytes, layers, volumes }: PodUsage): number {
    const { resource } = evictionSignals[signal];
    if (resource === "memory") return memoryBytes;
    const unit = resource === "inodes" ? "inodes" : "bytes";
    if (this.scenario.capacity.imagefs === undefined) return layers[unit] + volumes[unit];
    return signal.startsWith("nodefs") ? volumes[unit] : layers[unit];
  }

  private evict(runner: Runner, threshold: EvictionThreshold, now: number): void {
    const { pod } = runner;
    const most = this.rules.maxPodGraceSeconds < 0 ? pod.graceSeconds : this.rules.maxPodGraceSeconds;
    const lawful = threshold.graceMillis === 0 ? 0 : Math.min(most, pod.graceSeconds);
    const seconds =
      this.fault === undefined ? lawful : this.secondsLeft(this.fault, threshold, pod.graceSeconds, lawful);
    runner.state = "ending";
    runner.evictedMillis = now;
    runner.endMillis = now + Math.max(2, seconds) * 1000;
    runner.message = this.messageFor(pod, threshold);
  }

  private secondsLeft(fault: EvictorFault, { graceMillis }: EvictionThreshold, own: number, lawful: number): number {
    if (fault === "leaves pods all the time they want") return own;
    if (fault === "leaves all their time at once") return graceMillis === 0 ? own : lawful;
    if (fault === "leaves no time") return 0;
    return fault === "leaves the longer time" && graceMillis > 0
      ? Math.max(own, this.rules.maxPodGraceSeconds)
      : lawful;
  }

  private messageFor(pod: ScenarioPod, { signal, value }: EvictionThreshold): string {
    const { resource } = evictionSignals[signal];
    const seen = this.figures?.signals[signal] as SignalReading;
    const quantity = amountOf(value, seen.capacity);
    const named = this.fault === "names another resource" ? "cpu" : resource;
    const told = this.fault === "names another quantity" ? quantity + 1 : quantity;
    const available = this.fault === "tells that enough is available" ? seen.capacity : seen.available;
    const resourceLow = `The node was low on resource: ${named}. `;
    if (this.fault === "names no threshold") return resourceLow;
    const before = this.fault === "tells what was available before" ? Math.max(0, available - 1) : available;
    const low = `${resourceLow}Threshold quantity: ${told}, available: ${before}. `;
    if (pod.usage === undefined || resource === "pids" || resource === "inodes") return low;
    const { memoryBytes, layers, volumes } = pod.usage;
    const usage = resource === "memory" ? memoryBytes : layers.bytes + volumes.bytes;
    const request = requestOf(resource, pod);
    if (usage <= request ? this.fault !== "blames who keeps to the request" : this.fault === "blames nobody")
      return low;
    return `${low}Container main was using ${usage}, request is ${request}, has larger consumption of ${resource}. `;
  }

  private signals(): UsageReading["signals"] {
    const { base } = this;
    const { memoryBytes, pids, nodefs, imagefs } = this.scenario.capacity;
    const using = this.runners.filter(({ state }) => state === "running" || state === "ending");
    const left = (capacity: number, besides: number | undefined, ofPod: (usage: PodUsage) => number): SignalReading => {
      const used = using.reduce((sum, { pod }) => sum + (pod.usage === undefined ? 0 : ofPod(pod.usage)), besides ?? 0);
      return { capacity, available: Math.max(0, capacity - used) };
    };
    const shared = imagefs === undefined;
    const ofNode = (unit: "bytes" | "inodes") =>
      left(nodefs[unit], base.nodefs?.[unit], ({ layers, volumes }) => volumes[unit] + (shared ? layers[unit] : 0));
    const ofImages = (unit: "bytes" | "inodes") =>
      shared ? ofNode(unit) : left(imagefs[unit], base.imagefs?.[unit], ({ layers }) => layers[unit]);
    return {
      "memory.available": left(memoryBytes, base.memoryBytes, (usage) => usage.memoryBytes),
      "pid.available": left(pids, base.pids, (usage) => usage.pids),
      "nodefs.available": ofNode("bytes"),
      "nodefs.inodesFree": ofNode("inodes"),
      "imagefs.available": ofImages("bytes"),
      "imagefs.inodesFree": ofImages("inodes"),
    };
  }

  private podFigures(): UsageReading["pods"] {
    return Object.fromEntries(
      this.runners.flatMap(({ pod, state }) =>
        state === "running" && pod.usage !== undefined ? [[pod.name, pod.usage]] : [],
      ),
    );
  }

  private taint(): void {
    if (this.fault === "sets no taints") return;
    if (this.fault !== "keeps taints") this.tainted = new Set(this.published);
    for (const condition of this.published) this.tainted.add(condition);
  }

  sighting(atMillis: number): NodeSighting {
    const status = (condition: PressureCondition) => (this.published.has(condition) ? "True" : "False");
    return {
      atMillis,
      conditions: {
        MemoryPressure: status("MemoryPressure"),
        DiskPressure: status("DiskPressure"),
        PIDPressure: status("PIDPressure"),
      },
      taints: new Set(this.tainted),
    };
  }
}

export function runnerOf(pod: ScenarioPod): Runner {
  return {
    pod,
    state: "waiting",
    evictedMillis: 0,
    endMillis: 0,
    message: "",
    lastAliveMillis: -1,
    statuses: [],
    eviction: undefined,
  };
}

function requestOf(resource: "memory" | "ephemeral-storage" | "inodes", pod: ScenarioPod): number {
  if (resource === "inodes") return 0;
  return (resource === "memory" ? pod.requests.memoryMi : pod.requests.diskMi) * mebibyte;
}

function lifeOf({ pod, lastAliveMillis, statuses, eviction }: Runner): PodLife {
  return {
    name: pod.name,
    priority: pod.priority,
    static: pod.static,
    requests: { memoryBytes: pod.requests.memoryMi * mebibyte, diskBytes: pod.requests.diskMi * mebibyte },
    graceSeconds: pod.graceSeconds,
    startedMillis: pod.startMillis,
    lastAliveMillis,
    statuses,
    eviction,
  };
}

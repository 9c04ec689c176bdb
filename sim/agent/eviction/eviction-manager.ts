/**
 * Evicts pods when the node runs short. Every so often it looks at usage; what the look means is in `look.ts`, who goes
 * first in `ranking.ts`. One pass at a time: a pass that waits for a pod to end holds up the next.
 * Source: document 3, Options, the --eviction flags; the fact sheet of the 1.33 agent, section 1, whose steps are numbered
 * here as there.
 */
import {
  evictionSignals,
  type EvictionRules,
  type EvictionThreshold,
  type PressureCondition,
} from "../../../wire/eviction-thresholds.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { ActivePod, ActivePods, AgentEvents, ContainerGarbage, Rejection } from "../ports.ts";
import type { DiskLayout, NodeFigures, PodFiguresOf } from "../stats/figures.ts";
import { rejectionUnder } from "./admission.ts";
import { hasStorageLimits, storageExcess } from "./local-storage.ts";
import { type EvictionLaw, graceSecondsAtOnce } from "./law.ts";
import { calm, type Look, type PressureState } from "./look.ts";
import type { ResourceName } from "./messages.ts";
import type { Observations } from "./observations.ts";
import { turns } from "../piece.ts";
import { usedOf } from "./ranking.ts";
import type { Reclaim } from "./reclaim.ts";
import { withContainerfs } from "./threshold-list.ts";

export interface EvictionOptions {
  readonly rules: EvictionRules;
  /** Between two passes that evict nobody. */
  readonly monitoringMicros: Micros;
  readonly localStorageCapacityIsolation: boolean;
  /** A negative greatest grace leaves pods their own, as document 3 has it; else it comes to a second, as observed. */
  readonly negativeGraceIsPods: boolean;
  /** Key of the taint that a node short of memory has. */
  readonly memoryTaintKey: string;
  /** What it decides by, asked anew at each decision. */
  readonly law: () => EvictionLaw;
}

/** Where usage is read. `done` fires once, later, with undefined when it could not be read. */
export interface UsageReader {
  /** While it is the same number, `node` tells the same, but for its times. Undefined: that is not known. */
  version?(): number | undefined;
  layout(done: (layout: DiskLayout | undefined) => void): void;
  node(done: (figures: NodeFigures | undefined) => void): void;
  pods(done: (figuresOf: PodFiguresOf | undefined) => void): void;
}

export interface EvictionPorts {
  readonly process: Process;
  readonly usage: UsageReader;
  readonly pods: ActivePods;
  readonly events: AgentEvents;
  readonly garbage: Pick<ContainerGarbage, "deleteUnused">;
  /** Removes images that nobody uses; `done` gets how many bytes that freed. */
  readonly images: { deleteUnused(done: (freedBytes: number) => void): void };
  /** For whoever looks over its shoulder. */
  readonly watcher?: EvictionWatcher;
}

export interface EvictionWatcher {
  /** Once a pass that could read usage, before anything is done about it. */
  looked?(seen: UsageSeen): void;
  /** At the end of each pass. */
  passed?(outcome: PassOutcome): void;
}

/** What a pass came to. */
export type PassOutcome =
  | { readonly is: "calm" }
  | { readonly is: "unread" }
  | { readonly is: "evicted"; readonly pods: readonly ActivePod[]; readonly threshold: undefined }
  /** `among`: all that it chose from. */
  | {
      readonly is: "evicted";
      readonly pods: readonly ActivePod[];
      readonly threshold: EvictionThreshold;
      readonly among: readonly Candidate[];
    }
  | { readonly is: "reclaimed"; readonly threshold: EvictionThreshold }
  /** Something drives, and nobody went. */
  | { readonly is: "nobody"; readonly why: "the figures are old" | "no pod may go" };

export interface Candidate {
  readonly pod: ActivePod;
  /** Of what the threshold is short of, in its unit; undefined: the pod has no figures. */
  readonly used: number | undefined;
}

export interface UsageSeen {
  readonly atMicros: Micros;
  readonly observations: Observations;
  /** Those that the node tells from this look on. */
  readonly conditions: readonly PressureCondition[];
  /** Undefined: the pass had no need to look at pods, or could not. */
  readonly figuresOf: PodFiguresOf | undefined;
}

const cleanUpPollMicros: Micros = 1_000_000;
const cleanUpMicrosMax: Micros = 30_000_000;

export class EvictionManager {
  private readonly options: EvictionOptions;
  private readonly ports: EvictionPorts;
  private thresholds: readonly EvictionThreshold[];
  private layout: DiskLayout | undefined;
  private state: PressureState = calm;
  private told: readonly PressureCondition[] = [];
  private passCount = 0;
  private next: (micros: Micros) => void = () => {};
  /** Of usage at the last look, if that found nothing that is held or told. */
  private calmVersion: number | undefined;
  /** Whether some pod of a list has limits of its own: the list is the same one until something changes. */
  private limited: { readonly of: readonly ActivePod[]; readonly isAny: boolean } = { of: [], isAny: false };

  constructor(options: EvictionOptions, ports: EvictionPorts) {
    this.options = options;
    this.ports = ports;
    this.thresholds = options.rules.thresholds;
  }

  /** The first pass is at once. */
  start(): void {
    const { process } = this.ports;
    turns(process, "eviction", "a look at usage", this.options.monitoringMicros, (next) => {
      this.next = next;
      this.pass();
    });
  }

  /** True ones, as they go into the node's status. */
  conditions(): readonly PressureCondition[] {
    return this.told;
  }

  admit(pod: ActivePod): Rejection | undefined {
    return rejectionUnder(this.told, pod, this.options.memoryTaintKey);
  }

  private pass(): void {
    if (this.thresholds.length === 0 && !this.options.localStorageCapacityIsolation) return; // for good: nothing to do
    if (this.layout !== undefined) {
      if (this.isAsCalm()) this.end(calmly);
      else this.lookAtNode(this.layout);
      return;
    }
    this.ports.usage.layout((layout) => {
      if (layout === undefined) {
        this.end({ is: "unread" });
        return;
      }
      this.layout = layout;
      this.lookAtNode(layout);
    });
  }

  /** A look would find what the last one found, which was nothing. */
  private isAsCalm(): boolean {
    const { usage, pods, watcher } = this.ports;
    if (this.calmVersion === undefined || watcher !== undefined) return false;
    if (this.options.localStorageCapacityIsolation && this.hasLimited(pods.active())) return false;
    return usage.version?.() === this.calmVersion;
  }

  private lookAtNode(layout: DiskLayout): void {
    const version = this.ports.usage.version?.();
    this.calmVersion = undefined;
    // Read before the look: a pod that ends meanwhile is still a candidate, as it was for who asked.
    const active = this.ports.pods.active();
    this.ports.usage.node((figures) => {
      if (figures === undefined) {
        this.end({ is: "unread" }); // step 2: all state stays, conditions too
        return;
      }
      const { rules } = this.options;
      const law = this.options.law();
      const observations = law.observationsOf(figures);
      const atMicros = this.ports.process.clock.nowMicros();
      if (this.passCount++ === 0) this.thresholds = withContainerfs(rules.thresholds, layout);
      // Those of containerfs that nobody configured count from the second pass on.
      const counted = this.passCount === 1 ? this.thresholds.slice(0, rules.thresholds.length) : this.thresholds;
      const seen = law.look(counted, this.state, observations, atMicros, rules.transitionMillis * 1000);
      this.state = seen.state;
      this.told = seen.conditions;
      // The first look counts fewer thresholds than those that follow.
      if (this.passCount > 1 && isCalm(seen)) this.calmVersion = version;
      this.lookAtPods({ active, seen, layout, atMicros });
    });
  }

  /** Figures of pods are only asked for when somebody may have to go. */
  private lookAtPods(turn: Turn): void {
    const { seen, active } = turn;
    const limited = this.options.localStorageCapacityIsolation && this.hasLimited(active);
    if (seen.acting.length === 0 && !limited) {
      this.looked(turn, undefined);
      this.end(restOf(seen));
      return;
    }
    this.ports.usage.pods((figuresOf) => {
      this.looked(turn, figuresOf);
      if (figuresOf === undefined) {
        this.end({ is: "unread" });
        return;
      }
      const over = limited ? overTheirLimits(active, figuresOf, turn.layout) : [];
      this.evictEach(over, [], (gone) => {
        if (gone.length > 0) this.end({ is: "evicted", pods: gone, threshold: undefined });
        else this.act(turn, figuresOf);
      });
    });
  }

  private hasLimited(active: readonly ActivePod[]): boolean {
    if (this.limited.of !== active) {
      this.limited = { of: active, isAny: active.some(({ object }) => hasStorageLimits(object)) };
    }
    return this.limited.isAny;
  }

  private looked({ atMicros, seen }: Turn, figuresOf: PodFiguresOf | undefined): void {
    this.ports.watcher?.looked?.({
      atMicros,
      observations: seen.state.observations,
      conditions: seen.conditions,
      figuresOf,
    });
  }

  /** Step 10: for pods over limits of their own, several a pass, and without a condition. */
  private evictEach(
    left: readonly { readonly pod: ActivePod; readonly message: string }[],
    gone: readonly ActivePod[],
    done: (gone: readonly ActivePod[]) => void,
  ): void {
    const [first, ...rest] = left;
    if (first === undefined) {
      done(gone);
      return;
    }
    const { pod, message } = first;
    if (this.options.law().isSpared(pod)) {
      this.evictEach(rest, gone, done);
      return;
    }
    this.ports.events.pod(pod.object, "Warning", "Evicted", message);
    this.kill(pod, { reason: "Evicted", message, graceSeconds: graceSecondsAtOnce }, () =>
      this.evictEach(rest, [...gone, pod], done),
    );
  }

  /** Steps 11 to 13. */
  private act(turn: Turn, figuresOf: PodFiguresOf): void {
    const threshold = this.options.law().mostUrgent(turn.seen.acting);
    if (threshold === undefined) {
      this.end(restOf(turn.seen));
      return;
    }
    const { resource } = evictionSignals[threshold.signal];
    this.ports.events.node("Warning", "EvictionThresholdMet", `Attempting to reclaim ${resource}`);
    this.reclaim(threshold, turn.layout, (enough) => {
      if (enough) this.end({ is: "reclaimed", threshold });
      else this.evictFirst(turn, threshold, resource, figuresOf);
    });
  }

  /** `done` gets whether that was enough for every threshold that there is, minimum reclaim included. */
  private reclaim(threshold: EvictionThreshold, layout: DiskLayout, done: (enough: boolean) => void): void {
    const law = this.options.law();
    const steps = law.reclaimsOf(threshold, layout);
    if (steps.length === 0) {
      done(false);
      return;
    }
    this.reclaimEach(steps, 0, (freedBytes) => {
      this.ports.usage.node((figures) => {
        const reclaimed = { threshold, freedBytes };
        done(figures !== undefined && law.isEnough(this.thresholds, law.observationsOf(figures), reclaimed));
      });
    });
  }

  private reclaimEach(steps: readonly Reclaim[], freedBytes: number, done: (freedBytes: number) => void): void {
    const [first, ...rest] = steps;
    if (first === undefined) done(freedBytes);
    else if (first === "containers") this.ports.garbage.deleteUnused(() => this.reclaimEach(rest, freedBytes, done));
    else this.ports.images.deleteUnused((freed) => this.reclaimEach(rest, freedBytes + freed, done));
  }

  /** Step 14: the first in the order that may go. */
  private evictFirst(turn: Turn, threshold: EvictionThreshold, resource: ResourceName, figuresOf: PodFiguresOf): void {
    const { rules, negativeGraceIsPods } = this.options;
    const law = this.options.law();
    const { observations } = turn.seen.state;
    const ranked = law.rankPods(threshold.signal, turn.active, figuresOf, turn.layout);
    const mayGo = ranked.filter((pod) => !law.isSpared(pod));
    const victims = law.victimsAmong(mayGo, { actingCount: turn.seen.acting.length, isFirst: this.passCount === 1 });
    if (victims.length === 0) {
      this.end({ is: "nobody", why: "no pod may go" });
      return;
    }
    let left = victims.length;
    for (const pod of victims) {
      const { message, annotations } = law.evictionText(
        resource,
        [threshold, ...turn.seen.acting],
        observations,
        pod.object,
        figuresOf(pod.uid),
      );
      this.ports.events.pod(pod.object, "Warning", "Evicted", message, { annotations });
      const graceSeconds = law.graceSeconds(threshold, pod, { ...rules, negativeGraceIsPods });
      this.kill(pod, law.endOf(message, graceSeconds), () => {
        if (--left > 0) return;
        const among = turn.active.map((one) => ({
          pod: one,
          used: usedOf(threshold.signal, one.object, figuresOf(one.uid), turn.layout),
        }));
        this.end({ is: "evicted", pods: victims, threshold, among });
      });
    }
  }

  private kill(pod: ActivePod, end: Parameters<ActivePods["kill"]>[1], done: () => void): void {
    this.ports.pods.kill(pod.uid, end, (outcome) => {
      if (outcome === "slow") {
        const message = "Container runtime did not kill the pod within specified grace period.";
        this.ports.events.pod(pod.object, "Warning", "ExceededGracePeriod", message);
      }
      done();
    });
  }

  private end(outcome: PassOutcome): void {
    const { clock } = this.ports.process;
    this.ports.watcher?.passed?.(outcome);
    if (outcome.is === "evicted") this.awaitCleanUp(outcome.pods, clock.nowMicros());
    else this.next(this.options.monitoringMicros);
  }

  /** After an eviction the next look follows as soon as nothing of the pod is left, and within half a minute in any case. */
  private awaitCleanUp(pods: readonly ActivePod[], sinceMicros: Micros): void {
    const { clock } = this.ports.process;
    clock.after(cleanUpPollMicros, () => {
      const waited = clock.nowMicros() - sinceMicros;
      if (waited >= cleanUpMicrosMax || pods.every(({ uid }) => this.ports.pods.isCleanedUp(uid))) this.pass();
      else this.awaitCleanUp(pods, sinceMicros);
    });
  }
}

/** What one pass knows once it has looked. */
interface Turn {
  readonly active: readonly ActivePod[];
  readonly seen: Look;
  readonly layout: DiskLayout;
  readonly atMicros: Micros;
}

/** What a pass came to that has nothing to act on. */
/** Nothing is held, nothing drove, and nothing is told. */
function isCalm({ state, conditions, driving }: Look): boolean {
  if (driving.length > 0 || conditions.length > 0) return false;
  for (const _ in state.lastHeldMicros) return false;
  return state.heldSinceMicros.every((since) => since === undefined);
}

const calmly: PassOutcome = { is: "calm" };

function restOf({ driving }: Look): PassOutcome {
  return driving.length > 0 ? { is: "nobody", why: "the figures are old" } : calmly;
}

function overTheirLimits(active: readonly ActivePod[], figuresOf: PodFiguresOf, layout: DiskLayout) {
  return active.flatMap((pod) => {
    const figures = hasStorageLimits(pod.object) ? figuresOf(pod.uid) : undefined;
    const message = figures === undefined ? undefined : storageExcess(pod.object, figures, layout);
    return message === undefined ? [] : [{ pod, message }];
  });
}

/**
 * What a worker does for a pod each time: bring it where its source wants it, stop it, or clear up after it.
 * Source: the facts, Starting, Stopping and Phase; the recorded order of statuses, events and calls.
 */
import { formatTime, parseTime } from "../../../wire/time.ts";
import type { Clock, Micros, Process } from "../../kernel/types.ts";
import { unixSeconds } from "../client/event-recorder.ts";
import type { AgentEvents, RuntimeHealth } from "../ports.ts";
import type { BackOffs } from "../runtime/back-off.ts";
import type { NodeFacts } from "../runtime/container-config.ts";
import { sandboxConfig } from "../runtime/container-config.ts";
import { containerHash } from "../runtime/container-hash.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import type { ImagePulls } from "../runtime/image-pulls.ts";
import { inspectPod } from "../runtime/inspection.ts";
import { noPullSecrets, pullSecrets, type PullSecrets } from "../runtime/pull-secrets.ts";
import type { RuntimePod } from "../runtime/runtime-pod.ts";
import { backOffKey, createSandbox, type Sandbox, startContainer, type Starting } from "../runtime/starting.ts";
import { killContainer, killPod, type Stopping } from "../runtime/stopping.ts";
import type { VolumeContext } from "../runtime/volumes.ts";
import { microsOfSeconds } from "../seconds.ts";
import type { Task } from "../task.ts";
import type { HeldPod } from "./held-pod.ts";
import { type Container, type ContainerStatus, isTerminalPhase, podWords, type PodStatus } from "./pod-types.ts";
import { leaveVolumes, type PodVolumes } from "./pod-volumes.ts";
import { resizeConditions, withReadiness } from "./conditions.ts";
import type { ResourcesShown } from "./container-statuses.ts";
import type { ProbeFinding } from "./probe-worker.ts";
import type { Probes } from "./probes.ts";
import { resizableContainers } from "./allocation.ts";
import { begunAnew, isResizing, resizeContainers } from "./pod-resize.ts";
import { podStatus } from "./status-builder.ts";
import type { StatusManager } from "./status-manager.ts";
import type { PlanLaw, SyncPlan } from "./sync-plan.ts";
import { allNamed, named } from "../runtime/named.ts";

/** `ended`: go on with the next state. `network`: soon again. `failed`: again after a while. */
export type SyncOutcome = "done" | "ended" | "network" | "failed";

export interface PodSyncContext {
  readonly process: Process;
  readonly cri: CriCaller;
  readonly events: AgentEvents;
  /** What it decides by, asked anew at each sync. */
  readonly law: () => PlanLaw;
  readonly statuses: StatusManager;
  readonly probes: Probes;
  readonly images: ImagePulls;
  readonly backOffs: BackOffs;
  readonly health: RuntimeHealth;
  readonly node: () => NodeFacts;
  /** As texts call it. */
  readonly agentName: string;
  readonly hostIps: () => readonly string[];
  readonly volumes: (held: HeldPod) => VolumeContext;
  readonly podVolumes: Pick<PodVolumes, "mounted">;
  readonly seenAnnotations: (held: HeldPod) => Readonly<Record<string, string>>;
  readonly groupSuffix: string;
  readonly places: Starting["places"];
  readonly shows: ResourcesShown;
  /** Gives a pod the resources that it wants, where there is room: containers that are given some. */
  readonly resize: (held: HeldPod) => readonly string[];
  /** Containers have got what they were given, or not: it is written down. */
  readonly resized: () => void;
  /** The pod is looked at again as soon as the runtime has been. */
  readonly again: (held: HeldPod) => void;
  /** Sees to the mirror of a static pod. */
  readonly mirror: (held: HeldPod) => Task<void>;
  /** It has the mirror that it should have; or nobody is there to be shown one. */
  readonly isMirrored: (held: HeldPod) => boolean;
}

export class PodSync {
  private readonly context: PodSyncContext;

  constructor(context: PodSyncContext) {
    this.context = context;
  }

  *sync(held: HeldPod): Task<SyncOutcome> {
    const { statuses, probes, health, events } = this.context;
    if (held.wanted !== undefined) this.resize(held);
    const { object, runtimePod, probeVersion } = held;
    held.steady = undefined;
    const { status, wasTriggered } = this.build(held, false);
    statuses.set(held, status);
    if (isTerminalPhase(status.phase)) return "ended";
    const networkError = health.networkError();
    if (networkError !== undefined && held.pod.spec.hostNetwork !== true) {
      events.pod(object, "Warning", "NetworkNotReady", `network is not ready: ${networkError}`);
      return "network";
    }
    if (held.isStatic) yield* this.context.mirror(held);
    if (!(yield* this.context.podVolumes.mounted(held))) return "failed";
    const secrets = yield* this.pullSecrets(held);
    probes.add(held);
    const outcome = yield* this.runPlan(held, secrets);
    const isMirrored = !held.isStatic || this.context.isMirrored(held);
    if (outcome === "steady" && !wasTriggered && isMirrored && held.wanted === undefined)
      held.steady = { object, runtimePod, probeVersion };
    return outcome === "steady" ? "done" : outcome;
  }

  /** What waits for room is tried at each look; what failed under other conditions is tried anew. */
  private resize(held: HeldPod): void {
    const given = this.context.resize(held);
    for (const container of resizableContainers(held.pod.spec))
      if (given.includes(container.name)) this.context.backOffs.reset(backOffKey(held.pod, container));
  }

  /** A probe has found something: the status says that much before anything is done about it. */
  probed(held: HeldPod, { kind, containerId, isGood }: ProbeFinding): void {
    const { status, pod } = held;
    if (status === undefined || held.state === "terminated" || kind === "liveness") return;
    const field = kind === "startup" ? "started" : "ready";
    const told = (list: readonly ContainerStatus[]): readonly ContainerStatus[] =>
      list.map((each) => (each.containerID === containerId ? { ...each, [field]: isGood } : each));
    const { initContainerStatuses: inits, containerStatuses = [], conditions = [] } = status;
    const now = formatTime(unixSeconds(this.context.process.clock, this.context.process.clock.nowMicros()));
    const next = {
      ...status,
      ...(inits === undefined ? {} : { initContainerStatuses: told(inits) }),
      containerStatuses: told(containerStatuses),
    };
    const all = [...(next.initContainerStatuses ?? []), ...next.containerStatuses];
    const { statuses } = this.context;
    if (kind === "startup") {
      statuses.set(held, next);
      // The sync that follows says more: readers see both.
      statuses.tellNow(held);
    } else statuses.set(held, { ...next, conditions: withReadiness(pod, next.phase, all, conditions, now) });
  }

  *terminate(held: HeldPod): Task<SyncOutcome> {
    const { statuses, probes, events, cri, process } = this.context;
    const { status } = this.build(held, false);
    statuses.set(held, ended(held, status));
    probes.stopLivenessAndStartup(held);
    leaveVolumes(held);
    const stopping = this.stopping(held);
    const error = yield* killPod(stopping, held.runtimePod, held.graceSeconds > 0 ? held.graceSeconds : undefined);
    if (error !== undefined) {
      events.pod(held.object, "Warning", "FailedKillPod", `error killing pod: ${error}`);
      return "failed";
    }
    probes.remove(held);
    const { uid, name, namespace } = held;
    const seen = yield* inspectPod(cri, { uid, name, namespace }, process.clock.nowMicros());
    if ("error" in seen) return "failed";
    if (seen.containers.some(({ state }) => state === "CONTAINER_RUNNING")) return "failed";
    held.runtimePod = seen;
    statuses.set(held, this.build(held, true).status);
    return "ended";
  }

  *finish(held: HeldPod): Task<SyncOutcome> {
    const { statuses, cri, node } = this.context;
    if ((held.pod.spec.volumes ?? []).length > 0) {
      yield* cri.ask("RemovePath", { path: `${node().rootDir}/pods/${held.uid}/volumes` });
    }
    held.isFinished = true;
    // A static pod's mirror is taken away, and gets no last word.
    const last = final(held, this.build(held, true).status);
    if (!held.isStatic) statuses.set(held, last, true);
    return "done";
  }

  private build(held: HeldPod, isEnding: boolean): { status: PodStatus; wasTriggered: boolean } {
    const { process, probes, health, hostIps } = this.context;
    const { clock } = process;
    const view = probes.view(held, true);
    const { pod } = held;
    const before = held.status ?? pod.status ?? {};
    const isPast = clock.nowMicros() >= deadlineOf(held, clock);
    // However its containers end then: it has failed.
    const isOverdue = isPast && (!isTerminalPhase(before.phase) || before.reason === "DeadlineExceeded");
    const now = formatTime(unixSeconds(clock, clock.nowMicros()));
    const progress = isResizing(held) ? { error: held.resizeError } : undefined;
    const status = podStatus({
      pod,
      runtimePod: held.runtimePod,
      before,
      reasons: held.reasons,
      probes: view,
      isEnding,
      isStatic: held.isStatic,
      hostIps: hostIps(),
      runtimeName: health.version()?.name ?? "containerd",
      actuated: held.actuated,
      shows: this.context.shows,
      resizing: resizeConditions(held.resizeRefusal, progress, before.conditions ?? [], now),
      isOverdue,
      now,
    });
    // The published agent asks each time that it puts a status together, and tells of it each time.
    if (isOverdue) {
      this.context.events.pod(held.object, "Normal", "DeadlineExceeded", status.message ?? "");
    }
    return { status, wasTriggered: view.wasTriggered };
  }

  /** Read each time; what is not there is told of, and images are pulled without it. */
  private *pullSecrets(held: HeldPod): Task<PullSecrets> {
    const { volumes, events } = this.context;
    if ((held.pod.spec.imagePullSecrets ?? []).length === 0) return noPullSecrets;
    const secrets = yield* pullSecrets(volumes(held), held.pod);
    const names = secrets.missing.join(", ");
    if (names !== "") {
      const message = `Unable to retrieve some image pull secrets (${names}); attempting to pull the image may not succeed.`;
      events.pod(held.object, "Warning", "FailedToRetrieveImagePullSecret", message);
    }
    return secrets;
  }

  private stopping(held: HeldPod): Stopping {
    const { cri, events } = this.context;
    return {
      cri,
      pod: held.pod,
      podIp: held.status?.podIP ?? "",
      tell: (container, type, reason, message) =>
        events.pod(held.object, type, reason, message, { fieldPath: fieldPathOf(held, container) }),
    };
  }

  private *runPlan(held: HeldPod, secrets: PullSecrets): Task<SyncOutcome | "steady"> {
    const { probes, cri, events, law } = this.context;
    const plan = law().syncPlan(held.pod, held.runtimePod, probes.verdicts(held), containerHash, held.actuated);
    if (isEmpty(plan)) {
      const lacksDns = this.tellOfDns(held);
      return (held.reasons?.size ?? 0) > 0 || lacksDns || secrets.missing.length > 0 ? "done" : "steady";
    }
    if (plan.createSandbox && plan.sandboxId !== "") {
      events.pod(held.object, "Normal", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.");
    }
    const stopping = this.stopping(held);
    if (plan.killPod) {
      const error = yield* killPod(stopping, held.runtimePod, undefined);
      if (error !== undefined) {
        events.pod(held.object, "Warning", "FailedKillPod", `error killing pod: ${error}`);
        return "failed";
      }
      if (!plan.createSandbox) return "done";
      yield* removeInits(cri, held.runtimePod, held, 0);
    } else {
      for (const { container, message, reason } of plan.toKill) {
        const error = yield* killContainer(stopping, container, { message, reason });
        if (error !== undefined) return "failed";
      }
      if (plan.initsToStart.length > 0) yield* removeInits(cri, held.runtimePod, held, 1);
    }
    return yield* this.start(held, plan, secrets);
  }

  private *start(held: HeldPod, plan: SyncPlan, secrets: PullSecrets): Task<SyncOutcome> {
    const { runtimePod } = held;
    const starting = this.starting(held, secrets);
    if (plan.createSandbox) this.tellOfDns(held);
    const sandbox = plan.createSandbox ? yield* createSandbox(starting, plan.attempt) : this.sandboxOf(held, starting);
    if ("error" in sandbox) return "failed";
    this.tellOfDns(held);
    let outcome: SyncOutcome = "done";
    if (plan.toResize.length > 0 && !(yield* this.resizeContainers(held, plan))) outcome = "failed";
    const kinds = [
      ["ephemeralContainers", plan.ephemeralToStart],
      ["initContainers", plan.initsToStart],
      ["containers", plan.toStart],
    ] as const;
    for (const [kind, containers] of kinds) {
      for (const container of containers) {
        if (held.actuated !== undefined) this.beginAnew(held, container.name);
        const reason = yield* startContainer(starting, sandbox, container, runtimePod, kind);
        if (reason === undefined) {
          held.reasons?.delete(container.name);
          continue;
        }
        (held.reasons ??= new Map()).set(container.name, reason);
        outcome = "failed";
        // What comes after an init container waits for it; beside a sidecar, the next may still come.
        if (kind === "initContainers" && container.restartPolicy !== "Always") return outcome;
      }
    }
    return outcome;
  }

  private beginAnew(held: HeldPod, container: string): void {
    begunAnew(held, container);
    this.context.resized();
  }

  /** The runtime tells of no such change: the pod is looked at again by itself. */
  private *resizeContainers(held: HeldPod, { toResize }: SyncPlan): Task<boolean> {
    const { cri, node, places, resized, again } = this.context;
    held.resizeError = yield* resizeContainers({ cri, node: node(), places }, held, toResize);
    resized();
    again(held);
    return held.resizeError === undefined;
  }

  /** Each time that a pod's DNS is put together, and the cluster's is wanted and not known. */
  private tellOfDns(held: HeldPod): boolean {
    const { dnsPolicy = "ClusterFirst", hostNetwork = false } = held.pod.spec;
    const wants = dnsPolicy === "ClusterFirstWithHostNet" || (dnsPolicy === "ClusterFirst" && !hostNetwork);
    const { node, events, agentName } = this.context;
    if (!wants || node().clusterDns.length > 0) return false;
    const pod = `pod: ${JSON.stringify(podWords(held.pod))}.`;
    const why = `${agentName} does not have ClusterDNS IP configured and cannot create Pod using ${JSON.stringify(dnsPolicy)} policy.`;
    events.pod(held.object, "Warning", "MissingClusterDNS", `${pod} ${why} Falling back to "Default" policy.`);
    return true;
  }

  private starting(held: HeldPod, secrets: PullSecrets): Starting {
    const { images, backOffs, events, volumes, node, seenAnnotations, groupSuffix, places } = this.context;
    return {
      volumes: volumes(held),
      node: node(),
      images,
      pullSecrets: secrets,
      backOffs,
      events,
      object: held.object,
      qos: held.qos,
      seen: seenAnnotations(held),
      groupSuffix,
      places,
    };
  }

  /** The one that is there, with the configuration that it was made by. */
  private sandboxOf(held: HeldPod, { node, seen, qos }: Starting): Sandbox {
    const [newest] = held.runtimePod.sandboxes;
    const config = sandboxConfig(node, held.pod, qos, newest?.attempt ?? 0, seen);
    const ips = newest === undefined || newest.ip === "" ? [] : [newest.ip, ...newest.additionalIps];
    return { id: newest?.id ?? "", config, ips };
  }
}

/** When the pod has been active for as long as it may; Infinity where nothing bounds it. */
export function deadlineOf(held: HeldPod, { epochUnixMillis }: Clock): Micros {
  const { activeDeadlineSeconds } = held.pod.spec;
  const start = held.status?.startTime ?? held.pod.status?.startTime;
  if (activeDeadlineSeconds === undefined || start === undefined) return Infinity;
  const began = parseTime(start);
  if ("error" in began) return Infinity;
  return began.seconds * 1_000_000 + microsOfSeconds(activeDeadlineSeconds) - epochUnixMillis * 1000;
}

/** Kills of others give a pod its end before it has come. */
function ended(held: HeldPod, status: PodStatus): PodStatus {
  let told = status;
  for (const { reason, message, condition } of held.ends ?? []) {
    told = { ...told, phase: "Failed", reason, message };
    if (condition === undefined) continue;
    const time = told.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime ?? null;
    const own = { ...condition, status: "True", lastProbeTime: null, lastTransitionTime: time };
    told = { ...told, conditions: [...(told.conditions ?? []).filter(({ type }) => type !== own.type), own] };
  }
  return told;
}

/** What has not ended by now, nobody knows the end of; what was never begun has no end. */
function final(held: HeldPod, status: PodStatus): PodStatus {
  const { initContainerStatuses: inits = [], containerStatuses = [] } = status;
  const lastBegun = inits.findLastIndex(
    ({ state, lastState }) => hasMoved(state) || lastState.terminated !== undefined,
  );
  // The first is taken for begun.
  const endedInits = inits.map((each, at) => (at <= Math.max(0, lastBegun) ? endedOf(each) : each));
  const ended = isInitialized(held, status) ? containerStatuses.map(endedOf) : containerStatuses;
  return {
    ...status,
    phase: isTerminalPhase(status.phase) ? (status.phase as "Failed") : "Failed",
    ...(inits.length === 0 ? {} : { initContainerStatuses: endedInits }),
    containerStatuses: ended,
  };
}

const hasMoved = ({ waiting }: ContainerStatus["state"]): boolean => waiting === undefined;

function endedOf(status: ContainerStatus): ContainerStatus {
  if (status.state.terminated !== undefined) return status;
  const message = "The container could not be located when the pod was terminated";
  const lost = { exitCode: 137, reason: "ContainerStatusUnknown", message, startedAt: null, finishedAt: null };
  return { ...status, state: { terminated: lost }, ready: false, started: false };
}

/** Nothing says that regular containers would still have had to wait. */
function isInitialized({ pod: { spec } }: HeldPod, status: PodStatus): boolean {
  const last = spec.initContainers?.at(-1);
  if (last === undefined) return true;
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  if (containerStatuses.some(({ state, lastState }) => hasMoved(state) || lastState.terminated !== undefined))
    return true;
  const init = initContainerStatuses.find(({ name }) => name === last.name);
  if (last.restartPolicy === "Always") return init?.state.running !== undefined && init.started === true;
  return init?.state.terminated?.exitCode === 0;
}

function isEmpty(plan: SyncPlan): boolean {
  const { killPod: kills, createSandbox: creates, toKill, toStart, initsToStart, ephemeralToStart, toResize } = plan;
  const lists = [toKill, toStart, initsToStart, ephemeralToStart, toResize];
  return !kills && !creates && lists.every(({ length }) => length === 0);
}

/** Removes what is left of init containers, but the newest of each. */
function* removeInits(cri: CriCaller, runtimePod: RuntimePod, held: HeldPod, keepCount: number): Task<void> {
  for (const { name } of held.pod.spec.initContainers ?? []) {
    const dead = allNamed(runtimePod.containers, name).filter(({ state }) => state === "CONTAINER_EXITED");
    for (const { id } of dead.slice(keepCount)) yield* cri.ask("RemoveContainer", { containerId: id });
  }
}

function fieldPathOf(held: HeldPod, name: string): string {
  const has = (list: readonly Container[] | undefined): boolean => named(list, name) !== undefined;
  const { initContainers, ephemeralContainers } = held.pod.spec;
  const kind = has(initContainers) ? "initContainers" : has(ephemeralContainers) ? "ephemeralContainers" : "containers";
  return `spec.${kind}{${name}}`;
}

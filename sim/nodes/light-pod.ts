/** A pod on a light node: its containers one after another and side by side, and what its status says of them. */
import { formatTime, formatMicroTime } from "../../wire/time.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { unixSeconds } from "../control/event-recorder.ts";
import { isSidecar } from "../control/shared/pods.ts";
import type { Container, Pod } from "../control/shared/stored.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import { type ContainerScript, containerScript } from "./container-script.ts";

export interface LightPodPorts {
  readonly process: Process;
  readonly hostAddress: string;
  /** Undefined when the node has none left. */
  readonly address: string | undefined;
  readonly draw: (what: "start" | "stop" | "run") => Micros;
  /** The status is another one. */
  readonly changed: () => void;
  /** Everything has stopped that was asked to. */
  readonly stopped: () => void;
  readonly tell: (type: "Normal" | "Warning", reason: string, message: string) => void;
}

interface RunState {
  readonly spec: Container;
  readonly isInit: boolean;
  readonly script: ContainerScript;
  state: "waiting" | "running" | "ended";
  /** Of a container that waits. */
  reason: string;
  isReady: boolean;
  restarts: number;
  startedSeconds: number;
  endedSeconds: number;
  exitCode: number;
  last: JsonObject | undefined;
  readonly log: LogLine[];
  previousLog: readonly LogLine[];
}

export interface LogLine {
  /** RFC 3339. */
  readonly time: string;
  readonly seconds: number;
  readonly text: string;
}

const logLinesMax = 1_000;
const backOffMicrosMin: Micros = 10_000_000;
const backOffMicrosMax: Micros = 300_000_000;

export class LightPod {
  pod: Pod;
  private readonly ports: LightPodPorts;
  private readonly containers: readonly RunState[];
  private readonly startTime: string;
  private readonly timers = new Set<Cancel>();
  private isStopping = false;
  private isBegun = false;

  constructor(pod: Pod, ports: LightPodPorts) {
    this.pod = pod;
    this.ports = ports;
    this.startTime = formatTime(unixSeconds(ports.process.clock));
    const endsBy = (pod.spec.restartPolicy ?? "Always") === "Always" ? undefined : ports.draw("run");
    const state = (spec: Container, isInit: boolean): RunState => ({
      spec,
      isInit,
      script: scriptOf(spec, isInit && !isSidecar(spec) ? 0 : endsBy),
      state: "waiting",
      reason: isInit || (pod.spec.initContainers ?? []).length === 0 ? "ContainerCreating" : "PodInitializing",
      isReady: false,
      restarts: 0,
      startedSeconds: 0,
      endedSeconds: 0,
      exitCode: 0,
      last: undefined,
      log: [],
      previousLog: [],
    });
    this.containers = [
      ...(pod.spec.initContainers ?? []).map((spec) => state(spec, true)),
      ...pod.spec.containers.map((spec) => state(spec, false)),
    ];
  }

  begin(): void {
    this.after(this.ports.draw("start"), () => {
      this.isBegun = true;
      this.next();
    });
  }

  /** Asks all containers to stop; `ports.stopped` follows. */
  stop(graceSeconds: number): void {
    if (this.isStopping) return;
    this.isStopping = true;
    this.abandon();
    const isRunning = this.containers.some(({ state }) => state === "running");
    for (const { spec, state } of this.containers) {
      if (state === "running") this.ports.tell("Normal", "Killing", `Stopping container ${spec.name}`);
    }
    const micros = isRunning ? Math.min(this.ports.draw("stop"), graceSeconds * 1_000_000) : 0;
    this.after(micros, () => {
      for (const container of this.containers) if (container.state === "running") this.end(container, 0);
      this.ports.stopped();
    });
  }

  /** Nothing of it happens any more. */
  abandon(): void {
    for (const cancel of this.timers) cancel();
    this.timers.clear();
  }

  get isOver(): boolean {
    const { phase } = this.phase();
    return phase === "Succeeded" || phase === "Failed";
  }

  /** Undefined: there is no such container. */
  logOf(name: string, previous: boolean): readonly LogLine[] | undefined {
    const found = this.containers.find(({ spec }) => spec.name === name);
    return previous ? found?.previousLog : found?.log;
  }

  /** Inits one after another, sidecars with them, then all the others. */
  private next(): void {
    if (this.isStopping) return;
    for (const container of this.containers) {
      if (!container.isInit) break;
      if (isSidecar(container.spec)) {
        if (container.state === "waiting") this.start(container);
        continue;
      }
      if (container.state === "ended" && container.exitCode === 0) continue;
      if (container.state === "waiting") this.start(container);
      this.ports.changed();
      return;
    }
    for (const container of this.containers) {
      if (!container.isInit && container.state === "waiting" && container.reason !== "CrashLoopBackOff")
        this.start(container);
    }
    this.ports.changed();
  }

  private start(container: RunState): void {
    const { spec, script, isInit } = container;
    container.state = "running";
    container.startedSeconds = this.seconds();
    if (container.restarts === 0) {
      this.ports.tell(
        "Normal",
        "Pulled",
        `Container image ${JSON.stringify(spec.image ?? "")} already present on machine`,
      );
      this.ports.tell("Normal", "Created", `Created container: ${spec.name}`);
      this.ports.tell("Normal", "Started", `Started container ${spec.name}`);
    }
    this.log(container, `${spec.name} started from ${spec.image ?? ""}`);
    for (const line of script.lines) this.log(container, line);
    const delay = readinessDelayMicros(spec);
    if (isInit && !isSidecar(spec)) container.isReady = false;
    else if (delay === 0) container.isReady = true;
    else {
      this.after(delay, () => {
        if (container.state !== "running") return;
        container.isReady = true;
        this.ports.changed();
      });
    }
    if (script.runMicros === undefined) return;
    this.after(script.runMicros, () => {
      this.end(container, script.exitCode);
      this.react(container);
    });
  }

  private end(container: RunState, exitCode: number): void {
    container.state = "ended";
    container.isReady = false;
    container.exitCode = exitCode;
    container.endedSeconds = this.seconds();
    this.log(container, `${container.spec.name} ended with ${exitCode}`);
  }

  /** Started again where its pod's policy says so, later each time. */
  private react(container: RunState): void {
    const policy = isSidecar(container.spec) ? "Always" : (this.pod.spec.restartPolicy ?? "Always");
    const isFailure = container.exitCode !== 0;
    const again =
      container.isInit && !isSidecar(container.spec)
        ? isFailure && policy !== "Never"
        : policy === "Always" || (policy === "OnFailure" && isFailure);
    if (!again) {
      this.next();
      return;
    }
    const micros =
      container.restarts === 0
        ? 0
        : Math.min(backOffMicrosMin * (1 << Math.min(container.restarts - 1, 10)), backOffMicrosMax);
    container.last = { terminated: terminated(container) };
    container.previousLog = [...container.log];
    container.state = "waiting";
    container.reason = "CrashLoopBackOff";
    if (micros > 0)
      this.ports.tell(
        "Warning",
        "BackOff",
        `Back-off restarting failed container ${container.spec.name} in pod ${this.pod.metadata.name}`,
      );
    this.ports.changed();
    this.after(micros, () => {
      container.restarts++;
      container.log.length = 0;
      this.start(container);
      this.ports.changed();
    });
  }

  /** What the agent says of it. */
  status(): JsonObject {
    const { phase, reason } = this.phase();
    const now = formatTime(this.seconds());
    const mains = this.containers.filter(({ isInit }) => !isInit);
    const ready =
      phase === "Running" && this.containers.every((each) => each.isReady || (each.isInit && !isSidecar(each.spec)));
    const isOver = phase === "Succeeded" || phase === "Failed";
    const initialized =
      isOver || mains.some(({ state }) => state !== "waiting") || (this.pod.spec.initContainers ?? []).length === 0;
    const why = isOver ? `Pod${phase === "Succeeded" ? "Completed" : "Failed"}` : "ContainersNotReady";
    const { address, hostAddress } = this.ports;
    const condition = (type: string, holds: boolean, reasonOf?: string): JsonObject => {
      const old = this.pod.status?.conditions?.find((each) => each.type === type);
      const status = holds ? "True" : "False";
      const lastTransitionTime = old?.status === status ? (old.lastTransitionTime ?? now) : now;
      return {
        type,
        status,
        lastProbeTime: null,
        lastTransitionTime,
        ...(holds || reasonOf === undefined ? {} : { reason: reasonOf }),
      };
    };
    const hostNetwork = this.pod.spec.hostNetwork === true;
    const podIP = hostNetwork ? hostAddress : this.isBegun ? address : undefined;
    const inits = this.containers.filter(({ isInit }) => isInit);
    return {
      phase,
      ...(reason === undefined ? {} : { reason }),
      hostIP: hostAddress,
      hostIPs: [{ ip: hostAddress }],
      ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
      startTime: this.startTime,
      conditions: [
        condition("PodReadyToStartContainers", this.isBegun && !isOver),
        condition("Initialized", initialized, "ContainersNotInitialized"),
        condition("Ready", ready, why),
        condition("ContainersReady", ready, why),
        condition("PodScheduled", true),
      ],
      containerStatuses: mains.map((each) => this.containerStatus(each)),
      ...(inits.length === 0 ? {} : { initContainerStatuses: inits.map((each) => this.containerStatus(each)) }),
      qosClass: (this.pod.status as { readonly qosClass?: string } | undefined)?.qosClass ?? "BestEffort",
    };
  }

  private phase(): { readonly phase: string; readonly reason?: string } {
    const never = this.pod.spec.restartPolicy === "Never";
    const inits = this.containers.filter(({ isInit, spec }) => isInit && !isSidecar(spec));
    if (never && inits.some(({ state, exitCode }) => state === "ended" && exitCode !== 0)) return { phase: "Failed" };
    const mains = this.containers.filter(({ isInit }) => !isInit);
    if (mains.every(({ state }) => state === "ended")) {
      return { phase: mains.every(({ exitCode }) => exitCode === 0) ? "Succeeded" : "Failed" };
    }
    return {
      phase: mains.some(({ state, restarts }) => state !== "waiting" || restarts > 0 || this.isStopping)
        ? "Running"
        : mains.some(({ last }) => last !== undefined)
          ? "Running"
          : "Pending",
    };
  }

  private containerStatus(container: RunState): JsonObject {
    const { spec, state, reason, isReady, restarts, startedSeconds, last } = container;
    const startedAt = formatTime(startedSeconds);
    const now: JsonObject =
      state === "running"
        ? { running: { startedAt } }
        : state === "ended"
          ? { terminated: terminated(container) }
          : { waiting: { reason } };
    return {
      name: spec.name,
      image: spec.image ?? "",
      imageID: state === "waiting" && last === undefined ? "" : `light://${spec.image ?? ""}`,
      ...(state === "waiting" && last === undefined
        ? {}
        : { containerID: `light://${this.pod.metadata.uid}/${spec.name}/${restarts}` }),
      ready: isReady || (container.isInit && state === "ended" && container.exitCode === 0),
      started: state === "running",
      restartCount: restarts,
      state: now,
      lastState: last ?? {},
    };
  }

  private log(container: RunState, text: string): void {
    const { clock } = this.ports.process;
    const micros = clock.epochUnixMillis * 1000 + clock.nowMicros();
    const seconds = Math.floor(micros / 1_000_000);
    container.log.push({ time: formatMicroTime({ seconds, micros: micros % 1_000_000 }), seconds, text });
    if (container.log.length > logLinesMax) container.log.shift();
  }

  private seconds(): number {
    return unixSeconds(this.ports.process.clock);
  }

  private after(micros: Micros, act: () => void): void {
    const cancel = this.ports.process.clock.after(micros, () => {
      this.timers.delete(cancel);
      act();
    });
    this.timers.add(cancel);
  }
}

function scriptOf(spec: Container, endsBy: Micros | undefined): ContainerScript {
  const { command = [], args = [] } = spec as {
    readonly command?: readonly string[];
    readonly args?: readonly string[];
  };
  return containerScript([...command, ...args], endsBy);
}

function readinessDelayMicros(spec: Container): Micros {
  const { readinessProbe } = spec as { readonly readinessProbe?: { readonly initialDelaySeconds?: number } };
  return (readinessProbe?.initialDelaySeconds ?? 0) * 1_000_000;
}

function terminated({ exitCode, startedSeconds, endedSeconds }: RunState): JsonObject {
  const reason = exitCode === 0 ? "Completed" : "Error";
  return { exitCode, reason, startedAt: formatTime(startedSeconds), finishedAt: formatTime(endedSeconds) };
}

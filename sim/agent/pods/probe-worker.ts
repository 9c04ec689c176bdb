/**
 * One probe of one container: when it is tried, and what it has found. Source: the facts, Probes.
 * A worker lives as long as its pod; a new container begins anew.
 */
import { parseTime } from "../../../wire/time.ts";
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import type { AgentEvents } from "../ports.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import { handle, type Handled } from "../runtime/handlers.ts";
import { microsOfSeconds } from "../seconds.ts";
import { later, piece } from "../piece.ts";
import { run, type Task } from "../task.ts";
import type { HeldPod, HeldProbe, ProbeKind } from "./held-pod.ts";
import {
  type Container,
  type ContainerStatus,
  isSidecar,
  isTerminalPhase,
  type Probe,
  restartPolicyOf,
} from "./pod-types.ts";
import { named } from "../runtime/named.ts";

export interface ProbeContext {
  readonly process: Process;
  readonly cri: CriCaller;
  readonly events: AgentEvents;
  /** A result has changed: the pod is looked at again. */
  readonly changed: (held: HeldPod, finding: ProbeFinding) => void;
}

export interface ProbeFinding {
  readonly kind: ProbeKind;
  /** As the status has it. */
  readonly containerId: string;
  readonly isGood: boolean;
}

const attemptsMax = 3;
const words: Readonly<Record<ProbeKind, string>> = { startup: "Startup", readiness: "Readiness", liveness: "Liveness" };

export class ProbeWorker implements HeldProbe {
  readonly kind: ProbeKind;
  readonly container: Container;
  readonly spec: Probe;
  /** Of the container that the result is about; empty: none yet. */
  containerId = "";
  /** Undefined: nothing is known yet. */
  result: boolean | undefined;
  private readonly context: ProbeContext;
  private readonly held: HeldPod;
  private readonly fieldPath: string;
  private lastResult: boolean | undefined;
  private resultRun = 0;
  private isOnHold = false;
  private isProbing = false;
  private isTriggered = false;
  private isStopped = false;
  private cancelTimer: Cancel = () => {};
  private cancelProbe: Cancel = () => {};

  constructor(
    context: ProbeContext,
    held: HeldPod,
    container: Container,
    kind: ProbeKind,
    spec: Probe,
    isInit: boolean,
  ) {
    this.context = context;
    this.held = held;
    this.container = container;
    this.kind = kind;
    this.spec = spec;
    this.fieldPath = `spec.${isInit ? "initContainers" : "containers"}{${container.name}}`;
  }

  get name(): string {
    return this.container.name;
  }

  start(delayMicros: Micros): void {
    this.cancelTimer = later(this.context.process, delayMicros, () => this.turn());
  }

  /** Tries at once, and counts the period from there. */
  trigger(): void {
    if (this.isStopped) return;
    if (this.isProbing) {
      this.isTriggered = true;
      return;
    }
    this.cancelTimer();
    this.cancelTimer = later(this.context.process, 0, () => this.turn());
  }

  stop(): void {
    this.isStopped = true;
    this.cancelTimer();
    this.cancelProbe();
  }

  private turn(): void {
    const periodMicros = microsOfSeconds(Math.max(1, this.spec.periodSeconds ?? 10));
    const { process } = this.context;
    const { clock } = process;
    const beganMicros = clock.nowMicros();
    this.isProbing = true;
    const end = (goesOn: boolean): void => {
      this.isProbing = false;
      if (!goesOn) {
        this.stop();
        return;
      }
      if (this.isStopped) return;
      const next = this.isTriggered ? 0 : Math.max(0, beganMicros + periodMicros - clock.nowMicros());
      this.isTriggered = false;
      this.cancelTimer = later(process, next, () => this.turn());
    };
    const begin = (): void => {
      this.cancelProbe = run(this.probe(), end);
    };
    // One that throws has found nothing, and is tried again after its period.
    const failed = (): void => {
      this.isTriggered = false;
      end(true);
    };
    piece(process, "probe", this.words, begin, failed);
  }

  private readonly words = (): string =>
    `${this.kind} probe of container ${this.name} of pod ${this.held.namespace}/${this.held.name}`;

  /** Whether there is any sense in going on. */
  private *probe(): Task<boolean> {
    const { held, container, kind, spec } = this;
    const { status } = held;
    if (status === undefined) return true;
    if (isTerminalPhase(status.phase)) return false;
    const { name } = container;
    const shown = named(status.containerStatuses, name) ?? named(status.initContainerStatuses, name);
    if (shown?.containerID === undefined) return true;
    this.follow(shown);
    if (this.isOnHold) return true;
    if (shown.state.running === undefined) {
      this.set(false);
      return shown.state.terminated === undefined || restartPolicyOf(held.pod) !== "Never" || isSidecar(container);
    }
    if (held.pod.metadata.deletionTimestamp !== undefined && kind !== "readiness") {
      this.set(true);
      return false;
    }
    const { clock } = this.context.process;
    // Statuses have whole seconds, and that is what the delay is counted from.
    const started = parseTime(shown.state.running.startedAt);
    const ageMicros =
      clock.epochUnixMillis * 1000 + clock.nowMicros() - ("error" in started ? 0 : started.seconds * 1_000_000);
    if (Math.floor(ageMicros / 1_000_000) < (spec.initialDelaySeconds ?? 0)) return true;
    // Startup probes rest once the container has started; the others wait until it has.
    if ((shown.started === true) === (kind === "startup")) return true;
    const result = yield* this.attempt(shown.containerID.slice(shown.containerID.indexOf("//") + 2));
    if (result === undefined) return true;
    if (this.lastResult === result) this.resultRun++;
    else {
      this.lastResult = result;
      this.resultRun = 1;
    }
    const threshold = result ? (spec.successThreshold ?? 1) : (spec.failureThreshold ?? 3);
    if (this.resultRun < threshold) return true;
    // A container that is about to be replaced is left alone until there is a new one.
    if ((kind === "liveness" && !result) || kind === "startup") {
      this.isOnHold = true;
      this.resultRun = 0;
    }
    this.set(result);
    return true;
  }

  /** A new container begins with what is assumed of it. */
  private follow({ containerID = "" }: ContainerStatus): void {
    if (this.containerId === containerID) return;
    this.containerId = containerID;
    this.isOnHold = false;
    this.result = this.kind === "startup" ? undefined : this.kind === "liveness";
  }

  private set(result: boolean): void {
    if (this.result === result) return;
    this.result = result;
    this.context.changed(this.held, { kind: this.kind, containerId: this.containerId, isGood: result });
  }

  /** Undefined: it could not be tried; what is known stays. */
  private *attempt(containerId: string): Task<boolean | undefined> {
    const { held, container, kind, spec } = this;
    const { cri, events } = this.context;
    const place = { cri, container, containerId, podIp: held.status?.podIP ?? "" };
    let handled: Handled = { outcome: "success" };
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      handled = yield* handle(place, spec, spec.timeoutSeconds ?? 1);
      if (handled.outcome !== "error") break;
    }
    if (handled.outcome === "success") return true;
    if (handled.outcome === "warning") {
      const warning = `${words[kind]} probe warning: ${handled.output}`;
      events.pod(held.object, "Warning", "ProbeWarning", warning, { fieldPath: this.fieldPath });
      return true;
    }
    const told =
      handled.outcome === "failure"
        ? `${words[kind]} probe failed: ${handled.output}`
        : `${words[kind]} probe errored and resulted in unknown state: ${handled.output}`;
    events.pod(held.object, "Warning", "Unhealthy", told, { fieldPath: this.fieldPath });
    return handled.outcome === "failure" ? false : undefined;
  }
}

/**
 * A container runtime that runs nothing: sandboxes, containers, images and files of one node, as a state machine on kernel
 * events. It answers calls of the container runtime interface as containerd does, and those of `Machine` for the host.
 *
 * Containers belong to the machine, not to the process that calls: they go on while nobody asks. What is idle costs nothing:
 * one timer serves all containers of a node, and figures are computed when they are asked for.
 */
import type { CriAnswer, CriEventSink, CriMethod, CriRequest, CriRequestOf } from "../../wire/cri.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { Cancel, Process } from "../kernel/types.ts";
import type { CallFault } from "./call-faults.ts";
import type { FigureLie } from "../../wire/figure-lie.ts";
import { type CallHandler, containerCalls } from "./container-calls.ts";
import { runContainer } from "./container-life.ts";
import { imageCalls } from "./image-calls.ts";
import { machineCalls } from "./machine-calls.ts";
import type { MachineUsage } from "./machine.ts";
import { podKey, type UsageSetting } from "./records.ts";
import { type RuntimeOptions, RuntimeState } from "./runtime-state.ts";
import { sandboxCalls } from "./sandbox-calls.ts";
import { statsCalls } from "./stats-calls.ts";
import { statusCalls } from "./status-calls.ts";
import { addedByModels } from "./usage-of.ts";
import { UsageVersion } from "./usage-version.ts";

const calls: { readonly [M in CriMethod]: CallHandler<M> } = {
  ...sandboxCalls,
  ...containerCalls,
  ...imageCalls,
  ...statsCalls,
  ...statusCalls,
  ...machineCalls,
};

export class SimulatedRuntime implements CriRuntime {
  readonly state: RuntimeState;
  private readonly usage = new UsageVersion();

  constructor(process: Process, options: RuntimeOptions = {}) {
    this.state = new RuntimeState(process, options, (container) => runContainer(this.state, container));
    this.state.machine.modelled = () => addedByModels(this.state);
  }

  /** `over` is told when nothing comes of the call any more, whether or not somebody still waits for the answer. */
  start(
    request: CriRequest,
    done: (answer: CriAnswer) => void,
    _fail?: unknown,
    over?: (answer: CriAnswer | undefined) => void,
  ): Cancel {
    let open = true;
    let carriedOut = false;
    const answer = (value: CriAnswer): void => {
      over?.(value);
      if (open) done(value);
      open = false;
    };
    const handler = calls[request.method] as CallHandler<CriMethod>;
    const { faults } = this.state;
    const effect = faults.isAny ? faults.effectOn(request, () => this.namesOf(request.message)) : undefined;
    if (effect === undefined) {
      carriedOut = true;
      handler(this.state, request.message, answer);
    } else if (effect.is === "delay") {
      // Who has walked away by then is not served.
      this.state.process.clock.after(effect.micros, () => {
        if (!open) return;
        carriedOut = true;
        handler(this.state, request.message, answer);
      });
    } else if (effect.is === "error") {
      const { code, text } = effect;
      carriedOut = true;
      this.state.later(request.method, () => answer({ ok: false, code, text }));
    }
    return () => {
      if (open && request.method === "StartContainer")
        this.abandonStart(request.message as CriRequestOf<"StartContainer">);
      if (open && !carriedOut) over?.(undefined);
      open = false;
    };
  }

  /** Nobody waits any more: as containerd does, a start that is under way comes to nothing. */
  private abandonStart({ containerId = "" }: CriRequestOf<"StartContainer">): void {
    const container = this.state.containers.get(containerId);
    if (container !== undefined) container.starting = undefined;
  }

  quiet(woken: () => void): Cancel | undefined {
    return this.state.quiet(woken);
  }

  usageVersion(): number | undefined {
    return this.usage.of(this.state);
  }

  filesVersion(): number | undefined {
    const { faults, modelled, machine } = this.state;
    return faults.isAny || modelled.size > 0 ? undefined : machine.host.version;
  }

  imagesVersion(): unknown {
    return this.state.faults.isAny ? undefined : this.state.images.listed();
  }

  events(reader: Process, sink: CriEventSink): Cancel {
    const entry = { reader, sink };
    this.state.sinks.add(entry);
    const forget = reader.onCrash(() => this.state.sinks.delete(entry));
    return () => {
      forget();
      this.state.sinks.delete(entry);
    };
  }

  /** From now on. A pod by `namespace/name`, one container by `namespace/name/container`; undefined takes it back. */
  use(name: string, setting: UsageSetting | undefined): void {
    const { settings, containers, nowMicros } = this.state;
    if (setting === undefined) settings.delete(name);
    else settings.set(name, { ...settings.get(name), ...setting, sinceMicros: nowMicros });
    for (const container of containers.values()) {
      const pod = podKey(container.sandbox.config);
      if (name !== pod && name !== `${pod}/${container.config.metadata?.name}`) continue;
      this.state.applySetting(container);
      if (container.box !== undefined) this.state.schedule(container, nowMicros);
    }
  }

  /** What is used beside the pods, from now on; what is left out stays. */
  useMachine(usage: MachineUsage): void {
    const { machine } = this.state;
    machine.usage = { ...machine.usage, ...usage, sinceMicros: this.state.nowMicros };
  }

  /** What is told of a pod's usage (`namespace/name`) or of the machine's (empty), from now on; undefined: what is used. */
  lie(about: string, lie: FigureLie | undefined): void {
    this.state.lies.set(about, lie);
    this.state.wake();
  }

  /** Conditions that `Status` tells. */
  setConditions(conditions: { readonly runtimeReady?: boolean; readonly networkReady?: boolean }): void {
    Object.assign(this.state.conditions, conditions);
    this.state.wake();
  }

  /** Makes calls go wrong from now on, until the returned function is called. */
  fail(fault: CallFault): () => void {
    const undo = this.state.faults.add(fault);
    this.state.wake();
    return undo;
  }

  /** No call goes wrong any more. What hangs already goes on hanging. */
  failNothing(): void {
    this.state.faults.clear();
    this.state.wake();
  }

  /** All that a call is about. */
  private namesOf(message: object): readonly string[] {
    const fields = message as {
      readonly containerId?: string;
      readonly podSandboxId?: string;
      readonly image?: { readonly image?: string };
      readonly config?: { readonly metadata?: { readonly name?: string; readonly namespace?: string } };
    };
    const names: string[] = [];
    const container = this.state.containers.get(fields.containerId ?? "");
    const sandbox = container?.sandbox ?? this.state.sandboxes.get(fields.podSandboxId ?? "");
    const own = fields.config?.metadata;
    if (container?.config.metadata?.name !== undefined) names.push(container.id, container.config.metadata.name);
    if (sandbox !== undefined) names.push(sandbox.id, podKey(sandbox.config));
    if (own?.name !== undefined) names.push(own.namespace === undefined ? own.name : `${own.namespace}/${own.name}`);
    if (fields.image?.image !== undefined) names.push(fields.image.image);
    return names;
  }
}

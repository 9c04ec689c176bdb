/**
 * Nodes without a runtime, many in one process: they register, renew their leases, and say of the pods that come to
 * them what an agent would: that containers start, become ready, log, end, start again and stop. For clusters whose
 * nodes are not what is looked at.
 *
 * Simplification: nothing is run or measured. A container does what its command says of it (`container-script.ts`);
 * probes find what they hope for after their first delay.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { groupInDialect } from "../../wire/dialect.ts";
import { formatMicroTime, formatTime } from "../../wire/time.ts";
import { ControlClient } from "../client/control-client.ts";
import { Reflectors } from "../client/reflectors.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import { EventRecorder, unixSeconds } from "../control/event-recorder.ts";
import { pathTo, podRow, subjectOf } from "../control/shared/controller.ts";
import { bodyOf, Informers } from "../control/shared/informers.ts";
import { isTerminated } from "../control/shared/pods.ts";
import { call, isGood, runSteps, type Steps } from "../control/shared/steps.ts";
import type { Pod } from "../control/shared/stored.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { LightPod } from "./light-pod.ts";
import { logAnswer, type NodeAnswer } from "./log-answer.ts";
import { nodeAddress, PodAddresses, podRange } from "./machine-names.ts";

interface Range {
  readonly min: Micros;
  readonly max: Micros;
}

/** One node, as it registers, and how pods fare on it. */
export interface LightNodeShape {
  readonly name: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  readonly usage: { readonly start: Range; readonly stop: Range; readonly run: Range };
}

export interface LightNodesOptions {
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  readonly nodes: readonly LightNodeShape[];
}

interface Machine {
  readonly shape: LightNodeShape;
  readonly index: number;
  readonly addresses: PodAddresses;
  /** By uid. */
  readonly pods: Map<string, LightPod>;
}

const leaseMicros: Micros = 10_000_000;
const leaseSeconds = 40;
const statusMicros: Micros = 300_000_000;
const retryMicros: Micros = 2_000_000;
const agentPort = 10250;

export class LightNodes {
  private readonly options: LightNodesOptions;
  private readonly client: ControlClient;
  private readonly events: EventRecorder;
  private readonly machines = new Map<string, Machine>();
  private readonly leases: string;
  /** Pods whose status is being written, and whether it has changed again since. */
  private readonly writing = new Map<string, boolean>();

  constructor(options: LightNodesOptions) {
    const { process, server, dialect, nodes } = options;
    this.options = options;
    this.client = new ControlClient({ process, server, dialect, account: "light-nodes" });
    this.events = new EventRecorder(this.client, "kubelet");
    this.leases = `/apis/${groupInDialect(dialect, "coordination.svc.io")}/v1/namespaces/${dialect.systemNamespaces.nodeLease}/leases`;
    for (const [index, shape] of nodes.entries()) {
      this.machines.set(shape.name, { shape, index, addresses: new PodAddresses(index), pods: new Map() });
    }
  }

  start(): void {
    const reflectors = new Reflectors(this.client);
    const pods = new Informers(reflectors).of<Pod>("/api/v1/pods");
    pods.hear({ changed: (pod) => this.hear(pod), gone: (pod) => this.forget(pod) });
    reflectors.start();
    for (const machine of this.machines.values()) this.register(machine);
  }

  /** What the agent at this address or under this name answers; undefined when no node of these is there. */
  answer(host: string, port: string, target: string): NodeAnswer | undefined {
    if (port !== String(agentPort)) return undefined;
    for (const { index, pods, shape } of this.machines.values()) {
      if (nodeAddress(index) !== host && shape.name !== host) continue;
      return logAnswer(target, unixSeconds(this.options.process.clock), (namespace, name) =>
        [...pods.values()].find(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name),
      );
    }
    return undefined;
  }

  private register(machine: Machine): void {
    runSteps(this.client, this.registration(machine), (isDone) => {
      const { clock } = this.options.process;
      if (!isDone) clock.after(retryMicros, () => this.register(machine));
      else {
        this.renew(machine);
        clock.after(statusMicros, () => this.report(machine));
      }
    });
  }

  private *registration({ shape, index }: Machine): Steps<boolean> {
    const { name, labels, taints } = shape;
    const body = bodyOf({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      spec: { podCIDR: podRange(index), podCIDRs: [podRange(index)], ...(taints.length === 0 ? {} : { taints }) },
    });
    const made = yield* call({ method: "POST", path: "/api/v1/nodes", body });
    if (!isGood(made) && made.status !== 409) return false;
    return isGood(yield* call(this.statusRequest(shape, index)));
  }

  private report(machine: Machine): void {
    this.client.call(this.statusRequest(machine.shape, machine.index), ({ status }) => {
      if (status === 404) this.register(machine);
      else this.options.process.clock.after(statusMicros, () => this.report(machine));
    });
  }

  private statusRequest({ name, capacity, labels }: LightNodeShape, index: number) {
    const now = formatTime(unixSeconds(this.options.process.clock));
    const condition = (type: string, status: string, reason: string, message: string): JsonObject => ({
      type,
      status,
      reason,
      message,
      lastHeartbeatTime: now,
      lastTransitionTime: now,
    });
    const status = bodyOf({
      capacity,
      allocatable: capacity,
      conditions: [
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
      ],
      addresses: [
        { type: "InternalIP", address: nodeAddress(index) },
        { type: "Hostname", address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: agentPort } },
      nodeInfo: {
        machineID: name,
        systemUUID: name,
        bootID: name,
        kernelVersion: "0.0.0-light",
        osImage: "none",
        containerRuntimeVersion: "light://1",
        kubeletVersion: "v1.33.3",
        kubeProxyVersion: "",
        operatingSystem: labels[`${this.options.dialect.labelSuffix}/os`] ?? "linux",
        architecture: labels[`${this.options.dialect.labelSuffix}/arch`] ?? "amd64",
      },
    });
    const contentType = "application/strategic-merge-patch+json";
    return { method: "PATCH", path: `/api/v1/nodes/${name}/status`, contentType, body: bodyOf({ status }) };
  }

  private renew(machine: Machine): void {
    const { process } = this.options;
    const { name } = machine.shape;
    const micros = process.clock.epochUnixMillis * 1000 + process.clock.nowMicros();
    const renewTime = formatMicroTime({ seconds: Math.floor(micros / 1_000_000), micros: micros % 1_000_000 });
    const contentType = "application/merge-patch+json";
    const path = `${this.leases}/${name}`;
    this.client.call({ method: "PATCH", path, contentType, body: { spec: { renewTime } } }, ({ status }) => {
      if (status === 404) this.makeLease(name, renewTime);
    });
    process.clock.after(leaseMicros, () => this.renew(machine));
  }

  private makeLease(name: string, renewTime: string): void {
    const apiVersion = `${groupInDialect(this.options.dialect, "coordination.svc.io")}/v1`;
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
    const body = { apiVersion, kind: "Lease", metadata: { name }, spec };
    this.client.call({ method: "POST", path: this.leases, body }, () => {});
  }

  private hear(pod: Pod): void {
    const machine = this.machines.get(pod.spec.nodeName ?? "");
    if (machine === undefined) return;
    const { uid, deletionTimestamp, deletionGracePeriodSeconds = 30 } = pod.metadata;
    let held = machine.pods.get(uid);
    if (held === undefined) {
      if (isTerminated(pod)) {
        if (deletionTimestamp !== undefined) this.remove(pod);
        return;
      }
      held = this.take(machine, pod);
    }
    held.pod = pod;
    if (isTerminated(pod) && deletionTimestamp === undefined) held.abandon();
    if (deletionTimestamp !== undefined) held.stop(deletionGracePeriodSeconds);
  }

  private take(machine: Machine, pod: Pod): LightPod {
    const { usage } = machine.shape;
    const { process } = this.options;
    const prng = process.prng.stream(`pod ${pod.metadata.uid}`);
    const known = pod.status?.podIP;
    if (known !== undefined) machine.addresses.keep(known);
    const address = known ?? (pod.spec.hostNetwork === true ? undefined : machine.addresses.take());
    const held = new LightPod(pod, {
      process,
      hostAddress: nodeAddress(machine.index),
      address,
      draw: (what) => prng.intInclusive(usage[what].min, usage[what].max),
      changed: () => this.write(held),
      stopped: () => this.remove(held.pod),
      tell: (type, reason, message) => this.events.tell(subjectOf(podRow, pod), type, reason, message),
    });
    machine.pods.set(pod.metadata.uid, held);
    if (pod.metadata.deletionTimestamp === undefined) {
      this.write(held);
      held.begin();
    }
    return held;
  }

  /** One write at a time a pod; what came meanwhile is in the next. */
  private write(held: LightPod): void {
    const { uid } = held.pod.metadata;
    if (this.writing.has(uid)) {
      this.writing.set(uid, true);
      return;
    }
    this.writing.set(uid, false);
    const body = bodyOf({ metadata: { uid }, status: held.status() });
    const contentType = "application/strategic-merge-patch+json";
    this.client.call(
      { method: "PATCH", path: `${pathTo(podRow, held.pod)}/status`, contentType, body },
      ({ status }) => {
        const again = this.writing.get(uid) === true;
        this.writing.delete(uid);
        const isLost = status === 0 || status === 429 || status >= 500;
        if (isLost) this.options.process.clock.after(retryMicros, () => this.write(held));
        else if (again) this.write(held);
      },
    );
  }

  private remove(pod: Pod): void {
    const { uid } = pod.metadata;
    const body = bodyOf({ apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } });
    this.client.call({ method: "DELETE", path: pathTo(podRow, pod), body }, ({ status }) => {
      const isLost = status === 0 || status === 429 || status >= 500;
      if (isLost) this.options.process.clock.after(retryMicros, () => this.remove(pod));
    });
  }

  private forget(pod: Pod): void {
    const machine = this.machines.get(pod.spec.nodeName ?? "");
    const held = machine?.pods.get(pod.metadata.uid);
    held?.abandon();
    machine?.pods.delete(pod.metadata.uid);
    if (pod.status?.podIP !== undefined) machine?.addresses.free(pod.status.podIP);
  }
}

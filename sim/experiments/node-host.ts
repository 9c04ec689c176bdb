/**
 * The machine under an agent of a scenario: it outlives the agent, can be switched off, and is what faults of a node are done
 * to. What is wrong with it stays wrong over a reboot, until it is taken back.
 *
 * Simplification: it comes up with empty disks. A real one still has its images, and shows its old containers as ended.
 */
import type { ClientOf } from "../../scenarios/schema.ts";
import type { CriAnswer, CriMethod, CriRequest, CriRequestOf } from "../../wire/cri.ts";
import { type FigureLie, parseFigureLie } from "../../wire/figure-lie.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { type Incarnations, machinePort } from "../cluster/machine-port.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { FaultyHost, FaultyOutsider } from "../faults/inject.ts";
import type { PlannedFault } from "../faults/plan.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";
import type { CallFault } from "../runtime/call-faults.ts";
import type { MachineOptions, MachineUsage } from "../runtime/machine.ts";
import { machineFigures } from "../runtime/figure-lies.ts";
import { podKey } from "../runtime/records.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import type { Fact } from "../checkers/judge.ts";

type Resource = NonNullable<PlannedFault["resource"]>;
type Share = NonNullable<PlannedFault["rate"]>;

export interface NodeHostParts {
  readonly kernel: Kernel;
  readonly row: ClientOf<"agent">;
  /** Of the scenario's agents, from 0. */
  readonly index: number;
  /** The agent has called its runtime. */
  readonly called: () => void;
  readonly tell: (fact: Fact) => void;
}

export class NodeHost implements FaultyHost, FaultyOutsider, Incarnations {
  /** As the agent reaches the runtime. */
  readonly port: CriRuntime;
  /** How far the machine's wall clock is off: it goes on over a reboot. */
  clockOffMicros = 0;
  private readonly parts: NodeHostParts;
  private readonly machine: Partial<MachineOptions> & Sizes;
  private readonly pressed: { readonly resource: Resource; readonly share: Share }[] = [];
  /** By `wrong` and `late`, and the method. */
  private readonly wrong = new Map<string, CallFault>();
  /** Methods that are not answered now; `*`: none is. */
  private readonly hung = new Set<string>();
  /** Calls that came meanwhile. A runtime that goes on carries them out. */
  private readonly held = new Map<object, { readonly method: string; readonly resume: () => void }>();
  /** By whom they are about; of several at a time, the last. */
  private readonly told = new Map<object, { readonly about: string; readonly lie: FigureLie }>();
  private isUnready = false;
  private boots = 0;
  private current: { readonly process: Process; readonly made: SimulatedRuntime; readonly usual: MachineUsage };

  constructor(parts: NodeHostParts) {
    this.parts = parts;
    const { cpu, memory, disk } = parts.row.capacity;
    const bytes = amountOf(disk, 0);
    this.machine = {
      milliCpu: amountOf(cpu, -3),
      memoryBytes: amountOf(memory, 0),
      pids: 32_768,
      rootDisk: { bytes, inodes: Math.max(1, Math.floor(bytes / 16_384)) },
    };
    this.current = this.boot();
    const port = machinePort(this);
    this.port = { ...port, start: (request, done, fail) => this.call(port, request, done, fail) };
  }

  get isAlive(): boolean {
    return this.current.process.alive;
  }

  get made(): SimulatedRuntime {
    return this.current.made;
  }

  get process(): Process {
    return this.current.process;
  }

  /** Containers of a pod that run, by the pod's uid and the container's name. */
  running(uid: string, container: string): readonly string[] {
    if (!this.isAlive) return [];
    return [...this.current.made.state.containers.values()].flatMap(({ id, state, sandbox, config }) =>
      state === "CONTAINER_RUNNING" && sandbox.config.metadata?.uid === uid && config.metadata?.name === container
        ? [id]
        : [],
    );
  }

  powerOff(): void {
    this.current.process.crash();
  }

  /** Comes up again, if it is down. */
  powerOn(): void {
    if (this.isAlive) return;
    this.boots += 1;
    this.current = this.boot();
    this.parts.kernel.stepClock(this.current.process, Math.trunc(this.clockOffMicros / 1000));
    this.parts.kernel.enter(this.current.process, () => {
      this.applyPressure();
      this.applyWrong();
      for (const { about } of this.told.values()) this.applyFigures(about);
    });
  }

  press(resource: Resource, share: Share): Cancel {
    const entry = { resource, share };
    this.pressed.push(entry);
    this.applyPressure();
    return () => {
      this.pressed.splice(this.pressed.indexOf(entry), 1);
      this.applyPressure();
    };
  }

  misreport(figures: string, pod = machineFigures): Cancel {
    const lie = parseFigureLie(figures);
    if ("error" in lie) throw new Error(lie.error); // the scenario's rules see to that
    const key = {};
    this.told.set(key, { about: pod, lie });
    this.applyFigures(pod);
    return () => {
      this.told.delete(key);
      this.applyFigures(pod);
    };
  }

  misbehave(how: PlannedFault["how"], method?: string): void {
    const key = `wrong ${method ?? "*"}`;
    const calls = method === undefined ? {} : { method: method as CriMethod };
    this.isUnready = how === "unready" || (how !== undefined && this.isUnready);
    if (how === "hung") this.hung.add(method ?? "*");
    else if (how === undefined && this.hung.delete(method ?? "*")) this.resume();
    if (how === "failing") this.wrong.set(key, { ...calls, error: { text: "the runtime is told to fail" } });
    else this.wrong.delete(key);
    this.applyWrong();
  }

  delay(byMicros: Micros, method?: string): void {
    const key = `late ${method ?? "*"}`;
    const calls = method === undefined ? {} : { method: method as CriMethod };
    if (byMicros === 0) this.wrong.delete(key);
    else this.wrong.set(key, { ...calls, delayMicros: byMicros });
    this.applyWrong();
  }

  /** It has no keys: the scenario's rules see to that. */
  rotate(): void {}

  private boot(): NodeHost["current"] {
    const { kernel, row, index } = this.parts;
    const process = kernel.process(`${row.name}-machine`);
    const machine = { ...this.machine, boot: this.boots };
    // What nobody describes serves until it is told to stop.
    const images = [
      { name: "*", ownPrograms: true, runs: { stopMicros: [10_000, 900_000] as const, ports: "any" as const } },
    ];
    const made = kernel.enter(
      process,
      () => new SimulatedRuntime(process, { machine, images, podNetwork: `10.${64 + (index >> 8)}.${index & 255}` }),
    );
    return { process, made, usual: made.state.machine.usage };
  }

  private call(
    port: CriRuntime,
    request: CriRequest,
    done: (answer: CriAnswer) => void,
    fail: Parameters<CriRuntime["start"]>[2],
  ): Cancel {
    const { method, message } = request;
    const heard = method === "StartContainer" || method === "StopContainer";
    const answered = (answer: CriAnswer): void => {
      const { containerId = "" } = message as CriRequestOf<"StartContainer" | "StopContainer">;
      if (answer.ok && method === "StartContainer") this.started(containerId);
      if (answer.ok && method === "StopContainer") this.stopped(containerId);
      done(answer);
    };
    const begin = (): Cancel => port.start(request, heard ? answered : done, fail);
    const cancel = this.isHung(request.method) ? this.hold(request.method, begin) : begin();
    this.parts.called();
    return cancel;
  }

  private isHung(method: string): boolean {
    return this.hung.has("*") || this.hung.has(method);
  }

  private hold(method: string, begin: () => Cancel): Cancel {
    const key = {};
    let cancel: Cancel = () => this.held.delete(key);
    const resume = (): void => {
      this.held.delete(key);
      cancel = begin();
    };
    this.held.set(key, { method, resume });
    return () => cancel();
  }

  private resume(): void {
    const { kernel } = this.parts;
    for (const { method, resume } of [...this.held.values()])
      if (this.isAlive && !this.isHung(method)) kernel.enter(this.current.process, resume);
  }

  private started(id: string): void {
    const container = this.current.made.state.containers.get(id);
    const { uid = "" } = container?.sandbox.config.metadata ?? {};
    const name = container?.config.metadata?.name ?? "";
    if (container === undefined) return;
    const others = this.running(uid, name).filter((other) => other !== id);
    const pod = podKey(container.sandbox.config);
    this.parts.tell({ kind: "container-started", client: this.parts.row.name, pod, uid, container: name, others });
  }

  private stopped(id: string): void {
    const container = this.current.made.state.containers.get(id);
    if (container === undefined) return;
    const { uid = "" } = container.sandbox.config.metadata ?? {};
    const [pod, name] = [podKey(container.sandbox.config), container.config.metadata?.name ?? ""];
    this.parts.tell({ kind: "container-stopped", client: this.parts.row.name, pod, uid, container: name });
  }

  private applyPressure(): void {
    if (!this.isAlive) return;
    const { made, usual } = this.current;
    const amounts: Partial<Record<(typeof fields)[number][1], MachineUsage["memory"]>> = {};
    for (const [resource, field] of fields) {
      const shares = this.pressed.filter((one) => one.resource === resource);
      const whole = wholeOf(this.machine, resource);
      const amount = shares.reduce((most, { share }) => Math.max(most, partOf(whole, share)), 0);
      amounts[field] = shares.length === 0 ? usual[field] : { is: "constant", amount };
    }
    made.useMachine(amounts as MachineUsage);
  }

  private applyFigures(about: string): void {
    if (!this.isAlive) return;
    const last = [...this.told.values()].findLast((each) => each.about === about);
    this.current.made.lie(about, last?.lie);
  }

  private applyWrong(): void {
    if (!this.isAlive) return;
    const { made } = this.current;
    made.failNothing();
    for (const fault of this.wrong.values()) made.fail(fault);
    made.setConditions({ runtimeReady: !this.isUnready });
  }
}

type Sizes = Pick<MachineOptions, "milliCpu" | "memoryBytes" | "pids" | "rootDisk">;
const fields = [
  ["memory", "memory"],
  ["disk", "rootBytes"],
  ["inodes", "rootInodes"],
  ["pids", "pids"],
] as const satisfies readonly (readonly [Resource, keyof MachineUsage])[];

function wholeOf({ memoryBytes, pids, rootDisk }: Sizes, resource: Resource): number {
  if (resource === "memory") return memoryBytes;
  if (resource === "pids") return pids;
  return resource === "disk" ? rootDisk.bytes : rootDisk.inodes;
}

const partOf = (whole: number, { numerator, denominator }: Share): number =>
  Number((BigInt(whole) * BigInt(numerator)) / BigInt(denominator));

function amountOf(text: string, scale: number): number {
  const quantity = parseQuantity(text);
  return "error" in quantity ? 0 : Number(quantityAt(quantity, scale));
}

/** The data of a runtime, and what all its parts do with it. */
import type { CriAnswer, CriEventSink, CriMethod } from "../../wire/cri.ts";
import type { Cancel, Micros, Prng, Process } from "../kernel/types.ts";
import { CallFaults } from "./call-faults.ts";
import { FigureLies } from "./figure-lies.ts";
import { type ImageRow, ImageStore } from "./images.ts";
import { Machine, type MachineOptions, machineDefaults, type MachineUsage } from "./machine.ts";
import { type ContainerRecord, type ContainerUse, podKey, type SandboxRecord, type UsageSetting } from "./records.ts";
import { WakeHeap } from "./wake-heap.ts";

/** How long calls take: a fixed time, or one drawn from [min, max]. Microseconds. */
export type CallTimes = Readonly<Partial<Record<CriMethod, Micros | readonly [Micros, Micros]>>>;

/** About what a busy runtime of the recorded node took. */
const timesDefault: CallTimes = {
  RunPodSandbox: [200_000, 400_000],
  StopPodSandbox: [100_000, 300_000],
  RemovePodSandbox: [20_000, 100_000],
  CreateContainer: [20_000, 100_000],
  StartContainer: [90_000, 250_000],
  RemoveContainer: [10_000, 60_000],
  ExecSync: [60_000, 160_000],
};

export interface RuntimeOptions {
  readonly machine?: Partial<MachineOptions>;
  readonly usage?: MachineUsage;
  readonly images?: readonly ImageRow[];
  /** Whether images that no row names can be pulled too. Default true. */
  readonly openRegistry?: boolean;
  readonly times?: CallTimes;
  /** Addresses of pods: the first two or three bytes of IPv4, `10.88`. */
  readonly podNetwork?: string;
  /** How often statistics are taken: a look in between is shown the last ones again. 0: always anew. */
  readonly figuresMicros?: Micros;
  /** Between which two times a service of this pod (by uid) runs that would run for ever; undefined: it does. Default: all do. */
  readonly lifeOf?: (uid: string) => readonly [Micros, Micros] | undefined;
  readonly runtimeHandlers?: readonly string[];
  /** Addresses of streams for exec, attach and port-forward; without it those calls are unimplemented. */
  readonly streams?: StreamAddresses;
}

export interface StreamAddresses {
  url(kind: "exec" | "attach" | "portforward", request: object): string;
}

export class RuntimeState {
  readonly process: Process;
  readonly options: RuntimeOptions;
  readonly machine: Machine;
  readonly images: ImageStore;
  readonly faults = new CallFaults();
  readonly lies = new FigureLies();
  /** What calls draw from. */
  prng: Prng;
  /** Calls are kept, so that they can be carried out again: what one draws does not depend on which others there are. */
  isKept = false;
  /** What was is being made again: containers do what they did, and nobody minds how full a disk is or hears of it. */
  isRestoring = false;
  readonly sandboxes = new Map<string, SandboxRecord>();
  readonly containers = new Map<string, ContainerRecord>();
  /** Pulls under way, by what was asked for: a second caller waits for the first one's. */
  readonly pulls = new Map<string, ((answer: CriAnswer) => void)[]>();
  /** By `namespace/name`; `namespace/name/container` for one of them. */
  readonly settings = new Map<string, UsageSetting>();
  /** Containers with a usage model on a disk. */
  readonly modelled = new Set<ContainerRecord>();
  /** Names of sandboxes and containers, which two may not have at once, with the id that has each. */
  readonly reserved = new Map<string, string>();
  /** Lists as they were answered last, while nothing has changed. */
  readonly lists = new Map<string, { readonly generation: number; readonly items: readonly object[] }>();
  /** Who has left off asking, to be told when something changes. */
  private readonly sleepers = new Set<() => void>();
  readonly sinks = new Set<{ readonly reader: Process; readonly sink: CriEventSink }>();
  /** What all containers use, while nothing moves that; undefined: it has to be measured. */
  totalUse: ContainerUse | undefined;
  conditions = { runtimeReady: true, networkReady: true };
  /** Grows with every change that a list could show. */
  generation = 1;
  /** As the agent has said; undefined: as the options have it. */
  podNetwork: string | undefined;
  addressCount = 1;
  /** Of sandboxes that are ready: nobody else is given one of them. */
  readonly addresses = new Set<string>();
  private readonly heap = new WakeHeap<ContainerRecord>();
  private readonly onDue: (container: ContainerRecord) => void;
  private timer: { readonly at: Micros; readonly cancel: Cancel } | undefined;

  /** `onDue` is called for a container whose time has come. */
  constructor(process: Process, options: RuntimeOptions, onDue: (container: ContainerRecord) => void) {
    this.process = process;
    this.options = options;
    this.onDue = onDue;
    this.prng = process.prng.stream("runtime");
    this.machine = new Machine({ name: process.name, ...machineDefaults, ...options.machine }, () => this.nowMicros);
    this.machine.usage = { ...this.machine.usage, ...options.usage };
    this.images = new ImageStore(options.images ?? [], options.openRegistry ?? true);
  }

  get nowMicros(): Micros {
    return this.process.clock.nowMicros();
  }

  /** Nanoseconds since 1970, as messages have it: a double, so exact to the microsecond only. */
  unixNanos(micros: Micros): number {
    return (this.process.clock.epochUnixMillis * 1000 + micros) * 1000;
  }

  /** After what a call of this method takes. */
  later(method: CriMethod, work: () => void): void {
    const micros = this.draw(this.options.times?.[method] ?? timesDefault[method] ?? 0);
    if (micros === 0) work();
    else this.process.clock.after(micros, work);
  }

  /** A time, or one drawn from between two. */
  draw(time: Micros | readonly [Micros, Micros], prng: Prng = this.prng): Micros {
    return typeof time === "number" ? time : prng.intInclusive(time[0], time[1]);
  }

  /** What a container draws from while it runs. */
  prngOf(container: ContainerRecord): Prng {
    return this.isKept ? (container.prng ??= this.process.prng.stream(container.id)) : this.prng;
  }

  /** A new identifier of 64 hexadecimal digits. */
  newId(): string {
    // Joined, and not added up: a sum of strings is kept as its pieces, and identifiers are kept for long.
    const words: string[] = [];
    for (let word = 0; word < 8; word++) words.push(this.prng.uint32().toString(16).padStart(8, "0"));
    return words.join("");
  }

  /** Something that lists show has changed. */
  changed(record: SandboxRecord | ContainerRecord): void {
    this.generation++;
    record.listed = undefined;
    this.totalUse = undefined;
    this.wake();
  }

  /** The processes of a container have done something, or something is said of them: what it uses is measured again. */
  moved(container: ContainerRecord): void {
    container.use = undefined;
    this.totalUse = undefined;
  }

  /** See `CriRuntime.quiet`. */
  quiet(woken: () => void): Cancel | undefined {
    const { times = {} } = this.options;
    if (this.faults.isAny || polled.some((method) => times[method] !== undefined)) return undefined;
    this.sleepers.add(woken);
    return () => void this.sleepers.delete(woken);
  }

  /** Something is other than it was, or may be answered otherwise. */
  wake(): void {
    if (this.sleepers.size === 0) return;
    const woken = [...this.sleepers];
    this.sleepers.clear();
    for (const tell of woken) tell();
  }

  /** When a container is looked at next; Infinity: only when something happens to it. */
  schedule(container: ContainerRecord, atMicros: Micros): void {
    this.heap.set(container, atMicros === Infinity ? Infinity : Math.max(this.nowMicros, atMicros));
    this.arm();
  }

  /** What is said of its usage, as it is now. */
  applySetting(container: ContainerRecord): void {
    const pod = podKey(container.sandbox.config);
    this.moved(container);
    container.usage = this.settings.get(`${pod}/${container.config.metadata?.name}`) ?? {};
    if ([container.usage, this.settings.get(pod)].some(usesDisk)) this.modelled.add(container);
    else this.modelled.delete(container);
  }

  private arm(): void {
    const next = this.heap.nextMicros;
    if (this.timer !== undefined && this.timer.at <= next) return;
    this.timer?.cancel();
    this.timer = undefined;
    if (next === Infinity) return;
    const cancel = this.process.clock.after(Math.max(0, next - this.nowMicros), () => {
      this.timer = undefined;
      const now = this.nowMicros;
      for (let due = this.heap.takeDue(now); due !== undefined; due = this.heap.takeDue(now)) {
        this.onDue(due);
        // One that wants to go on at this very instant has its turn after the others, in an event of its own.
        if (due.wakeMicros <= now || this.process.isTurnOver) break;
      }
      this.arm();
    });
    this.timer = { at: next, cancel };
  }
}

/** What agents ask again and again. */
const polled = ["Status", "ListPodSandbox", "ListContainers"] as const;

const usesDisk = (setting: UsageSetting | undefined): boolean =>
  setting?.layerBytes !== undefined ||
  setting?.layerInodes !== undefined ||
  setting?.volumeBytes !== undefined ||
  setting?.volumeInodes !== undefined;

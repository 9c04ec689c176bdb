/** The half of an agent that answers for its node: status and lease, evictions, images, and what it tells of usage. */
import type { EvictionRules } from "../../../wire/eviction-thresholds.ts";
import type { MachineInfoResponse, MachineReadingResponse, StatusResponse } from "../../../wire/cri-messages.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { formatTime } from "../../../wire/time.ts";
import { callRuntime, type CriRuntime } from "../../cri/cri-port.ts";
import type { Micros } from "../../kernel/types.ts";
import type { AgentBugs } from "../../planted/agent-bugs.ts";
import { evictionLawWith } from "../planted/eviction-bugs.ts";
import { imageLawWith } from "../planted/image-bugs.ts";
import { leaseWith, nodeContextWith } from "../planted/node-bugs.ts";
import { EvictionManager, type EvictionWatcher } from "../eviction/eviction-manager.ts";
import { withAllocatable } from "../eviction/threshold-list.ts";
import { ImageCollector } from "../images/image-collector.ts";
import type { ActivePod, AgentContext, NodeSide, Rejection } from "../ports.ts";
import { type NodeReading, type PodReading, StatsReader } from "../stats/stats-reader.ts";
import { readingTime, summaryOf } from "../stats/summary.ts";
import { groupParts } from "../stats/system-groups.ts";
import { CriCaller } from "../runtime/cri-caller.ts";
import { turns } from "../piece.ts";
import { run } from "../task.ts";
import { VolumeParts } from "../stats/volume-parts.ts";
import { allocatableOf, capacityOf, overReserved } from "./capacity.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { type MachineFacts, NodeKeeper } from "./node-keeper.ts";
import { refusedMachine, type StartGuards } from "./start-guards.ts";

export interface AgentNodeOptions {
  readonly context: AgentContext;
  readonly runtime: CriRuntime;
  /** Of `options.eviction`, which were parsed when the options were checked. */
  readonly rules: EvictionRules;
  readonly bugs: AgentBugs;
  /** As the node's status names it, such as `v1.33.3`. */
  readonly agentVersion: string;
  /** A negative greatest grace of soft evictions leaves pods their own, as document 3 has it. */
  readonly negativeGraceIsPods: boolean;
  /** Which machines are refused. */
  readonly start: StartGuards;
  /** How often usage of volumes is computed for the summary; negative: never. Default: whenever it is asked for. */
  readonly volumeStatsMicros?: Micros;
  readonly watcher?: EvictionWatcher;
  /** The agent cannot go on as it is configured: a line that says why. */
  readonly fail: (why: string) => void;
}

const machineRetryMicros: Micros = 1_000_000;

export class AgentNode implements NodeSide {
  private readonly given: AgentNodeOptions;
  private readonly stats: StatsReader;
  private readonly volumes: VolumeParts;
  private readonly images: ImageCollector;
  private readonly eviction: EvictionManager;
  private readonly keeper: NodeKeeper;
  private machine: MachineFacts | undefined;
  private startedSeconds = 0;

  constructor(given: AgentNodeOptions) {
    this.given = given;
    const { runtime, bugs } = given;
    const context = nodeContextWith(bugs, given.context);
    const { process, options, events, garbage, pods, dialect } = context;
    const timeoutMicros = options.pods.runtimeRequestTimeoutMicros;
    this.volumes = new VolumeParts(given.volumeStatsMicros ?? 0);
    this.stats = new StatsReader({ process, runtime, timeoutMicros, pods, places: options.pods });
    this.images = new ImageCollector(options.images, imageLawWith(bugs), {
      process,
      runtime,
      timeoutMicros,
      events,
      garbage,
      imagefs: (done) => this.stats.node((figures) => done(figures?.imagefs)),
    });
    this.eviction = new EvictionManager(
      {
        rules: withAllocatable(given.rules, {
          enforcesPods: options.node.enforceNodeAllocatable.includes("pods"),
          ignoresEviction: options.node.allocatableIgnoresEviction,
        }),
        monitoringMicros: options.evictionMonitoringMicros,
        localStorageCapacityIsolation: options.localStorageCapacityIsolation,
        negativeGraceIsPods: given.negativeGraceIsPods,
        memoryTaintKey: `node.${dialect.labelSuffix}/memory-pressure`,
        law: evictionLawWith(bugs),
      },
      {
        process,
        usage: this.stats,
        pods,
        events,
        garbage,
        images: this.images,
        ...(given.watcher === undefined ? {} : { watcher: given.watcher }),
      },
    );
    this.keeper = new NodeKeeper({
      context,
      agentVersion: given.agentVersion,
      machine: () => this.machine as MachineFacts,
      images: () => this.images.cached(),
      pressures: () => this.eviction.conditions(),
    });
  }

  start(): void {
    const { clock } = this.given.context.process;
    this.startedSeconds = Math.floor((clock.epochUnixMillis * 1000 + clock.nowMicros()) / 1_000_000);
    this.readMachine();
  }

  node(): JsonObject | undefined {
    return this.keeper.node();
  }

  admit(pod: ActivePod): Rejection | undefined {
    return this.eviction.admit(pod);
  }

  /** The summary of usage; undefined: machine or runtime did not answer. */
  summary(onlyCpuAndMemory: boolean, done: (summary: JsonObject | undefined) => void): void {
    const { nodeName } = this.given.context.options;
    const options = { nodeName, startedSeconds: this.startedSeconds, onlyCpuAndMemory };
    this.stats.readNode((node) => {
      this.stats.readPods((pods) => {
        if (node === undefined || pods === undefined) {
          done(undefined);
          return;
        }
        this.readGroups(node, (groups) => {
          const whole = summaryOf(node, pods.values(), options, groups);
          const nowMicros = this.given.context.process.clock.nowMicros();
          done(onlyCpuAndMemory ? whole : this.volumes.of(whole, nowMicros));
        });
      });
    });
  }

  private readGroups({ machine }: NodeReading, done: (parts: readonly JsonObject[]) => void): void {
    const { context, runtime } = this.given;
    const { systemGroups = [], pods } = context.options;
    if (systemGroups.length === 0) {
      done([]);
      return;
    }
    const cri = new CriCaller(context.process, runtime, pods.runtimeRequestTimeoutMicros);
    run(
      groupParts(cri, systemGroups, { time: readingTime(machine), startTime: formatTime(this.startedSeconds) }),
      done,
    );
  }

  /** What was read of the machine and of the pods, for metrics. */
  readings(done: (node: NodeReading | undefined, pods: readonly PodReading[]) => void): void {
    this.stats.readNode((node) => this.stats.readPods((pods) => done(node, [...(pods?.values() ?? [])])));
  }

  /** Without its machine an agent knows nothing of its node: it asks until it hears. */
  private readMachine(): void {
    const { context, runtime } = this.given;
    const { process, options } = context;
    const timeoutMicros = options.pods.runtimeRequestTimeoutMicros;
    turns(process, "start", "the machine's figures", machineRetryMicros, (next) =>
      callRuntime(process, runtime, "MachineInfo", {}, timeoutMicros, (info) => {
        callRuntime(process, runtime, "MachineReading", {}, timeoutMicros, (reading) => {
          callRuntime(process, runtime, "Status", {}, timeoutMicros, (status) => {
            if (!info.ok || !reading.ok) next(machineRetryMicros);
            else this.begin(info.message, reading.message, status.ok ? status.message : undefined);
          });
        });
      }),
    );
  }

  private begin(
    machine: MachineInfoResponse,
    { rootFilesystem }: MachineReadingResponse,
    runtimeStatus: StatusResponse | undefined,
  ): void {
    const { context, rules, bugs, fail } = this.given;
    const { options, dialect, heartbeat, events, process } = context;
    const { milliCpu, memoryBytes } = machine;
    const refused = refusedMachine(machine, this.given.start);
    if (refused !== undefined) {
      fail(refused);
      return;
    }
    const capacity = capacityOf({ milliCpu, memoryBytes, ephemeralBytes: rootFilesystem?.capacityBytes }, options.node);
    const reserved = [options.node.systemReserved, options.node.serviceReserved];
    const hard = options.node.allocatableIgnoresEviction ? [] : rules.thresholds;
    const over = overReserved(capacity, reserved, hard);
    if (over !== undefined) {
      fail(`invalid Node Allocatable configuration. ${over}`);
      return;
    }
    this.machine = { machine, capacity, allocatable: allocatableOf(capacity, reserved, hard), runtimeStatus };
    events.node("Normal", "Starting", "Starting kubelet.");
    this.keeper.start();
    this.images.start();
    this.eviction.start();
    if (heartbeat === undefined) return;
    const { nodeName, node } = options;
    const durationSeconds = node.leaseDurationSeconds;
    // Renewed four times in its duration.
    const lease = leaseWith(bugs, {
      options: { nodeName, dialect, durationSeconds, renewMicros: durationSeconds * 250_000 },
      ports: { process, api: heartbeat, node: () => this.keeper.registeredNode() },
    });
    new LeaseKeeper(lease.options, lease.ports).start();
  }
}

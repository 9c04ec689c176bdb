/**
 * A whole node of a cluster: a machine that runs containers, and the agent on it, each a member of its own. The agent's
 * crash leaves the containers running; the machine's takes all of them along, and what is on its disks.
 */
import { type EvictionRules, parseEvictionSettings } from "../../wire/eviction-thresholds.ts";
import type { Dialect } from "../../wire/dialect.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { Agent } from "../agent/agent.ts";
import { defaultAgentOptions } from "../agent/agent-options.ts";
import { AgentNode } from "../agent/node/node-side.ts";
import type { AgentOptions } from "../agent/ports.ts";
import { agentVersion } from "../configuration/agent/flag-values.ts";
import { invariant } from "../kernel/invariant.ts";
import type { Process } from "../kernel/types.ts";
import type { AgentBugs } from "../planted/agent-bugs.ts";
import { AgentListener, RequestCounts } from "../agent/listener/agent-listener.ts";
import { configzOf } from "../configuration/agent/configz.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import type { RuntimeState, StreamAddresses } from "../runtime/runtime-state.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { settingsForEviction } from "./eviction-flags.ts";
import type { ImageRow } from "../runtime/images.ts";
import type { Cluster } from "./cluster.ts";
import { machinePort } from "./machine-port.ts";
import type { Member } from "./member.ts";
import type { NodeShape } from "./node-shape.ts";
import { nodeAddress, podNetwork } from "./node-addresses.ts";

export interface SimulatedNodeOptions {
  readonly cluster: Cluster;
  readonly dialect: Dialect;
  readonly shape: NodeShape;
  /** Of the nodes of the cluster, from 0; it decides about addresses. */
  readonly index: number;
  readonly bugs: AgentBugs;
  /** Of the agent; what is left out is as it is on a node that nobody has configured. */
  readonly agent?: AgentSettings;
  readonly streams?: NodeStreams;
}

/** Where commands and ports of a machine's containers are streamed. Default: they are not. */
export type NodeStreams = (machine: () => RuntimeState) => StreamAddresses;

/** What all agents of a cluster may be told alike. */
export type AgentSettings = Partial<
  Pick<AgentOptions, "client" | "eviction" | "evictionMonitoringMicros" | "images"> & {
    readonly node: Partial<AgentOptions["node"]>;
    readonly pods: Partial<AgentOptions["pods"]>;
  }
>;

export class SimulatedNode {
  readonly name: string;
  readonly address: string;
  readonly machine: Member<SimulatedRuntime>;
  readonly agent: Member<Agent>;
  private readonly options: SimulatedNodeOptions;
  private side: AgentNode | undefined;
  private boots = 0;
  private listener: { readonly of: Agent; readonly serving: AgentListener } | undefined;

  /** Joins the machine as `NAME machine` and the agent as `NAME`, and starts both. */
  constructor(options: SimulatedNodeOptions) {
    const { cluster, shape, index } = options;
    this.options = options;
    this.name = shape.name;
    this.address = nodeAddress(index);
    this.machine = cluster.add(`${shape.name} machine`, (process) => this.makeMachine(process, options));
    this.agent = cluster.add(shape.name, (process) => this.makeAgent(process, options));
  }

  /** What its agent serves, to everybody; undefined while it is down. Callers enter its process. */
  serving(): ApiHandler | undefined {
    const { agent, side, machine } = this;
    if (!agent.isAlive || !machine.isAlive || side === undefined) return undefined;
    if (this.listener?.of !== agent.made) {
      const serving = new AgentListener({
        kind: "serving",
        agent: agent.made.view,
        node: side,
        configz: () => this.configz(),
        hasDebugging: true,
        idleMillisMax: 4 * 3600 * 1000,
        syncFrequencyMicros: this.agentOptions(this.options).pods.syncFrequencyMicros,
        counts: new RequestCounts(),
      });
      this.listener = { of: agent.made, serving };
    }
    return this.listener.serving;
  }

  /** As an agent has it that is told the same by flags. */
  private configz(): JsonObject {
    const { dialect, agent: { eviction = defaultEviction } = {} } = this.options;
    const settings = settingsForEviction(eviction, dialect);
    return configzOf(settings);
  }

  /** The power goes: agent and containers end at once, and nothing of them is left. */
  crash(): void {
    this.agent.crash();
    this.machine.crash();
  }

  /** What of it is down comes up again. */
  start(): void {
    if (!this.machine.isAlive) this.machine.start();
    if (!this.agent.isAlive) this.agent.start();
  }

  private makeMachine(process: Process, { shape, index, streams }: SimulatedNodeOptions): SimulatedRuntime {
    const { capacity, usage } = shape;
    const { start, stop, run } = usage;
    // What nobody has described serves whatever it is asked for, and whatever is run in it works.
    const row: ImageRow = {
      name: "*",
      ownPrograms: true,
      runs: { stopMicros: [stop.min, stop.max], says: "{container} started from {image}", ports: "any" },
    };
    return new SimulatedRuntime(process, {
      machine: {
        boot: this.boots++,
        milliCpu: amountOf(capacity, "cpu", -3),
        memoryBytes: amountOf(capacity, "memory", 0),
        rootDisk: { bytes: amountOf(capacity, "ephemeral-storage", 0), inodes: inodesOf(capacity) },
      },
      images: [row],
      times: { ...quickCalls, RunPodSandbox: [start.min, start.max] },
      podNetwork: podNetwork(index),
      figuresMicros: figuresMicros,
      ...(streams === undefined ? {} : { streams: streams(() => this.machine.made.state) }),
      lifeOf: (uid) => (this.endsByItself(uid) ? [run.min, run.max] : undefined),
    });
  }

  private makeAgent(process: Process, options: SimulatedNodeOptions): Agent {
    const { cluster, dialect, shape, bugs, agent: settings = {} } = options;
    const identity = { commonName: `system:node:${shape.name}`, organizations: nodeGroups };
    const runtime = machinePort(this.machine);
    const agentOptions = this.agentOptions(options);
    const rules = settings.eviction === undefined ? defaultRules : rulesOf(settings.eviction);
    const agent = new Agent(
      {
        process,
        dialect,
        server: cluster.api(process),
        headers,
        identity,
        runtime,
        nodeSide: (context) => {
          this.side = new AgentNode({
            context,
            runtime,
            rules,
            bugs,
            agentVersion,
            negativeGraceIsPods: dialect.name === "svc",
            start: { failSwapOn: false, failCgroupV1: false, protectKernelDefaults: false },
            fail: (why) => {
              throw new Error(`node ${shape.name}: ${why}`);
            },
          });
          return this.side;
        },
      },
      agentOptions,
    );
    agent.start();
    return agent;
  }

  private agentOptions({ shape, agent = {} }: SimulatedNodeOptions): AgentOptions {
    const standard = defaultAgentOptions(shape.name);
    const { node, pods, ...rest } = agent;
    return {
      ...standard,
      eviction: defaultEviction,
      ...rest,
      node: {
        ...standard.node,
        labels: shape.labels,
        taints: shape.taints,
        nodeIps: [this.address],
        podsMax: amountOf(shape.capacity, "pods", 0) || standard.node.podsMax,
        extendedResources: extendedOf(shape.capacity),
        ...node,
      },
      pods: { ...standard.pods, clusterDns, ...pods },
    };
  }

  private endsByItself(uid: string): boolean {
    const policy = this.agent.made.pods.held.get(uid)?.pod.spec.restartPolicy;
    return policy === "Never" || policy === "OnFailure";
  }
}

const headers = { accept: "application/json", "user-agent": `nodeagent/${agentVersion}` };
const nodeGroups = ["system:nodes", "system:masters"];
const clusterDns = ["10.96.0.10"];

/** Figures are taken as often as they are on real nodes: who looks more often sees the last ones again. */
const figuresMicros = 10_000_000;

const quickCalls = { CreateContainer: 0, StartContainer: 0, PullImage: 0 };

/** As agents have them that are configured by a file which says nothing of them. Source: document 3, --eviction-hard. */
const defaultEviction = {
  evictionHard: {
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
  },
};

const defaultRules = rulesOf(defaultEviction);

function rulesOf(settings: NonNullable<AgentSettings["eviction"]>): EvictionRules {
  const rules = parseEvictionSettings(settings);
  invariant(!("error" in rules), "thresholds were checked before", settings);
  return rules as EvictionRules;
}

const standardResources = new Set(["cpu", "memory", "ephemeral-storage", "pods"]);

function extendedOf(capacity: NodeShape["capacity"]): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(capacity).filter(([resource]) => !standardResources.has(resource)));
}

function amountOf(capacity: NodeShape["capacity"], resource: string, scale: number): number {
  const quantity = parseQuantity(capacity[resource] ?? "0");
  return "error" in quantity ? 0 : Number(quantityAt(quantity, scale));
}

/** A file system of this size has one for every sixteen kilobytes. */
const inodesOf = (capacity: NodeShape["capacity"]): number =>
  Math.floor(amountOf(capacity, "ephemeral-storage", 0) / 16_384);

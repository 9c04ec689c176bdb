/** What makes a cluster of servers live: controllers, a scheduler, and nodes whose agents run pods on their machines. */
import type { Dialect } from "../../wire/dialect.ts";
import { startClusterControllers } from "../control/cluster-controllers.ts";
import { startScheduler } from "../control/scheduler/start.ts";
import { type AgentBugs, agentBugsOn } from "../planted/agent-bugs.ts";
import type { Cluster } from "./cluster.ts";
import type { ApiHandler } from "../contract/http-message.ts";
import type { NodeShape } from "./node-shape.ts";
import { type AgentSettings, type NodeStreams, SimulatedNode } from "./simulated-node.ts";

export interface LivingOptions {
  readonly dialect: Dialect;
  readonly nodes: readonly NodeShape[];
  /** Clients keep to the rates that the real ones have by default: 20 requests a second each controller, 50 the scheduler. */
  readonly hasRealRates: boolean;
  /** What the agents do wrong. Default: nothing. */
  readonly agentBugs?: AgentBugs;
  /** What all agents are told, beside what is said of each node. */
  readonly agent?: AgentSettings;
  readonly streams?: NodeStreams;
}

export interface LivingNodes {
  /** By name, in the order of the shapes. */
  readonly nodes: ReadonlyMap<string, SimulatedNode>;
  /** What the agent at this address or of this name serves; undefined when no node of the cluster is there. */
  at(host: string, port: string): ApiHandler | undefined;
}

const controllerRate = { intervalMicros: 50_000, burst: 30 };
const schedulerRate = { intervalMicros: 20_000, burst: 100 };
const agentPort = "10250";

/** Adds the members `controllers` and `scheduler`, and for each node its agent, under its name, and `NAME machine`. */
export function addLiving(cluster: Cluster, options: LivingOptions): LivingNodes {
  const { dialect, hasRealRates, agent, streams } = options;
  const rated = <Rate>(rate: Rate): { readonly rate?: Rate } => (hasRealRates ? { rate } : {});
  cluster.add("controllers", (process) =>
    startClusterControllers({ process, server: cluster.api(process), dialect, ...rated(controllerRate) }),
  );
  cluster.add("scheduler", (process) =>
    startScheduler({ process, server: cluster.api(process), dialect, ...rated(schedulerRate) }),
  );
  const bugs = options.agentBugs ?? agentBugsOn();
  const nodes = new Map<string, SimulatedNode>();
  const byAddress = new Map<string, SimulatedNode>();
  for (const [index, shape] of options.nodes.entries()) {
    const node = new SimulatedNode({
      cluster,
      dialect,
      shape,
      index,
      bugs,
      ...(agent === undefined ? {} : { agent }),
      ...(streams === undefined ? {} : { streams }),
    });
    nodes.set(node.name, node);
    byAddress.set(node.address, node);
  }
  return {
    nodes,
    at(host, port) {
      const node = byAddress.get(host) ?? nodes.get(host);
      const serving = port === agentPort ? node?.serving() : undefined;
      if (node === undefined || serving === undefined) return undefined;
      const { process } = node.agent;
      return {
        start: (request, responder) => cluster.kernel.enter(process, () => serving.start(request, responder)),
      };
    },
  };
}

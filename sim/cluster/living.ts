/** What makes a cluster of servers live: controllers, a scheduler, and nodes on which pods start, log and end. */
import type { Dialect } from "../../wire/dialect.ts";
import { startClusterControllers } from "../control/cluster-controllers.ts";
import { startScheduler } from "../control/scheduler/start.ts";
import { type LightNodeShape, LightNodes } from "../nodes/light-nodes.ts";
import type { NodeAnswer } from "../nodes/log-answer.ts";
import type { Cluster } from "./cluster.ts";

export interface LivingOptions {
  readonly dialect: Dialect;
  readonly nodes: readonly LightNodeShape[];
  /** Clients keep to the rates that the real ones have by default: 20 requests a second each controller, 50 the scheduler. */
  readonly hasRealRates: boolean;
}

export interface LivingNodes {
  /** What the agent at this address answers; undefined when no node of the cluster is there. */
  answer(host: string, port: string, target: string): NodeAnswer | undefined;
}

const controllerRate = { intervalMicros: 50_000, burst: 30 };
const schedulerRate = { intervalMicros: 20_000, burst: 100 };

/** Adds the members `controllers`, `scheduler` and `nodes`. */
export function addLiving(cluster: Cluster, { dialect, nodes, hasRealRates }: LivingOptions): LivingNodes {
  const rated = <Rate>(rate: Rate): { readonly rate?: Rate } => (hasRealRates ? { rate } : {});
  cluster.add("controllers", (process) =>
    startClusterControllers({ process, server: cluster.api(process), dialect, ...rated(controllerRate) }),
  );
  cluster.add("scheduler", (process) =>
    startScheduler({ process, server: cluster.api(process), dialect, ...rated(schedulerRate) }),
  );
  const member = cluster.add("nodes", (process) => {
    const made = new LightNodes({ process, server: cluster.api(process), dialect, nodes });
    made.start();
    return made;
  });
  return { answer: (host, port, target) => (member.isAlive ? member.made.answer(host, port, target) : undefined) };
}

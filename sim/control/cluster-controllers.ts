/**
 * The controllers that make workloads and nodes live: what a cluster has in a controller manager beside its servers.
 * What an API server needs for its own promises is in `controllers.ts`.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { ControlClient } from "../client/control-client.ts";
import { QueueCounts } from "../client/queue-counts.ts";
import { Reflectors } from "../client/reflectors.ts";
import type { ApiHandler } from "../contract/http-message.ts";
import type { Process } from "../kernel/types.ts";
import { NodeLifecycle, type NodeLifecycleOptions } from "./nodes/node-lifecycle.ts";
import { PodCollector, type PodCollectorOptions } from "./nodes/pod-collector.ts";
import { TaintEviction } from "./nodes/taint-eviction.ts";
import { EndpointSliceController } from "./services/endpoint-slices.ts";
import { EndpointsController } from "./services/endpoints.ts";
import { ServiceAccountController } from "./service-accounts.ts";
import type { ControlParts } from "./shared/controller.ts";
import { Informers } from "./shared/informers.ts";
import { type Rate, throttled } from "./shared/throttle.ts";
import { CronJobController } from "./workloads/cron-jobs.ts";
import { DaemonSetController } from "./workloads/daemon-sets.ts";
import { DeploymentController } from "./workloads/deployments.ts";
import { JobController } from "./workloads/jobs.ts";
import { StatefulSetController } from "./workloads/stateful-sets.ts";
import { ReplicaSetController, replicaSets, replicationControllers } from "./workloads/replica-sets.ts";

export interface ClusterControllersOptions {
  /** Whose crash ends the controllers. */
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  /** Of each controller's requests. Default: as fast as the server answers. */
  readonly rate?: Rate;
  readonly nodeLifecycle?: NodeLifecycleOptions;
  readonly podCollector?: PodCollectorOptions;
  /** Where work queues count what they do. Default: nobody looks. */
  readonly queueCounts?: QueueCounts;
}

type Make = (parts: ControlParts, options: ClusterControllersOptions) => { start(): void };

/** By the account of each. */
const controllers: Readonly<Record<string, Make>> = {
  "deployment-controller": (parts) => new DeploymentController(parts),
  "replicaset-controller": (parts) => new ReplicaSetController(parts, replicaSets),
  "replication-controller": (parts) => new ReplicaSetController(parts, replicationControllers),
  "statefulset-controller": (parts) => new StatefulSetController(parts),
  "daemon-set-controller": (parts) => new DaemonSetController(parts),
  "job-controller": (parts) => new JobController(parts),
  "cronjob-controller": (parts) => new CronJobController(parts),
  "endpoint-controller": (parts) => new EndpointsController(parts),
  "endpointslice-controller": (parts) => new EndpointSliceController(parts),
  "service-account-controller": (parts) => new ServiceAccountController(parts),
  "node-controller": (parts, { nodeLifecycle }) => new NodeLifecycle(parts, nodeLifecycle),
  "taint-eviction-controller": (parts) => new TaintEviction(parts),
  "pod-garbage-collector": (parts, { podCollector }) => new PodCollector(parts, podCollector),
};

/** Starts them all, as soon as the present event is over. */
export function startClusterControllers(options: ClusterControllersOptions): void {
  const { process, server, dialect, rate, queueCounts = new QueueCounts() } = options;
  const clientOf = (account: string): ControlClient => {
    const limited = rate === undefined ? server : throttled(process, server, rate);
    return new ControlClient({ process, server: limited, dialect, account, queueCounts });
  };
  process.clock.after(0, () => {
    const reflectors = new Reflectors(clientOf("shared-informers"));
    const informers = new Informers(reflectors);
    for (const [account, make] of Object.entries(controllers)) {
      make({ client: clientOf(account), informers, dialect }, options).start();
    }
    reflectors.start();
  });
}

/**
 * The port through which the suite joins nodes of known usage to a target. An agent that speaks to the target's API runs
 * each of them; what the node's memory, disks and process table hold is what the suite says. Nothing here is code.
 *
 * What the agent does is judged by what the target's API shows. Only its readings are told by the port, for they say
 * when it looked and what it was shown: both are the host's own doing and no claim of the agent.
 */
import type { EvictionSettings, EvictionSignal } from "./eviction-thresholds.ts";

export interface NodeHost {
  /**
   * Resolves when the target has the node and the node is ready. Rejects when the target refuses it. Containers there that
   * say no command take no notice of TERM: they live as long as the grace that they are left. Others run theirs in a POSIX shell.
   */
  join(node: NodeDeclaration): Promise<JoinedNode>;
  /** Removes every node that is still joined. */
  close(): Promise<void>;
}

export interface NodeDeclaration {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Registered with the node: the suite taints its nodes so that nothing else lands there. */
  readonly taints: readonly NodeTaint[];
  readonly capacity: NodeCapacity;
  readonly eviction: EvictionSettings;
  /** How often the agent looks at usage. Milliseconds, > 0. */
  readonly monitoringMillis: number;
  /** How often figures are taken: a look in between is shown the last ones again. Milliseconds, > 0. */
  readonly figuresMillis: number;
  readonly usage: NodeUsage;
}

export interface NodeTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

export interface FilesystemCapacity {
  readonly bytes: number;
  readonly inodes: number;
}

export interface NodeCapacity {
  /** Thousandths of a CPU. */
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly pids: number;
  readonly nodefs: FilesystemCapacity;
  /** Undefined: images lie on nodefs. */
  readonly imagefs: FilesystemCapacity | undefined;
}

/** What is used beside the pods, of each capacity. Undefined: it cannot be read, and its signals have no observation. */
export interface NodeUsage {
  readonly memoryBytes: number | undefined;
  readonly pids: number | undefined;
  readonly nodefs: FilesystemCapacity | undefined;
  readonly imagefs: FilesystemCapacity | undefined;
}

/** What one pod uses while its containers run; a pod that has ended uses nothing. */
export interface PodUsage {
  /** Working set. */
  readonly memoryBytes: number;
  readonly pids: number;
  /** Writable layers of its containers; they lie with the images. */
  readonly layers: FilesystemCapacity;
  /** Logs and local volumes; they lie on nodefs. */
  readonly volumes: FilesystemCapacity;
}

/** Of one signal, as the agent was shown it. */
export interface SignalReading {
  readonly available: number;
  readonly capacity: number;
}

/** One look of the agent at the usage of its node, for evictions. */
export interface UsageReading {
  /** On the suite's clock. */
  readonly atMillis: number;
  /** When the figures were taken: they are older than the look, and may be the same as at the look before. */
  readonly takenMillis: number;
  readonly signals: Readonly<Partial<Record<EvictionSignal, SignalReading>>>;
  /** By `namespace/name`. A pod that is missing had no figures. */
  readonly pods: Readonly<Record<string, PodUsage>>;
}

export interface JoinedNode {
  readonly name: string;
  /** From now on; what is left out stays as it is. */
  use(usage: Partial<NodeUsage>): void;
  /** By `namespace/name`; undefined: the pod has no figures. A pod of which nothing was said uses nothing. */
  usePod(pod: string, usage: PodUsage | undefined): void;
  /** Every look so far, the oldest first. */
  readings(): readonly UsageReading[];
  /**
   * Its agent is killed, and another begins once `away` has come to its end. Containers go on, and so does what the first
   * one kept on the node's disk. Resolves when the other has begun.
   */
  restart(away: () => Promise<void>): Promise<void>;
  /** Stops the agent and removes the node. */
  leave(): Promise<void>;
}

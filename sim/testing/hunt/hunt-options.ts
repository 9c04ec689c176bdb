/** What `hunt` is given. */
import type { Cluster, ClusterOptions, WriteRecord } from "../cluster.ts";
import type { Duration } from "../duration.ts";
import type { ProgramMain } from "../program.ts";
import type { FaultPattern } from "./acts.ts";
import type { Counted } from "./end-state.ts";

export interface HuntOptions {
  /** Called at the start of each life of the program. It runs until it ends or dies; an exception ends it, and it is started again a second later. */
  readonly program: ProgramMain;
  /** What happens in the cluster meanwhile: who writes what, and when (`cluster.create`, `cluster.direct`, `cluster.advance`). Nothing goes wrong for it. */
  readonly workload: (cluster: Cluster) => Promise<unknown>;
  /** Throws when the cluster is not as it should be, once the program has had its quiet time. */
  readonly check?: (cluster: Cluster) => unknown;
  /** Throws at a write that must never be. Called for each, in order, once the run is over. */
  readonly eachWrite?: (write: WriteRecord) => void;
  /**
   * Whether a run must leave the same objects as the run without faults: but for uids, versions, times, generated names,
   * Events and Leases. A function says what counts of an object, `undefined` for nothing. Default true.
   */
  readonly sameEnd?: boolean | Counted;
  /** How long the program is left alone before it is judged. Default 5 minutes. */
  readonly quiet?: Duration;
  /** So many, from 1 on, or these. Default 100. Which fault a seed stands for follows from what the program does without faults. */
  readonly seeds?: number | readonly number[];
  /** What may go wrong. Default: all. */
  readonly faults?: readonly FaultPattern[];
  readonly cluster?: Omit<ClusterOptions, "seed" | "virtualGlobals">;
}

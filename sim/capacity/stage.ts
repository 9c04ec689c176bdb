/** What the verbs of a workload work on. */
import type { Experiment } from "../../scenarios/capacity/schema.ts";
import type { Dialect } from "../../wire/dialect.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { type DriverContext, driverContext } from "./driver-client.ts";
import type { DrainWitness } from "./drain-witness.ts";
import type { Fleet } from "./fleet.ts";

/** One request of a recorded log. */
export interface ReplayedRequest {
  /** From the start of the log. */
  readonly atMicros: Micros;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: JsonObject | undefined;
  readonly contentType: string;
  /** Who asked. */
  readonly user: string;
  /** A watch, and how long it lasted. */
  readonly watchMicros?: Micros;
}

export interface Stage {
  readonly cluster: Cluster;
  readonly experiment: Experiment;
  readonly dialect: Dialect;
  readonly fleet: Fleet;
  readonly drains: DrainWitness;
  /** By the names that the experiment has for them. */
  readonly logs: ReadonlyMap<string, readonly ReplayedRequest[]>;
}

/** A member of the cluster that does something for a row of the workload: `work` is called once, in its process. */
export function addDriver(
  stage: Stage,
  name: string,
  who: string,
  work: (context: DriverContext) => void,
  isAdmin = false,
): void {
  stage.cluster.add(name, (process: Process) => {
    const context = driverContext(stage.cluster, process, who, stage.dialect, isAdmin);
    process.clock.after(0, () => work(context));
  });
}

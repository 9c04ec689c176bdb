/** The package's entry point `touchstone/testing`: a whole API server in a test, on virtual time. */
export type { ServerBugName } from "../planted/server-bugs.ts";
export type { TraceRecord } from "../kernel/trace.ts";
export type { OpenRequest } from "./breakable-transport.ts";
export type { Cluster, ClusterOptions, WriteFilter, WriteRecord } from "./cluster.ts";
export type { Duration } from "./duration.ts";
export type { FaultPattern } from "./hunt/acts.ts";
export { hunt, HuntFailure, type Finding, type HuntReport } from "./hunt/hunt.ts";
export type { HuntOptions } from "./hunt/hunt-options.ts";
export { OutsideWorkError } from "./outside-work.ts";
export type { Machine, Program } from "./program.ts";
export { assertRepeatable } from "./repeatable.ts";
export { RequestBudgetError } from "./request-budget.ts";
export { createCluster } from "./test-cluster.ts";

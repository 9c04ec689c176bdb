/** The nodes of an experiment, as its workload sees them. */

export interface FleetNode {
  readonly name: string;
  /** Empty: it has none. */
  readonly zone: string;
}

export interface Fleet {
  readonly nodes: readonly FleetNode[];
  /** The agent's process dies; what it ran goes on. */
  crashAgent(node: FleetNode): void;
  startAgent(node: FleetNode): void;
  /** The whole node dies. */
  fail(node: FleetNode): void;
  recover(node: FleetNode): void;
}

/** What the experiment asks for cannot be done: the user's mistake, found only while it is set up. */
export class ExperimentError extends Error {
  override readonly name = "ExperimentError";
  /** Dotted, of the field that asks for it. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(problem);
    this.path = path;
  }
}

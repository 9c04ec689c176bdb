/** Who sees a run to draw it. It must touch nothing: a run that is seen has the same history as one that is not. */
import type { SimulationFailure } from "../../reports/schema/simulation-report.ts";
import type { Bench, Checker } from "../checkers/judge.ts";
import type { PlannedFault } from "../faults/plan.ts";
import type { Micros } from "../kernel/types.ts";

export interface Watcher {
  /** What the judge sees, too. */
  checker(bench: Bench): Checker;
  message(from: string, to: string, sentMicros: Micros, arrivesMicros: Micros | undefined, about: string): void;
  fault(fault: PlannedFault, isOver: boolean, atMicros: Micros): void;
  failed(failure: SimulationFailure): void;
}

/** A pod's priority is its class's. Source: the published admission of priorities. */
import type { Violation } from "../client/findings.ts";
import { isJsonObject, type JsonObject } from "../client/types.ts";

export interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: "PreemptLowerPriority" | "Never";
}

/** What a pod asks for. `priority`: a number of its own, which is refused where it is not the class's. */
export interface AskedPriority {
  readonly className: string | undefined;
  readonly priority: number | undefined;
}

/** The class that a pod has; undefined where it names one that is not there. Who names none has 0, where no class is the default. */
const classOf = (classes: readonly PriorityClass[], className: string | undefined): PriorityClass | undefined =>
  className === undefined
    ? { name: "", value: 0, preemptionPolicy: "PreemptLowerPriority" }
    : classes.find(({ name }) => name === className);

/** `pod`: of an answer that lets it in. */
export function judgePriority(
  classes: readonly PriorityClass[],
  { className, priority }: AskedPriority,
  status: number,
  pod: JsonObject | undefined,
): Violation | undefined {
  const own = classOf(classes, className);
  if (own === undefined || (priority !== undefined && priority !== own.value)) {
    const why = own === undefined ? "no such class" : `the class says ${own.value}`;
    return status === 403 ? undefined : { expected: `403: ${why}`, actual: String(status) };
  }
  const spec = isJsonObject(pod?.["spec"]) ? pod["spec"] : {};
  const expected = `priority ${own.value}, ${own.preemptionPolicy}`;
  const actual = `priority ${String(spec["priority"])}, ${String(spec["preemptionPolicy"])}`;
  return status < 300 && expected === actual ? undefined : { expected, actual: `${status}, ${actual}` };
}

/** What follows from a node's conditions: its taints. Source: the published node lifecycle controller; the facts, 1.7. */
import type { Dialect } from "../../../wire/dialect.ts";
import type { Condition, NodeObject, Taint } from "../shared/stored.ts";

export interface TaintNames {
  readonly notReady: string;
  readonly unreachable: string;
  readonly unschedulable: string;
  readonly memoryPressure: string;
  readonly diskPressure: string;
  readonly pidPressure: string;
  readonly networkUnavailable: string;
  readonly outOfService: string;
}

export function taintNames({ labelSuffix }: Dialect): TaintNames {
  const of = (word: string): string => `node.${labelSuffix}/${word}`;
  return {
    notReady: of("not-ready"),
    unreachable: of("unreachable"),
    unschedulable: of("unschedulable"),
    memoryPressure: of("memory-pressure"),
    diskPressure: of("disk-pressure"),
    pidPressure: of("pid-pressure"),
    networkUnavailable: of("network-unavailable"),
    outOfService: of("out-of-service"),
  };
}

export function nodeCondition({ status }: NodeObject, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Keys of the taints against scheduling that a node is to have. */
export function schedulingTaintsOf(node: NodeObject, names: TaintNames): readonly string[] {
  const is = (type: string, status: string): boolean => nodeCondition(node, type)?.status === status;
  const rows: readonly (readonly [boolean, string])[] = [
    [is("Ready", "False"), names.notReady],
    [is("Ready", "Unknown"), names.unreachable],
    [is("MemoryPressure", "True"), names.memoryPressure],
    [is("DiskPressure", "True"), names.diskPressure],
    [is("NetworkUnavailable", "True"), names.networkUnavailable],
    [is("PIDPressure", "True"), names.pidPressure],
    [node.spec?.unschedulable === true, names.unschedulable],
  ];
  return rows.filter(([holds]) => holds).map(([, key]) => key);
}

export const taintsOf = ({ spec }: NodeObject): readonly Taint[] => spec?.taints ?? [];

export const isTaint =
  (key: string, effect: string) =>
  (taint: Taint): boolean =>
    taint.key === key && taint.effect === effect;

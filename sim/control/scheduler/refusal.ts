/** Why a pod may not run on a node. */
export type Plugin =
  | "NodeUnschedulable"
  | "TaintToleration"
  | "NodeAffinity"
  | "NodePorts"
  | "NodeResourcesFit"
  | "PodTopologySpread"
  | "InterPodAffinity";

export interface Refusal {
  readonly plugin: Plugin;
  readonly reasons: readonly string[];
  /** The departure of other pods from the node would change it. */
  readonly isResolvable: boolean;
}

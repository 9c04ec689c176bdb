/** Which pods a node takes, told beforehand. Source: the fact sheet of the 1.33 agent, admission. */

export interface AskingPod {
  readonly name: string;
  readonly containers: readonly Requests[];
  readonly inits: readonly (Requests & { readonly isSidecar: boolean })[];
  /** Of the node's own addresses; an empty address is all of them. */
  readonly ports: readonly HostPort[];
  readonly selector: Readonly<Record<string, string>>;
  /** One of them has to match. Undefined: there is no such rule. */
  readonly terms: readonly (readonly Expression[])[] | undefined;
  /** Keys of taints. */
  readonly tolerates: readonly string[];
  /** It ends at once, and gives back what it had. */
  readonly isBrief: boolean;
}

interface Requests {
  readonly milliCpu: number;
  readonly memoryMi: number;
}

export interface HostPort {
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
  readonly address: string;
}

export interface Expression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values: readonly string[];
}

export interface TakingNode {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly {
    readonly key: string;
    readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  }[];
  readonly allocatable: Requests;
}

/** What a refusal is told for, and the requirement that it is of. */
export const refusalRows = {
  OutOfcpu: "agent-admission.resources",
  OutOfmemory: "agent-admission.resources",
  NodeAffinity: "agent-admission.affinity",
  NodePorts: "agent-admission.ports",
  TaintToleration: "agent-admission.taints",
} as const;

export type RefusalReason = keyof typeof refusalRows;

/** Every reason that there is to refuse it; none: it has to be taken. `others`: pods that were taken and have not ended. */
export function refusalsOf(node: TakingNode, pod: AskingPod, others: readonly AskingPod[]): readonly RefusalReason[] {
  const lacks = (what: keyof Requests): boolean => {
    const own = requestOf(pod, what);
    const used = others.reduce((sum, other) => sum + requestOf(other, what), 0);
    return own > 0 && own + used > node.allocatable[what];
  };
  const reasons: readonly (readonly [RefusalReason, boolean])[] = [
    ["OutOfcpu", lacks("milliCpu")],
    ["OutOfmemory", lacks("memoryMi")],
    ["NodeAffinity", !matches(node, pod)],
    ["NodePorts", pod.ports.some((port) => others.some((other) => other.ports.some((taken) => areOne(port, taken))))],
    ["TaintToleration", node.taints.some(({ key, effect }) => effect === "NoExecute" && !pod.tolerates.includes(key))],
  ];
  return reasons.flatMap(([reason, holds]) => (holds ? [reason] : []));
}

/** What it needs when it runs, or at its most when it begins: sidecars stay, and other init containers come one by one. */
function requestOf({ containers, inits }: AskingPod, what: keyof Requests): number {
  let beside = 0;
  let most = 0;
  for (const { isSidecar, ...own } of inits) {
    if (isSidecar) beside += own[what];
    most = Math.max(most, isSidecar ? beside : beside + own[what]);
  }
  return Math.max(
    most,
    containers.reduce((sum, own) => sum + own[what], beside),
  );
}

function matches({ labels }: TakingNode, { selector, terms }: AskingPod): boolean {
  const isSelected = Object.entries(selector).every(([key, value]) => labels[key] === value);
  return (
    isSelected &&
    (terms === undefined || terms.some((term) => term.length > 0 && term.every((each) => holds(each, labels))))
  );
}

function holds({ key, operator, values }: Expression, labels: Readonly<Record<string, string>>): boolean {
  const value = labels[key];
  const [bound = ""] = values;
  const isIn = value !== undefined && values.includes(value);
  switch (operator) {
    case "In":
      return isIn;
    case "NotIn":
      return !isIn;
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(bound);
    case "Lt":
      return value !== undefined && Number(value) < Number(bound);
  }
}

const areOne = (one: HostPort, other: HostPort): boolean =>
  one.port === other.port &&
  one.protocol === other.protocol &&
  (one.address === other.address || one.address === "" || other.address === "");

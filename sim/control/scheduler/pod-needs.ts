/** What a pod asks of a node, read once. Source: the API reference of PodSpec; the published scheduler's resource rules. */
import type { Toleration } from "../../../wire/tolerations.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { Recent } from "../../objects/recent.ts";
import { controllerOf } from "../shared/informers.ts";
import { isSidecar } from "../shared/pods.ts";
import type { Container, Pod } from "../shared/stored.ts";
import { addTo, type Amounts, amountsOf, raiseTo } from "./amounts.ts";
import {
  type NodeTest,
  type PodChoice,
  podChoice,
  type PodTerms,
  podTerms,
  type PreferredNodes,
  preferredNodes,
  requiredNodes,
  withLabelKeys,
} from "./terms.ts";

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly isHard: boolean;
  readonly minDomains: number;
  readonly pods: PodChoice;
  /** Nodes that the pod's affinity excludes do not count. */
  readonly honorsAffinity: boolean;
  /** Nodes with taints that the pod does not tolerate do not count. */
  readonly honorsTaints: boolean;
}

export interface PodNeeds {
  readonly pod: Pod;
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly requests: Amounts;
  /** For scores: containers that ask for nothing count for a little. */
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  /** `protocol ip port`, of ports of the node. */
  readonly hostPorts: readonly HostPort[];
  readonly tolerations: readonly Toleration[];
  readonly requiredNodes: NodeTest | undefined;
  readonly preferredNodes: readonly PreferredNodes[];
  readonly affinity: PodTerms;
  readonly antiAffinity: PodTerms;
  readonly spread: readonly SpreadConstraint[];
  /** Uid of its controller: pods of one are spread where nothing else is said. */
  readonly controller: string | undefined;
  readonly images: readonly string[];
}

export interface HostPort {
  readonly protocol: string;
  readonly ip: string;
  readonly port: number;
}

const unstatedMilliCpu = 100;
const unstatedBytes = 200 * 1024 * 1024;

type Totals = Pick<PodNeeds, "requests" | "scoredCpu" | "scoredMemory">;

/** Pods of one template share one spec. */
const totals = new Recent<Pod["spec"], Totals>(4096);

function totalsOf(pod: Pod): Totals {
  const known = totals.get(pod.spec);
  if (known !== undefined) return known;
  const scored = requestsOf(pod, scoredAmounts);
  const made: Totals = {
    requests: requestsOf(pod, amountsOfContainer),
    scoredCpu: scored.get("cpu") ?? 0,
    scoredMemory: scored.get("memory") ?? 0,
  };
  if (Object.isFrozen(pod.spec)) totals.set(pod.spec, made);
  return made;
}

/** The same object each time: terms are remembered by the labels that they were compiled with. */
const noLabels: Readonly<Record<string, string>> = {};

export function podNeeds(pod: Pod): PodNeeds {
  const { spec, metadata } = pod;
  const { namespace = "", labels = noLabels } = metadata;
  const { requests, scoredCpu, scoredMemory } = totalsOf(pod);
  const { affinity } = spec;
  return {
    pod,
    uid: metadata.uid,
    namespace,
    name: metadata.name,
    labels,
    priority: spec.priority ?? 0,
    requests,
    scoredCpu,
    scoredMemory,
    hostPorts: hostPortsOf(pod),
    tolerations: spec.tolerations ?? [],
    requiredNodes: requiredNodes(spec.nodeSelector, affinity),
    preferredNodes: preferredNodes(affinity),
    affinity: podTerms("podAffinity", affinity, namespace, labels),
    antiAffinity: podTerms("podAntiAffinity", affinity, namespace, labels),
    spread: (spec.topologySpreadConstraints ?? []).map((constraint) => spreadConstraint(constraint, namespace, labels)),
    controller: controllerOf(pod)?.uid,
    images: spec.containers.flatMap(({ image }) => (image === undefined ? [] : [image])),
  };
}

/**
 * The sum of the containers and of sidecars, or what starting needs at its most where that is more; and the overhead.
 */
function requestsOf({ spec }: Pod, amounts: (container: Container) => Amounts): Map<string, number> {
  const total = new Map<string, number>();
  for (const container of spec.containers) addTo(total, amounts(container));
  const sidecars = new Map<string, number>();
  const starting = new Map<string, number>();
  for (const container of spec.initContainers ?? []) {
    const own = new Map(amounts(container));
    if (isSidecar(container)) {
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(starting, sidecars);
    } else {
      addTo(own, sidecars);
      raiseTo(starting, own);
    }
  }
  raiseTo(total, starting);
  addTo(total, amountsOf(spec.overhead));
  return total;
}

const amountsOfContainer = ({ resources }: Container): Amounts => amountsOf(resources?.requests);

function scoredAmounts({ resources }: Container): Amounts {
  const amounts = amountsOf(resources?.requests);
  if (!amounts.has("cpu")) amounts.set("cpu", unstatedMilliCpu);
  if (!amounts.has("memory")) amounts.set("memory", unstatedBytes);
  return amounts;
}

function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const containers = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP = "", protocol = "TCP" }) =>
      hostPort === 0 ? [] : [{ protocol, ip: hostIP === "" ? "0.0.0.0" : hostIP, port: hostPort }],
    ),
  );
}

/** Two that cannot be on one node. */
export function collide(left: HostPort, right: HostPort): boolean {
  const everywhere = "0.0.0.0";
  return (
    left.port === right.port &&
    left.protocol === right.protocol &&
    (left.ip === right.ip || left.ip === everywhere || right.ip === everywhere)
  );
}

function spreadConstraint(constraint: JsonObject, namespace: string, labels: PodNeeds["labels"]): SpreadConstraint {
  return {
    maxSkew: constraint["maxSkew"] as number,
    topologyKey: constraint["topologyKey"] as string,
    isHard: constraint["whenUnsatisfiable"] !== "ScheduleAnyway",
    minDomains: (constraint["minDomains"] ?? 1) as number,
    pods: podChoice([namespace], undefined, withLabelKeys(constraint, labels)),
    honorsAffinity: constraint["nodeAffinityPolicy"] !== "Ignore",
    honorsTaints: constraint["nodeTaintsPolicy"] === "Honor",
  };
}

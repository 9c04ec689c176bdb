/**
 * Which nodes a pod may run on, and why not: rules in the real scheduler's order, with its words.
 * Source: the published scheduler's default filter plugins.
 */
import { isTolerated } from "../../../wire/tolerations.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { NodeInfo } from "./node-info.ts";
import type { TermGroup } from "./pod-counts.ts";
import type { PodNeeds, SpreadConstraint } from "./pod-needs.ts";
import type { Plugin, Refusal } from "./refusal.ts";
import type { PodTerm } from "./terms.ts";

/** What is the same for all nodes while one pod is placed. */
export interface Question {
  readonly pod: PodNeeds;
  readonly view: ClusterView;
  /** Of the pod's images those that some node has, with how many do. */
  readonly images: readonly { readonly name: string; readonly nodeCount: number }[];
  /** Pods of one shape ask for the same of a node: more than 0. */
  readonly shape: number;
  readonly spread: readonly SpreadState[];
  /** Terms of pods that run which match this one. */
  readonly wishes: readonly TermGroup[];
  /** Domains that pods which run there keep this one away from. */
  readonly avoided: readonly Domains[];
  readonly near: readonly Domains[];
  readonly apart: readonly Domains[];
  /** No pod anywhere matches, but this one does: the first of its kind may go anywhere. */
  readonly isFirst: boolean;
  /** The rules that may refuse this pod a node. */
  readonly filters: readonly Filter[];
  /** Nothing but taints and room decides where it may run. */
  readonly isPlain: boolean;
}

/** Values of a label of nodes, with how many pods are there. */
export interface Domains {
  readonly topologyKey: string;
  readonly counts: ReadonlyMap<string, number>;
}

interface SpreadState extends Domains {
  readonly constraint: SpreadConstraint;
  /** Of the emptiest domain. */
  readonly least: number;
  readonly self: number;
}

export function questionOf(pod: PodNeeds, view: ClusterView): Question {
  const { counts } = view;
  const domainsOf = (term: PodTerm): Domains => ({
    topologyKey: term.topologyKey,
    counts: perDomain(view, term.topologyKey, counts.of(term.pods)),
  });
  const wishes = counts.groupsFor(pod);
  const avoided = wishes
    .filter(({ weight }) => weight === -Infinity)
    .map((group) => ({
      topologyKey: group.term.topologyKey,
      counts: perDomain(view, group.term.topologyKey, group.counts),
    }));
  const near = pod.affinity.required.map(domainsOf);
  const question = {
    pod,
    view,
    images: pod.images
      .map((name) => ({ name, nodeCount: view.nodesWith(name) }))
      .filter(({ nodeCount }) => nodeCount > 0),
    shape: view.shapeOf(pod),
    spread: spreadStates(pod, view),
    wishes,
    avoided,
    near,
    apart: pod.antiAffinity.required.map(domainsOf),
    isFirst:
      near.every((domains) => domains.counts.size === 0) &&
      pod.affinity.required.every((term) => counts.chooses(term.pods, pod)),
  };
  const asked = filters.filter(({ concerns }) => concerns === undefined || concerns(question));
  return { ...question, filters: asked, isPlain: asked.length === plainCount && !view.hasPromises };
}

/** From counts by node to counts by the value of a label. */
function perDomain(view: ClusterView, topologyKey: string, byNode: ReadonlyMap<string, number>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [name, count] of byNode) {
    const value = view.node(name)?.labels[topologyKey];
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return counts;
}

function spreadStates(pod: PodNeeds, view: ClusterView): readonly SpreadState[] {
  const hard = pod.spread.filter(({ isHard }) => isHard);
  if (hard.length === 0) return [];
  const hardKeys = hard.map(({ topologyKey }) => topologyKey);
  const nodes = view.nodes().filter(({ labels }) => hardKeys.every((key) => Object.hasOwn(labels, key)));
  const chosen = once(() => nodes.filter((info) => pod.requiredNodes?.(info) !== false));
  const tolerated = once(() => new Set(nodes.filter((info) => toleratesAll(info, pod))));
  return hard.map((constraint) => {
    const counted = constraint.honorsAffinity ? chosen() : nodes;
    const isCounted = (info: NodeInfo): boolean => !constraint.honorsTaints || tolerated().has(info);
    return spreadState(constraint, pod, view, counted.filter(isCounted));
  });
}

/** Nodes that have all labels by which the pod must be spread are asked at most once what they are to the pod. */
function once<Value>(ask: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => (known ??= { value: ask() }).value;
}

/** `nodes`: those that count. */
function spreadState(
  constraint: SpreadConstraint,
  pod: PodNeeds,
  view: ClusterView,
  nodes: readonly NodeInfo[],
): SpreadState {
  const { topologyKey, minDomains } = constraint;
  const byNode = view.counts.of(constraint.pods);
  const counts = new Map<string, number>();
  for (const { name, labels } of nodes) {
    const value = labels[topologyKey] as string;
    counts.set(value, (counts.get(value) ?? 0) + (byNode.get(name) ?? 0));
  }
  let least = counts.size < minDomains ? 0 : Infinity;
  for (const count of counts.values()) least = Math.min(least, count);
  return {
    constraint,
    topologyKey,
    counts,
    least: least === Infinity ? 0 : least,
    self: view.counts.chooses(constraint.pods, pod) ? 1 : 0,
  };
}

const toleratesAll = (info: NodeInfo, { tolerations }: PodNeeds): boolean =>
  info.hardTaints.every((taint) => isTolerated(taint, tolerations));

type Refuse = (question: Question, info: NodeInfo) => Refusal | undefined;

interface Filter {
  readonly refuse: Refuse;
  /** Whether the pod says anything that it is about. Default: always. */
  readonly concerns?: (question: Omit<Question, "filters" | "isPlain">) => boolean;
}

const refused = (plugin: Plugin, isResolvable: boolean, ...reasons: readonly string[]): Refusal => ({
  plugin,
  isResolvable,
  reasons,
});

const notSchedulable = refused("NodeUnschedulable", false, "node(s) were unschedulable");
const notChosen = refused("NodeAffinity", false, "node(s) didn't match Pod's node affinity/selector");
const noPorts = refused("NodePorts", true, "node(s) didn't have free ports for the requested pod ports");
const noSpread = refused("PodTopologySpread", true, "node(s) didn't match pod topology spread constraints");
const noDomain = refused(
  "PodTopologySpread",
  false,
  "node(s) didn't match pod topology spread constraints (missing required label)",
);
const notNear = refused("InterPodAffinity", false, "node(s) didn't match pod affinity rules");
const notApart = refused("InterPodAffinity", true, "node(s) didn't match pod anti-affinity rules");
const notWanted = refused("InterPodAffinity", true, "node(s) didn't satisfy existing pods anti-affinity rules");

const filters: readonly Filter[] = [
  {
    refuse({ pod, view }, info) {
      if (!info.isUnschedulable) return undefined;
      const taint = { key: view.unschedulableTaint, effect: "NoSchedule" };
      return isTolerated(taint, pod.tolerations) ? undefined : notSchedulable;
    },
  },
  {
    refuse({ pod }, info) {
      for (const taint of info.hardTaints) {
        if (isTolerated(taint, pod.tolerations)) continue;
        return refused("TaintToleration", false, `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`);
      }
      return undefined;
    },
  },
  {
    concerns: ({ pod }) => pod.requiredNodes !== undefined,
    refuse: ({ pod }, info) => (pod.requiredNodes?.(info) === false ? notChosen : undefined),
  },
  {
    concerns: ({ pod }) => pod.hostPorts.length > 0,
    refuse: ({ pod }, info) => (info.hasPortsFor(pod) ? undefined : noPorts),
  },
  { refuse: fits },
  {
    concerns: ({ spread }) => spread.length > 0,
    refuse({ spread }, info) {
      for (const { topologyKey, counts, least, self, constraint } of spread) {
        const value = info.labels[topologyKey];
        if (value === undefined) return noDomain;
        if ((counts.get(value) ?? 0) + self - least > constraint.maxSkew) return noSpread;
      }
      return undefined;
    },
  },
  {
    concerns: ({ near, apart, avoided }) => near.length + apart.length + avoided.length > 0,
    refuse({ near, apart, avoided, isFirst }, info) {
      const holds = ({ topologyKey, counts }: Domains): boolean =>
        (counts.get(info.labels[topologyKey] ?? "") ?? 0) > 0;
      const has = ({ topologyKey }: Domains): boolean => Object.hasOwn(info.labels, topologyKey);
      if (near.length > 0 && !(near.every(has) && (isFirst || near.every(holds)))) return notNear;
      const isIn = (domains: Domains): boolean => has(domains) && holds(domains);
      if (apart.some(isIn)) return notApart;
      return avoided.some(isIn) ? notWanted : undefined;
    },
  },
];

/** Of the rules those that concern every pod: about taints and room. */
const plainCount = filters.filter(({ concerns }) => concerns === undefined).length;

/** Why the pod may not run there: the first rule that refuses it. */
export function refusalOf(question: Question, info: NodeInfo): Refusal | undefined {
  if (question.isPlain && info.surelyTakes(question.shape)) return undefined;
  for (const { refuse } of question.filters) {
    const refusal = refuse(question, info);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Whoever is promised the place and is at least as important counts as being there. */
function fits(question: Question, info: NodeInfo): Refusal | undefined {
  const { pod, view, shape } = question;
  const promised = view.promisedOn(info.name);
  if (promised !== undefined) return fitsBeside(pod, info, promised);
  const known = info.refusalOf(shape);
  if (known !== undefined) return known ?? undefined;
  const refusal = fitsBeside(pod, info, nobody);
  info.keepRefusal(shape, refusal);
  return refusal;
}

const nobody: readonly PodNeeds[] = [];

function fitsBeside(pod: PodNeeds, info: NodeInfo, others: Iterable<PodNeeds>): Refusal | undefined {
  let promised: Map<string, number> | undefined;
  let guests = 0;
  for (const other of others) {
    if (other.uid === pod.uid || other.priority < pod.priority) continue;
    guests++;
    promised ??= new Map();
    for (const [resource, amount] of other.requests) promised.set(resource, (promised.get(resource) ?? 0) + amount);
  }
  let reasons: string[] | undefined;
  let isResolvable = true;
  const podsMax = info.allocatable.get("pods") ?? 0;
  if (info.pods.size + guests + 1 > podsMax) reasons = ["Too many pods"];
  for (const [resource, amount] of pod.requests) {
    if (amount === 0) continue;
    const all = info.allocatable.get(resource) ?? 0;
    if (amount <= all - (info.requested.get(resource) ?? 0) - (promised?.get(resource) ?? 0)) continue;
    (reasons ??= []).push(`Insufficient ${resource}`);
    if (amount > all) isResolvable = false;
  }
  return reasons === undefined ? undefined : { plugin: "NodeResourcesFit", reasons, isResolvable };
}

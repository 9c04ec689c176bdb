/**
 * Which of the nodes that a pod may run on suits it best: each rule gives up to 100 points, times its weight.
 * Source: the published scheduler's default score plugins and weights.
 *
 * Simplification: pods for which nothing is said of spreading are spread over nodes and zones among those of the same
 * controller; the real scheduler also looks at services.
 */
import { isTolerated } from "../../../wire/tolerations.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { Question } from "./filters.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodTerms } from "./terms.ts";

const most = 100;

/** One number a node, in the order of the nodes. */
export function scoresOf(question: Question, nodes: readonly NodeInfo[], topology: Topology): readonly number[] {
  const totals = nodes.map((info) => room(question, info) + imageLocality(question, info));
  const add = (weight: number, raw: readonly number[] | undefined): void => {
    if (raw === undefined) return;
    for (const [at, points] of raw.entries()) totals[at] = (totals[at] as number) + weight * points;
  };
  add(3, fewerIsBetter(softTaints(question, nodes)));
  add(2, moreIsBetter(preferredByNode(question, nodes)));
  add(2, fewerIsBetter(crowding(question, nodes, topology)));
  add(2, betweenLeastAndMost(nearness(question, nodes)));
  return totals;
}

export interface Topology {
  readonly zone: string;
}

/** How much of the node would be left, and how evenly. */
function room(question: Question, info: NodeInfo): number {
  const known = info.pointsOf(question.shape);
  if (known >= 0) return known;
  const points = leastAllocated(question, info) + balanced(question, info);
  info.keepPoints(question.shape, points);
  return points;
}

function leastAllocated({ pod }: Question, info: NodeInfo): number {
  const free = (used: number, all: number): number =>
    all === 0 || used > all ? 0 : Math.floor(((all - used) * most) / all);
  const cpu = free(info.scoredCpu + pod.scoredCpu, info.allocatable.get("cpu") ?? 0);
  const memory = free(info.scoredMemory + pod.scoredMemory, info.allocatable.get("memory") ?? 0);
  return Math.floor((cpu + memory) / 2);
}

/** Half the distance between both shares is their standard deviation. */
function balanced({ pod }: Question, info: NodeInfo): number {
  const share = (resource: string): number => {
    const all = info.allocatable.get(resource) ?? 0;
    const used = (info.requested.get(resource) ?? 0) + (pod.requests.get(resource) ?? 0);
    return all === 0 ? 1 : Math.min(1, used / all);
  };
  return Math.floor((1 - Math.abs(share("cpu") - share("memory")) / 2) * most);
}

const megabyte = 1024 * 1024;

/** Images that are there already, less for those that few nodes have. */
function imageLocality({ pod, view, images }: Question, info: NodeInfo): number {
  if (images.length === 0) return 0;
  const { length } = view.nodes();
  let bytes = 0;
  for (const { name, nodeCount } of images) {
    bytes += Math.floor((info.imageBytes(name) * nodeCount) / Math.max(1, length));
  }
  const [low, high] = [23 * megabyte, 1000 * megabyte * pod.images.length];
  const counted = Math.min(Math.max(bytes, low), high);
  return Math.floor((most * (counted - low)) / (high - low));
}

function softTaints({ pod }: Question, nodes: readonly NodeInfo[]): readonly number[] | undefined {
  if (nodes.every((info) => !info.hasSoftTaints)) return undefined;
  const { tolerations } = pod;
  return nodes.map((info) => info.softTaints.filter((taint) => !isTolerated(taint, tolerations)).length);
}

function preferredByNode({ pod }: Question, nodes: readonly NodeInfo[]): readonly number[] | undefined {
  if (pod.preferredNodes.length === 0) return undefined;
  return nodes.map((info) =>
    pod.preferredNodes.reduce((sum, { weight, matches }) => sum + (matches(info) ? weight : 0), 0),
  );
}

/** How full the domains of the node are of pods that are to be spread; small domains weigh more. */
function crowding(
  { pod, view }: Question,
  nodes: readonly NodeInfo[],
  { zone }: Topology,
): readonly number[] | undefined {
  const soft = pod.spread.filter(({ isHard }) => !isHard);
  if (soft.length > 0) {
    const parts = soft.map(({ topologyKey, pods, maxSkew }) => ({
      topologyKey,
      counts: view.counts.of(pods),
      weight: 1,
      base: maxSkew - 1,
    }));
    return sumsByDomain(parts, view, nodes);
  }
  const { controller } = pod;
  if (controller === undefined || pod.spread.length > 0) return undefined;
  const byZone = new Map<string, number>();
  for (const info of view.nodes()) {
    const count = info.ofController.get(controller);
    const value = info.labels[zone];
    if (count !== undefined && value !== undefined) byZone.set(value, (byZone.get(value) ?? 0) + count);
  }
  return nodes.map((info) => 2 * (info.ofController.get(controller) ?? 0) + (byZone.get(info.labels[zone] ?? "") ?? 0));
}

function nearness({ pod, view, wishes }: Question, nodes: readonly NodeInfo[]): readonly number[] | undefined {
  const own = (sign: 1 | -1, { preferred }: PodTerms): readonly Weighed[] =>
    preferred.map(({ weight, term }) => ({
      topologyKey: term.topologyKey,
      counts: view.counts.of(term.pods),
      weight: sign * weight,
    }));
  const parts = [
    ...own(1, pod.affinity),
    ...own(-1, pod.antiAffinity),
    ...wishes
      .filter(({ weight }) => weight !== -Infinity)
      .map(({ weight, term, counts }) => ({ topologyKey: term.topologyKey, counts, weight })),
  ];
  return parts.length === 0 ? undefined : sumsByDomain(parts, view, nodes);
}

/** What each pod in a domain of the label adds to a node there, and what the label itself does. */
interface Weighed {
  readonly topologyKey: string;
  /** By the node's name. */
  readonly counts: ReadonlyMap<string, number>;
  readonly weight: number;
  readonly base?: number;
}

/** One number a node. Parts of one label are added up before any node is looked at. */
function sumsByDomain(parts: readonly Weighed[], view: ClusterView, nodes: readonly NodeInfo[]): readonly number[] {
  const byLabel = new Map<string, { base: number; readonly sums: Map<string, number> }>();
  for (const { topologyKey, counts, weight, base = 0 } of parts) {
    let label = byLabel.get(topologyKey);
    if (label === undefined) byLabel.set(topologyKey, (label = { base: 0, sums: new Map() }));
    label.base += base;
    for (const [name, count] of counts) {
      const value = view.node(name)?.labels[topologyKey];
      if (value !== undefined) label.sums.set(value, (label.sums.get(value) ?? 0) + weight * count);
    }
  }
  return nodes.map(({ labels }) => {
    let sum = 0;
    for (const [key, { base, sums }] of byLabel) {
      const value = labels[key];
      if (value !== undefined) sum += base + (sums.get(value) ?? 0);
    }
    return sum;
  });
}

function largest(raw: readonly number[]): number {
  let result = 0;
  for (const value of raw) result = Math.max(result, value);
  return result;
}

function moreIsBetter(raw: readonly number[] | undefined): readonly number[] | undefined {
  if (raw === undefined) return undefined;
  const high = largest(raw);
  return raw.map((value) => (high === 0 ? 0 : Math.floor((most * value) / high)));
}

function fewerIsBetter(raw: readonly number[] | undefined): readonly number[] | undefined {
  if (raw === undefined) return undefined;
  const high = largest(raw);
  return raw.map((value) => (high === 0 ? most : most - Math.floor((most * value) / high)));
}

function betweenLeastAndMost(raw: readonly number[] | undefined): readonly number[] | undefined {
  if (raw === undefined) return undefined;
  const high = raw.reduce((left, right) => Math.max(left, right), -Infinity);
  const low = raw.reduce((left, right) => Math.min(left, right), Infinity);
  return raw.map((value) => (high === low ? 0 : Math.floor((most * (value - low)) / (high - low))));
}

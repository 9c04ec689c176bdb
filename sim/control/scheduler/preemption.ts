/**
 * Makes room for a pod by taking it from less important ones: on the node where that costs least, with the fewest
 * disruption budgets broken. Source: the published scheduler's default preemption plugin.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Prng } from "../../kernel/types.ts";
import { secondsOf } from "../shared/pods.ts";
import { selectorOf } from "../shared/selecting.ts";
import type { Stored } from "../shared/stored.ts";
import type { ClusterView } from "./cluster-view.ts";
import { questionOf, refusalOf } from "./filters.ts";
import type { NodeInfo } from "./node-info.ts";
import { availability, type Unplaced } from "./placing.ts";
import type { PodNeeds } from "./pod-needs.ts";

export interface Budget extends Stored {
  readonly spec?: { readonly selector?: JsonObject };
  readonly status?: { readonly disruptionsAllowed?: number; readonly disruptedPods?: Readonly<Record<string, string>> };
}

export type Preemption =
  | { readonly node: string; readonly victims: readonly PodNeeds[] }
  /** In words why there is nothing to be had. */
  | { readonly problem: string };

interface Candidate {
  readonly node: string;
  readonly victims: readonly PodNeeds[];
  readonly violations: number;
}

const notHelpful = "Preemption is not helpful for scheduling";
const noVictims = "No preemption victims found for incoming pod";

export function preemptionFor(
  pod: PodNeeds,
  unplaced: Unplaced,
  view: ClusterView,
  budgets: readonly Budget[],
  prng: Prng,
): Preemption {
  if (pod.pod.spec.preemptionPolicy === "Never") return { problem: "not eligible due to preemptionPolicy=Never." };
  const promised = pod.pod.status?.nominatedNodeName ?? "";
  const here = promised === "" ? undefined : view.node(promised);
  // Somebody is going there already to make room.
  if (here !== undefined && [...here.pods.values()].some((other) => isGoing(other) && other.priority < pod.priority)) {
    return { problem: "not eligible due to a terminating pod on the nominated node." };
  }
  const nodes = view.nodes();
  const hopeful = nodes.filter(({ name }) => unplaced.refusals.get(name)?.isResolvable === true);
  const enough = Math.max(Math.floor(nodes.length / 10), 100);
  const candidates: Candidate[] = [];
  const start = hopeful.length === 0 ? 0 : prng.intInclusive(0, hopeful.length - 1);
  for (let at = 0; at < hopeful.length && candidates.length < enough; at++) {
    const candidate = candidateOn(hopeful[(start + at) % hopeful.length] as NodeInfo, pod, view, budgets);
    if (candidate !== undefined) candidates.push(candidate);
  }
  const [best] = candidates.sort(byCost);
  if (best !== undefined) return best;
  const counts = new Map<string, number>();
  if (nodes.length > hopeful.length) counts.set(notHelpful, nodes.length - hopeful.length);
  if (hopeful.length > 0) counts.set(noVictims, hopeful.length);
  return { problem: availability(nodes.length, counts) };
}

const isGoing = ({ pod }: PodNeeds): boolean => pod.metadata.deletionTimestamp !== undefined;

/** Without all less important pods it would fit: then as many of them as possible are spared, the most important first. */
function candidateOn(
  info: NodeInfo,
  pod: PodNeeds,
  view: ClusterView,
  budgets: readonly Budget[],
): Candidate | undefined {
  const lesser = [...info.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (lesser.length === 0) return undefined;
  const { name } = info;
  for (const { uid } of lesser) view.displace(uid);
  const wouldFit = (): boolean => refusalOf(questionOf(pod, view), info) === undefined;
  const victims: PodNeeds[] = [];
  let violations = 0;
  const isCandidate = wouldFit();
  if (isCandidate) {
    const { violating, others } = byBudget([...lesser].sort(byImportance), budgets);
    for (const each of [...violating, ...others]) {
      view.place(each, name);
      if (wouldFit()) continue;
      view.displace(each.uid);
      victims.push(each);
      if (violating.includes(each)) violations++;
    }
    for (const victim of victims) view.place(victim, name);
  } else for (const each of lesser) view.place(each, name);
  return isCandidate ? { node: name, victims: victims.sort(byImportance), violations } : undefined;
}

/** The more important first; of equals those that run longer. */
function byImportance(left: PodNeeds, right: PodNeeds): number {
  return (
    right.priority - left.priority ||
    startOf(left) - startOf(right) ||
    compareBytes(left.namespace, right.namespace) ||
    compareBytes(left.name, right.name)
  );
}

const startOf = ({ pod }: PodNeeds): number => secondsOf(pod.status?.startTime) || Infinity;

/** Those whose budgets have nothing left, the others having been counted first. */
function byBudget(pods: readonly PodNeeds[], budgets: readonly Budget[]) {
  const left = budgets.map(({ status }) => status?.disruptionsAllowed ?? 0);
  const violating: PodNeeds[] = [];
  const others: PodNeeds[] = [];
  for (const pod of pods) {
    let isViolating = false;
    for (const [at, { metadata, spec, status }] of budgets.entries()) {
      if (metadata.namespace !== pod.namespace || Object.keys(pod.labels).length === 0) continue;
      const selector = selectorOf(spec?.selector);
      if (selector.empty || !selector.matches(pod.labels)) continue;
      if (status?.disruptedPods !== undefined && Object.hasOwn(status.disruptedPods, pod.name)) continue;
      left[at] = (left[at] as number) - 1;
      if ((left[at] as number) < 0) isViolating = true;
    }
    (isViolating ? violating : others).push(pod);
  }
  return { violating, others };
}

function byCost(left: Candidate, right: Candidate): number {
  const highest = ({ victims }: Candidate): number => victims[0]?.priority ?? -Infinity;
  const sum = ({ victims }: Candidate): number =>
    victims.reduce((total, { priority }) => total + priority + 2_147_483_648, 0);
  const start = ({ victims }: Candidate): number =>
    victims.reduce(
      (earliest, victim) => (victim.priority === victims[0]?.priority ? Math.min(earliest, startOf(victim)) : earliest),
      Infinity,
    );
  return (
    left.violations - right.violations ||
    compareNumbers(highest(left), highest(right)) ||
    sum(left) - sum(right) ||
    left.victims.length - right.victims.length ||
    compareNumbers(start(right), start(left)) ||
    compareBytes(left.node, right.node)
  );
}

/** Also of infinities, whose difference is no number. */
const compareNumbers = (left: number, right: number): number => (left === right ? 0 : left < right ? -1 : 1);

/**
 * How many pods of a choice are on each node, counted when somebody first asks and kept up to date from then on; and
 * which topology domains the terms of pods that run already want, or keep others away from.
 */
import type { LabelSelector } from "../../../wire/selectors.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodNeeds } from "./pod-needs.ts";
import type { PodChoice, PodTerm } from "./terms.ts";

type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>>;

interface Tracker {
  readonly choice: PodChoice;
  /** By the node's name. */
  readonly counts: Map<string, number>;
  /** Those that it chooses. */
  readonly labelSets: Set<LabelSet>;
}

/** Pods of one namespace with the same labels: a choice takes all of them or none. */
interface LabelSet extends LabelledPods {
  /** By the node's name. */
  readonly counts: Map<string, number>;
  readonly trackers: Set<Tracker>;
}

/** Terms of running pods that mean the same. */
export interface TermGroup {
  readonly term: PodTerm;
  /** What it is worth to a pod that it matches; -Infinity keeps it away. */
  readonly weight: number;
  /** By the node's name: how many pods there have it. */
  readonly counts: Map<string, number>;
}

/** Choices that nobody asked about for long make room. */
const trackersMax = 2048;
/** A required term of a running pod draws those that it matches a little. Source: the published default. */
const requiredWeight = 1;

export class PodCounts {
  private readonly labelsOf: NamespaceLabels;
  private readonly nodes: ReadonlyMap<string, NodeInfo>;
  private readonly trackers = new Map<string, Tracker>();
  /** By namespace and labels; undefined while nobody has asked. */
  private labelSets: Map<string, LabelSet> | undefined;
  private readonly groups = new Map<string, TermGroup>();

  constructor(nodes: ReadonlyMap<string, NodeInfo>, labelsOf: NamespaceLabels) {
    this.nodes = nodes;
    this.labelsOf = labelsOf;
  }

  /** By the node's name; nodes without such pods are not in it. */
  of(choice: PodChoice): ReadonlyMap<string, number> {
    const known = this.trackers.get(choice.key);
    if (known !== undefined) return known.counts;
    const tracker: Tracker = { choice, counts: new Map(), labelSets: new Set() };
    for (const labelSet of this.allLabelSets().values()) {
      if (!this.chooses(choice, labelSet)) continue;
      link(tracker, labelSet);
      for (const [node, count] of labelSet.counts) change(tracker.counts, node, count);
    }
    if (this.trackers.size >= trackersMax) this.dropOldest();
    this.trackers.set(choice.key, tracker);
    return tracker.counts;
  }

  /** Terms of running pods that match this one. */
  groupsFor(pod: PodNeeds): readonly TermGroup[] {
    const found: TermGroup[] = [];
    for (const group of this.groups.values()) if (this.chooses(group.term.pods, pod)) found.push(group);
    return found;
  }

  /** Pods that have ended are not here at all. */
  chooses({ namespaces, namespaceSelector, selector }: PodChoice, pod: LabelledPods): boolean {
    const isOfNamespace = namespaces.has(pod.namespace) || this.matches(namespaceSelector, pod.namespace);
    return isOfNamespace && selector.matches(pod.labels);
  }

  change(pod: PodNeeds, node: string, sign: 1 | -1): void {
    if (this.labelSets !== undefined) this.changeLabelSet(this.labelSets, pod, node, sign);
    const { affinity, antiAffinity } = pod;
    for (const term of antiAffinity.required) this.changeGroup(term, -Infinity, node, sign);
    for (const term of affinity.required) this.changeGroup(term, requiredWeight, node, sign);
    for (const { term, weight } of affinity.preferred) this.changeGroup(term, weight, node, sign);
    for (const { term, weight } of antiAffinity.preferred) this.changeGroup(term, -weight, node, sign);
  }

  /** Labels of a namespace have changed: what was chosen by them is counted anew. */
  forgetChoices(): void {
    for (const { labelSets } of this.trackers.values()) for (const { trackers } of labelSets) trackers.clear();
    this.trackers.clear();
  }

  private allLabelSets(): ReadonlyMap<string, LabelSet> {
    if (this.labelSets !== undefined) return this.labelSets;
    this.labelSets = new Map();
    for (const [name, { pods }] of this.nodes) {
      for (const pod of pods.values()) this.changeLabelSet(this.labelSets, pod, name, 1);
    }
    return this.labelSets;
  }

  private changeLabelSet(all: Map<string, LabelSet>, pod: PodNeeds, node: string, sign: 1 | -1): void {
    const key = labelSetKey(pod);
    let labelSet = all.get(key);
    if (labelSet === undefined) {
      const { namespace, labels } = pod;
      labelSet = { namespace, labels, counts: new Map(), trackers: new Set() };
      all.set(key, labelSet);
      for (const tracker of this.trackers.values()) if (this.chooses(tracker.choice, labelSet)) link(tracker, labelSet);
    }
    change(labelSet.counts, node, sign);
    for (const { counts } of labelSet.trackers) change(counts, node, sign);
    if (labelSet.counts.size > 0) return;
    all.delete(key);
    for (const tracker of labelSet.trackers) tracker.labelSets.delete(labelSet);
  }

  private dropOldest(): void {
    for (const [key, tracker] of this.trackers) {
      this.trackers.delete(key);
      for (const { trackers } of tracker.labelSets) trackers.delete(tracker);
      return;
    }
  }

  private changeGroup(term: PodTerm, weight: number, node: string, sign: 1 | -1): void {
    const key = `${weight} ${term.key}`;
    let group = this.groups.get(key);
    if (group === undefined) this.groups.set(key, (group = { term, weight, counts: new Map() }));
    change(group.counts, node, sign);
    if (group.counts.size === 0) this.groups.delete(key);
  }

  private matches(selector: LabelSelector | undefined, namespace: string): boolean {
    return selector !== undefined && (selector.empty || selector.matches(this.labelsOf(namespace)));
  }
}

type LabelledPods = Pick<PodNeeds, "namespace" | "labels">;

function labelSetKey({ namespace, labels }: LabelledPods): string {
  const keys = Object.keys(labels).sort();
  return JSON.stringify([namespace, ...keys.flatMap((key) => [key, labels[key]])]);
}

function link(tracker: Tracker, labelSet: LabelSet): void {
  tracker.labelSets.add(labelSet);
  labelSet.trackers.add(tracker);
}

function change(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

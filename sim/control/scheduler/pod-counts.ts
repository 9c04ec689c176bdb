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
  private readonly groups = new Map<string, TermGroup>();

  constructor(nodes: ReadonlyMap<string, NodeInfo>, labelsOf: NamespaceLabels) {
    this.nodes = nodes;
    this.labelsOf = labelsOf;
  }

  /** By the node's name; nodes without such pods are not in it. */
  of(choice: PodChoice): ReadonlyMap<string, number> {
    let tracker = this.trackers.get(choice.key);
    if (tracker === undefined) {
      tracker = { choice, counts: new Map() };
      for (const [name, { pods }] of this.nodes) {
        for (const pod of pods.values()) if (this.chooses(choice, pod)) change(tracker.counts, name, 1);
      }
      if (this.trackers.size >= trackersMax) this.trackers.delete(this.trackers.keys().next().value as string);
      this.trackers.set(choice.key, tracker);
    }
    return tracker.counts;
  }

  /** Terms of running pods that match this one. */
  groupsFor(pod: PodNeeds): readonly TermGroup[] {
    const found: TermGroup[] = [];
    for (const group of this.groups.values()) if (this.chooses(group.term.pods, pod)) found.push(group);
    return found;
  }

  /** Pods that have ended are not here at all. */
  chooses({ namespaces, namespaceSelector, selector }: PodChoice, pod: PodNeeds): boolean {
    const isOfNamespace = namespaces.has(pod.namespace) || this.matches(namespaceSelector, pod.namespace);
    return isOfNamespace && selector.matches(pod.labels);
  }

  change(pod: PodNeeds, node: string, sign: 1 | -1): void {
    for (const { choice, counts } of this.trackers.values()) {
      if (this.chooses(choice, pod)) change(counts, node, sign);
    }
    const { affinity, antiAffinity } = pod;
    for (const term of antiAffinity.required) this.changeGroup(term, -Infinity, node, sign);
    for (const term of affinity.required) this.changeGroup(term, requiredWeight, node, sign);
    for (const { term, weight } of affinity.preferred) this.changeGroup(term, weight, node, sign);
    for (const { term, weight } of antiAffinity.preferred) this.changeGroup(term, -weight, node, sign);
  }

  /** Labels of a namespace have changed: what was chosen by them is counted anew. */
  forgetChoices(): void {
    this.trackers.clear();
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

function change(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

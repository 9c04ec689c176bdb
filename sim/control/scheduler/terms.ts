/** Terms by which pods choose nodes and each other, compiled once a pod. Source: the API reference of Affinity. */
import type { LabelSelector } from "../../../wire/selectors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { selectorOf } from "../shared/selecting.ts";
import { Recent } from "../../objects/recent.ts";
import { selectorText } from "../../objects/selector-text.ts";

type Labels = Readonly<Record<string, string>>;

export interface NodeView {
  readonly name: string;
  readonly labels: Labels;
}

export type NodeTest = (node: NodeView) => boolean;

const listOf = (object: JsonObject | undefined, key: string): readonly JsonObject[] =>
  (object?.[key] ?? []) as readonly JsonObject[];

/** `nodeSelector` and the required part of node affinity; undefined when every node will do. */
export function requiredNodes(selector: Labels | undefined, affinity: JsonObject | undefined): NodeTest | undefined {
  const pairs = Object.entries(selector ?? {});
  const required = (affinity?.["nodeAffinity"] as JsonObject | undefined)?.[
    "requiredDuringSchedulingIgnoredDuringExecution"
  ] as JsonObject | undefined;
  if (pairs.length === 0 && required === undefined) return undefined;
  const terms = listOf(required, "nodeSelectorTerms").map(nodeTerm);
  return (node) =>
    pairs.every(([key, value]) => node.labels[key] === value) &&
    (required === undefined || terms.some((term) => term(node)));
}

export interface PreferredNodes {
  readonly weight: number;
  readonly matches: NodeTest;
}

export function preferredNodes(affinity: JsonObject | undefined): readonly PreferredNodes[] {
  const nodeAffinity = affinity?.["nodeAffinity"] as JsonObject | undefined;
  return listOf(nodeAffinity, "preferredDuringSchedulingIgnoredDuringExecution").map(({ weight, preference }) => ({
    weight: weight as number,
    matches: nodeTerm(preference as JsonObject),
  }));
}

/** A term without requirements matches nothing. */
function nodeTerm(term: JsonObject): NodeTest {
  const labels = listOf(term, "matchExpressions").map(requirement);
  const fields = listOf(term, "matchFields").map(requirement);
  if (labels.length === 0 && fields.length === 0) return () => false;
  return ({ name, labels: own }) =>
    labels.every((matches) => matches(own)) && fields.every((matches) => matches({ "metadata.name": name }));
}

function requirement({ key, operator, values }: JsonObject): (labels: Labels) => boolean {
  const wanted = new Set((values ?? []) as readonly string[]);
  const name = key as string;
  const [first] = wanted;
  const bound = Number(first);
  const isInteger = (text: string | undefined): text is string => text !== undefined && /^[+-]?\d+$/.test(text);
  switch (operator) {
    case "In":
      return (labels) => Object.hasOwn(labels, name) && wanted.has(labels[name] as string);
    case "NotIn":
      return (labels) => !Object.hasOwn(labels, name) || !wanted.has(labels[name] as string);
    case "Exists":
      return (labels) => Object.hasOwn(labels, name);
    case "DoesNotExist":
      return (labels) => !Object.hasOwn(labels, name);
    case "Gt":
      return (labels) => isInteger(labels[name]) && Number(labels[name]) > bound;
    case "Lt":
      return (labels) => isInteger(labels[name]) && Number(labels[name]) < bound;
    default:
      return () => false;
  }
}

/** Other pods that a pod wants near it, or away from it. */
export interface PodTerm {
  /** The same for terms that mean the same. */
  readonly key: string;
  readonly topologyKey: string;
  readonly pods: PodChoice;
}

/** Pods by namespace and labels. */
export interface PodChoice {
  readonly key: string;
  readonly namespaces: ReadonlySet<string>;
  /** Namespaces by their labels, beside those named; undefined chooses none. */
  readonly namespaceSelector: LabelSelector | undefined;
  readonly selector: LabelSelector;
}

export interface WeightedTerm {
  readonly weight: number;
  readonly term: PodTerm;
}

export interface PodTerms {
  readonly required: readonly PodTerm[];
  readonly preferred: readonly WeightedTerm[];
}

interface Compiled {
  readonly namespace: string;
  readonly labels: Labels;
  readonly terms: PodTerms;
}

/** A pod is heard of again when it is bound and when its status changes, and its terms are what they were. */
const compiled = new Recent<JsonObject, Compiled>(4096);
const noTerms: PodTerms = { required: [], preferred: [] };

export function podTerms(
  kind: "podAffinity" | "podAntiAffinity",
  affinity: JsonObject | undefined,
  namespace: string,
  labels: Labels,
): PodTerms {
  const part = affinity?.[kind] as JsonObject | undefined;
  if (part === undefined) return noTerms;
  const known = compiled.get(part);
  if (known?.namespace === namespace && known.labels === labels) return known.terms;
  const terms = compiledTerms(part, namespace, labels);
  if (Object.isFrozen(part)) compiled.set(part, { namespace, labels, terms });
  return terms;
}

function compiledTerms(part: JsonObject, namespace: string, labels: Labels): PodTerms {
  const compile = (term: JsonObject): PodTerm => podTerm(term, namespace, labels);
  return {
    required: listOf(part, "requiredDuringSchedulingIgnoredDuringExecution").map(compile),
    preferred: listOf(part, "preferredDuringSchedulingIgnoredDuringExecution").map(({ weight, podAffinityTerm }) => ({
      weight: weight as number,
      term: compile(podAffinityTerm as JsonObject),
    })),
  };
}

function podTerm(term: JsonObject, own: string, labels: Labels): PodTerm {
  const named = (term["namespaces"] ?? []) as readonly string[];
  const bySelector = term["namespaceSelector"] as JsonObject | undefined;
  const namespaces = named.length === 0 && bySelector === undefined ? [own] : named;
  const pods = podChoice(namespaces, bySelector, withLabelKeys(term, labels));
  const topologyKey = term["topologyKey"] as string;
  return { key: `${topologyKey} ${pods.key}`, topologyKey, pods };
}

export function podChoice(
  namespaces: readonly string[],
  bySelector: JsonObject | undefined,
  selector: JsonObject | undefined,
): PodChoice {
  const text = selector === undefined ? "-" : selectorText(selector);
  const places = bySelector === undefined ? "" : `{${selectorText(bySelector)}}`;
  return {
    key: `${[...namespaces].sort().join()}${places} ${text}`,
    namespaces: new Set(namespaces),
    namespaceSelector: bySelector === undefined ? undefined : selectorOf(bySelector),
    selector: selectorOf(selector),
  };
}

/** `matchLabelKeys` and `mismatchLabelKeys` stand for the pod's own values. */
export function withLabelKeys(term: JsonObject, labels: Labels): JsonObject | undefined {
  const selector = term["labelSelector"] as JsonObject | undefined;
  const equal = ((term["matchLabelKeys"] ?? []) as readonly string[]).filter((key) => Object.hasOwn(labels, key));
  const other = ((term["mismatchLabelKeys"] ?? []) as readonly string[]).filter((key) => Object.hasOwn(labels, key));
  if (selector === undefined || equal.length + other.length === 0) return selector;
  const added = [
    ...equal.map((key) => ({ key, operator: "In", values: [labels[key] as string] })),
    ...other.map((key) => ({ key, operator: "NotIn", values: [labels[key] as string] })),
  ];
  return { ...selector, matchExpressions: [...listOf(selector, "matchExpressions"), ...added] };
}

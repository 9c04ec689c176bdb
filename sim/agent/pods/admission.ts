/** Whether the node can take a pod. Source: the facts, Admission; texts as recorded. A pure function. */
import { parseQuantity, quantityAt } from "../../../wire/quantity.ts";
import { isTolerated, type Taint } from "../../../wire/tolerations.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { ActivePod, Rejection } from "../ports.ts";
import { podOf } from "./pod-types.ts";
import { preemptionFor, type Preemption } from "./preemption.ts";

export interface AdmittingNode {
  readonly object: JsonObject;
  readonly name: string;
}

/**
 * `others`: pods that are here already and have not ended. A critical pod that lacks nothing but room is let in once the
 * victims are gone.
 */
export function admissionOf(
  node: AdmittingNode,
  pod: ActivePod,
  others: readonly ActivePod[],
  preempt: typeof preemptionFor = preemptionFor,
): Rejection | Extract<Preemption, { victims: unknown }> | undefined {
  const refusal = unsupported(node, pod);
  if (refusal !== undefined) return refusal;
  const shortages = shortagesOf(node, pod, others);
  const [first] = shortages;
  if (first === undefined) return mismatchOf(node, pod, others);
  if (!pod.isCritical) {
    const { name, requested, used, capacity } = first;
    const figures = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
    return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${figures}` };
  }
  const mismatch = mismatchOf(node, pod, others);
  if (mismatch !== undefined) return mismatch;
  const lacks = shortages.map(({ name, requested, used, capacity }) => ({
    resource: name,
    amount: requested + used - capacity,
  }));
  const preemption = preempt(pod, others, lacks);
  if ("victims" in preemption) return preemption;
  const message = `Unexpected error while attempting to recover from admission failure: ${preemption.error}`;
  return { reason: "UnexpectedAdmissionError", message };
}

/** What a node decides by. */
export interface AdmissionLaw {
  readonly admissionOf: typeof admissionOf;
}

export const admissionLaw: AdmissionLaw = { admissionOf };

function mismatchOf(node: AdmittingNode, pod: ActivePod, others: readonly ActivePod[]): Rejection | undefined {
  return (
    affinityMismatch(node, pod) ?? nameMismatch(node, pod) ?? portConflict(pod, others) ?? taintMismatch(node, pod)
  );
}

const failed = (predicate: string, why: string): Rejection => ({
  reason: predicate,
  message: `Predicate ${predicate} failed: ${why}`,
});

interface Shortage {
  readonly name: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

function shortagesOf({ object }: AdmittingNode, pod: ActivePod, others: readonly ActivePod[]): readonly Shortage[] {
  const status = (object["status"] ?? {}) as { readonly allocatable?: Readonly<Record<string, string>> };
  const allocatable = status.allocatable ?? {};
  const of = (name: string, scale: number): number => {
    const read = parseQuantity(String(allocatable[name] ?? "0"));
    return "error" in read ? 0 : Number(quantityAt(read, scale));
  };
  const rows: (readonly [name: string, requested: number, used: number, capacity: number])[] = [
    ["pods", 1, others.length, of("pods", 0)],
    ["cpu", pod.requests.milliCpu, total(others, ({ requests }) => requests.milliCpu), of("cpu", -3)],
    ["memory", pod.requests.memoryBytes, total(others, ({ requests }) => requests.memoryBytes), of("memory", 0)],
    [
      "ephemeral-storage",
      pod.requests.ephemeralStorageBytes,
      total(others, ({ requests }) => requests.ephemeralStorageBytes),
      of("ephemeral-storage", 0),
    ],
  ];
  for (const [name, requested] of Object.entries(pod.requests.others)) {
    // What the node has never heard of is somebody else's to count.
    if (allocatable[name] === undefined) continue;
    rows.push([name, requested, total(others, ({ requests }) => requests.others[name] ?? 0), of(name, 0)]);
  }
  return rows
    .filter(([, requested, used, capacity]) => requested > 0 && requested + used > capacity)
    .map(([name, requested, used, capacity]) => ({ name, requested, used, capacity }));
}

const total = (pods: readonly ActivePod[], of: (pod: ActivePod) => number): number =>
  pods.reduce((sum, pod) => sum + of(pod), 0);

function affinityMismatch(node: AdmittingNode, { object }: ActivePod): Rejection | undefined {
  const { nodeSelector = {}, affinity } = podOf(object).spec;
  const labels = metadataOf(node.object).labels ?? {};
  const required = (affinity?.["nodeAffinity"] as JsonObject | undefined)?.[
    "requiredDuringSchedulingIgnoredDuringExecution"
  ] as { readonly nodeSelectorTerms?: readonly Term[] } | undefined;
  const matches =
    Object.entries(nodeSelector).every(([key, value]) => labels[key] === value) &&
    (required === undefined || (required.nodeSelectorTerms ?? []).some((term) => termMatches(term, labels, node.name)));
  return matches ? undefined : failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
}

interface Term {
  readonly matchExpressions?: readonly Expression[];
  readonly matchFields?: readonly Expression[];
}

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

function termMatches(
  { matchExpressions = [], matchFields = [] }: Term,
  labels: Readonly<Record<string, string>>,
  name: string,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((expression) => expressionMatches(expression, labels)) &&
    matchFields.every((expression) => expressionMatches(expression, { "metadata.name": name }))
  );
}

function expressionMatches(
  { key, operator, values = [] }: Expression,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  if (operator === "In") return value !== undefined && values.includes(value);
  if (operator === "NotIn") return value === undefined || !values.includes(value);
  const [bound = ""] = values;
  if (value === undefined || !/^[+-]?\d+$/.test(value) || !/^[+-]?\d+$/.test(bound)) return false;
  return operator === "Gt" ? BigInt(value) > BigInt(bound) : operator === "Lt" && BigInt(value) < BigInt(bound);
}

function nameMismatch(node: AdmittingNode, { object }: ActivePod): Rejection | undefined {
  const { nodeName = node.name } = podOf(object).spec;
  return nodeName === node.name ? undefined : failed("NodeName", "node(s) didn't match the requested node name");
}

function portConflict(pod: ActivePod, others: readonly ActivePod[]): Rejection | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const conflicts = others
    .flatMap(hostPorts)
    .some((taken) =>
      wanted.some(
        (port) =>
          port.port === taken.port &&
          port.protocol === taken.protocol &&
          (port.ip === taken.ip || port.ip === "0.0.0.0" || taken.ip === "0.0.0.0"),
      ),
    );
  return conflicts ? failed("NodePorts", "node(s) didn't have free ports for the requested pod ports") : undefined;
}

function hostPorts({ object }: ActivePod): readonly { port: number; protocol: string; ip: string }[] {
  const { containers, initContainers = [] } = podOf(object).spec;
  return [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === "Always")].flatMap(
    ({ ports = [] }) =>
      ports
        .filter(({ hostPort = 0 }) => hostPort > 0)
        .map(({ hostPort = 0, protocol = "TCP", hostIP }) => ({ port: hostPort, protocol, ip: hostIP || "0.0.0.0" })),
  );
}

/** Only what evicts is looked at; static pods stay where their files are. */
function taintMismatch(node: AdmittingNode, pod: ActivePod): Rejection | undefined {
  const { metadata, spec } = podOf(pod.object);
  const source = Object.entries(metadata.annotations ?? {}).find(([key]) => key.endsWith("/config.source"))?.[1];
  if (source !== undefined && source !== "api") return undefined;
  const taints = ((node.object["spec"] as JsonObject | undefined)?.["taints"] ?? []) as unknown as readonly Taint[];
  const { tolerations = [] } = spec;
  const wrong = taints.find((taint) => taint.effect === "NoExecute" && !isTolerated(taint, tolerations));
  return wrong === undefined ? undefined : failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
}

/** What no room would help against. The pod's own label counts, whatever it selects: so does the published agent. */
function unsupported(node: AdmittingNode, { object }: ActivePod): Rejection | undefined {
  const { metadata, spec } = podOf(object);
  const label = metadata.labels?.["kubernetes.io/os"];
  if (label !== undefined && label !== "linux") {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: "PodOSSelectorNodeLabelDoesNotMatch", message };
  }
  if (spec.os !== undefined && spec.os.name !== "linux")
    return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
  const status = node.object["status"] as { readonly features?: { readonly supplementalGroupsPolicy?: boolean } };
  if (
    spec.securityContext?.["supplementalGroupsPolicy"] === "Strict" &&
    status?.features?.supplementalGroupsPolicy !== true
  )
    return {
      reason: "SupplementalGroupsPolicyNotSupported",
      message: "SupplementalGroupsPolicy=Strict is not supported in this node",
    };
  return undefined;
}

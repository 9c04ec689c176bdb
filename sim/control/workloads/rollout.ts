/**
 * The arithmetic of a Deployment's rollout, as pure functions of the Deployment and its ReplicaSets.
 * Source: the published deployment controller and its helpers.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { scaledValue } from "../shared/controller.ts";
import { bodyOf } from "../shared/informers.ts";
import { secondsOf } from "../shared/pods.ts";
import type { Condition, Deployment, PodTemplate, ReplicaSet } from "../shared/stored.ts";

export type DeploymentStatus = NonNullable<Deployment["status"]>;

export const hashLabel = "pod-template-hash";

export const replicasOf = ({ spec }: ReplicaSet | Deployment): number => spec.replicas ?? 1;
const totalOf = (sets: readonly ReplicaSet[]): number => sets.reduce((sum, set) => sum + replicasOf(set), 0);
export const isRolling = ({ spec }: Deployment): boolean =>
  (spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
export const isInUse = (set: ReplicaSet): boolean => replicasOf(set) > 0;

const availableOf = ({ status }: ReplicaSet): number => status?.availableReplicas ?? 0;

function availableIn(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + availableOf(set), 0);
}

/** How many pods there may be too many and too few. Both none would be a standstill. */
export function bounds(deployment: Deployment): { readonly surge: number; readonly unavailable: number } {
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 };
  const { maxSurge, maxUnavailable } = deployment.spec.strategy?.rollingUpdate ?? {};
  const replicas = replicasOf(deployment);
  const surge = scaledValue(maxSurge, replicas, "up");
  const unavailable = scaledValue(maxUnavailable, replicas, "down");
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

/** Of how many pods of those wanted it may do without. */
function unavailableMax(deployment: Deployment): number {
  const replicas = replicasOf(deployment);
  return !isRolling(deployment) || replicas === 0 ? 0 : Math.min(bounds(deployment).unavailable, replicas);
}

/** The oldest first. */
export function byAge(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return [...sets].sort(
    (left, right) =>
      compareBytes(left.metadata.creationTimestamp ?? "", right.metadata.creationTimestamp ?? "") ||
      compareBytes(left.metadata.name, right.metadata.name),
  );
}

/** Templates are the same but for the label that the controller adds. */
function sameTemplate(left: PodTemplate, right: PodTemplate): boolean {
  return jsonEqual(bodyOf(withoutHash(left)), bodyOf(withoutHash(right)));
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** The set of the present template. */
export function newSetOf(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return byAge(sets).find(({ spec }) => sameTemplate(spec.template, deployment.spec.template));
}

/** How large the new set is to be at this moment of a rollout. */
export function newSetReplicas(deployment: Deployment, all: readonly ReplicaSet[], present: number): number {
  const wanted = replicasOf(deployment);
  if (!isRolling(deployment)) return wanted;
  const room = wanted + bounds(deployment).surge - totalOf(all);
  return room <= 0 ? present : present + Math.min(room, wanted - present);
}

/** How many pods of old sets may go at this moment: what is not ready first, then as many as are available beyond need. */
export function oldSetsShrunk(
  deployment: Deployment,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): readonly (readonly [ReplicaSet, number])[] {
  const minAvailable = replicasOf(deployment) - unavailableMax(deployment);
  const all = [...old, newSet];
  const most = totalOf(all) - minAvailable - (replicasOf(newSet) - availableOf(newSet));
  if (totalOf(old) === 0 || most <= 0) return [];
  const sizes = new Map<ReplicaSet, number>(byAge(old).map((set) => [set, replicasOf(set)]));
  let shrunk = 0;
  for (const [set, size] of sizes) {
    const by = Math.min(most - shrunk, Math.max(0, size - availableOf(set)));
    if (by <= 0) continue;
    sizes.set(set, size - by);
    shrunk += by;
  }
  let spare = availableIn(all) - minAvailable;
  for (const [set, size] of sizes) {
    const by = Math.min(size, spare);
    if (by <= 0) continue;
    sizes.set(set, size - by);
    spare -= by;
  }
  return [...sizes].filter(([set, size]) => size !== replicasOf(set));
}

/** Sizes after the Deployment was scaled in the middle of a rollout: each set in proportion, the largest takes the rest. */
export function proportions(
  deployment: Deployment,
  active: readonly ReplicaSet[],
  mostBefore: (set: ReplicaSet) => number | undefined,
): readonly (readonly [ReplicaSet, number])[] {
  const wanted = replicasOf(deployment);
  const allowed = wanted > 0 ? wanted + bounds(deployment).surge : 0;
  const toAdd = allowed - totalOf(active);
  const aged = toAdd > 0 ? [...byAge(active)].reverse() : byAge(active);
  const sets = [...aged].sort((left, right) => replicasOf(right) - replicasOf(left));
  let added = 0;
  const sizes = sets.map((set): [ReplicaSet, number] => {
    const before = mostBefore(set) ?? deployment.status?.replicas ?? 0;
    const share = shareOf(replicasOf(set), wanted, allowed, before);
    const part = toAdd === 0 ? 0 : toAdd > 0 ? Math.min(share, toAdd - added) : Math.max(share, toAdd - added);
    added += part;
    return [set, replicasOf(set) + part];
  });
  const [largest] = sizes;
  if (largest !== undefined && toAdd !== 0) largest[1] = Math.max(0, largest[1] + toAdd - added);
  return sizes;
}

function shareOf(size: number, wanted: number, allowed: number, before: number): number {
  if (wanted === 0) return -size;
  return before === 0 ? 0 : Math.round((size * allowed) / before) - size;
}

export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const wanted = replicasOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === wanted &&
    (status.replicas ?? 0) === wanted &&
    (status.availableReplicas ?? 0) === wanted &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

export function hasProgressed({ status = {} }: Deployment, now: DeploymentStatus): boolean {
  const olds = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (status.updatedReplicas ?? 0) ||
    olds(now) < olds(status) ||
    (now.readyReplicas ?? 0) > (status.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (status.availableReplicas ?? 0)
  );
}

/** The status but for what is said of progress. */
export function countedStatus(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  all: readonly ReplicaSet[],
  now: string,
): DeploymentStatus {
  const sum = (count: (set: ReplicaSet) => number | undefined): number =>
    all.reduce((total, set) => total + (count(set) ?? 0), 0);
  const available = availableIn(all);
  const counts = {
    replicas: sum(({ status }) => status?.replicas),
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: sum(({ status }) => status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalOf(all) - available),
    observedGeneration: deployment.metadata.generation ?? 0,
    collisionCount: deployment.status?.collisionCount ?? 0,
  };
  const enough = available >= replicasOf(deployment) - unavailableMax(deployment);
  const condition = enough
    ? { status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : {
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
  const conditions = withCondition(deployment.status?.conditions ?? [], { type: "Available", ...condition }, now);
  const nonZero = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
  return { ...nonZero, conditions };
}

/** One that says the same with the same reason stays as it is; the time of the last transition moves with the status. */
export function withCondition(
  conditions: readonly Condition[],
  condition: Pick<Condition, "type" | "status" | "reason" | "message">,
  now: string,
): readonly Condition[] {
  const old = conditions.find(({ type }) => type === condition.type);
  if (old?.status === condition.status && old.reason === condition.reason) return conditions;
  const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
  return [...conditions.filter((each) => each !== old), { ...condition, lastUpdateTime: now, lastTransitionTime }];
}

/** Nothing has come of it within its deadline. */
export function isOverdue({ spec }: Deployment, conditions: readonly Condition[], nowSeconds: number): boolean {
  const condition = conditions.find(({ type }) => type === "Progressing");
  if (condition === undefined || condition.reason === "NewReplicaSetAvailable") return false;
  if (condition.reason === "ProgressDeadlineExceeded") return true;
  return secondsOf(condition.lastUpdateTime) + (spec.progressDeadlineSeconds ?? 0) < nowSeconds;
}

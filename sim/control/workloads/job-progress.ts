/** The arithmetic of jobs, as pure functions. Source: the API reference of Job; the published job controller. */
import type { JsonObject } from "../../contract/http-message.ts";
import { secondsOf } from "../shared/pods.ts";
import type { Condition, Pod, PodTemplate, Stored } from "../shared/stored.ts";

export interface Job extends Stored {
  readonly spec: {
    readonly parallelism?: number;
    readonly completions?: number;
    readonly completionMode?: string;
    readonly backoffLimit?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
    readonly selector?: JsonObject;
    readonly template: PodTemplate;
    readonly podFailurePolicy?: { readonly rules?: readonly JsonObject[] };
  };
  readonly status?: JobStatus;
}

export interface JobStatus {
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly completedIndexes?: string;
  readonly conditions?: readonly Condition[];
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

export const isIndexed = ({ spec }: Job): boolean => spec.completionMode === "Indexed";

function hasCondition({ status }: Job, ...types: readonly string[]): boolean {
  return status?.conditions?.some(({ type, status: is }) => is === "True" && types.includes(type)) ?? false;
}

export const isFinished = (job: Job): boolean => hasCondition(job, "Complete", "Failed");

/** How many pods are to run now. */
export function activeWanted(job: Job, succeeded: number): number {
  const { parallelism = 1, completions, suspend } = job.spec;
  if (suspend === true) return 0;
  if (completions === undefined) return succeeded > 0 ? -1 : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

const backOffSecondsMin = 10;
const backOffSecondsMax = 600;

/** Seconds until a pod may be made after so many failures in a row, the last at `lastSeconds`. */
export function backOff(failures: number, lastSeconds: number, nowSeconds: number): number {
  if (failures === 0) return 0;
  let wait = backOffSecondsMin;
  for (let at = 1; at < failures && wait < backOffSecondsMax; at++) wait *= 2;
  return Math.max(0, lastSeconds + Math.min(wait, backOffSecondsMax) - nowSeconds);
}

/** When its last container ended, or else when it was made. */
export function endSeconds({ status, metadata }: Pod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => secondsOf(state?.terminated?.finishedAt));
  return (
    ends.reduce((left, right) => Math.max(left, right), 0) ||
    secondsOf(metadata.deletionTimestamp ?? metadata.creationTimestamp)
  );
}

export type FailureAction =
  | { readonly act: "FailJob"; readonly message: string }
  | { readonly act: "Ignore" | "Count" };

/** What the failure of this pod means: the first rule that matches says it. */
export function failureAction({ spec }: Job, pod: Pod): FailureAction {
  for (const [at, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const found = matchedBy(rule, pod);
    if (found === undefined) continue;
    const { action } = rule;
    if (action === "Ignore") return { act: "Ignore" };
    if (action !== "FailJob") return { act: "Count" };
    return { act: "FailJob", message: `${found} matching FailJob rule at index ${at}` };
  }
  return { act: "Count" };
}

function matchedBy({ onExitCodes, onPodConditions }: JsonObject, pod: Pod): string | undefined {
  const about = `${pod.metadata.namespace}/${pod.metadata.name}`;
  if (onExitCodes !== undefined) {
    const { containerName, operator, values } = onExitCodes as {
      readonly containerName?: string;
      readonly operator: string;
      readonly values: readonly number[];
    };
    const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
    for (const { name, state } of statuses) {
      const code = state?.terminated?.exitCode ?? 0;
      if (code === 0 || (containerName !== undefined && containerName !== name)) continue;
      if (values.includes(code) === (operator === "In"))
        return `Container ${name} for pod ${about} failed with exit code ${code}`;
    }
    return undefined;
  }
  for (const { type, status } of (onPodConditions ?? []) as readonly JsonObject[]) {
    const condition = pod.status?.conditions?.find((each) => each.type === type);
    if (condition?.status === (status ?? "True")) return `Pod ${about} has condition ${String(type)}`;
  }
  return undefined;
}

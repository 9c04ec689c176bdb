/**
 * What a PodDisruptionBudget's status must be, as pure functions of its spec, its pods, and how many pods there should
 * be. Source: the published disruption controller; the API reference of policy/v1.
 */
import { formatTime, parseTime } from "../../../wire/time.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";

/** How long a pod whose eviction was granted counts as gone before it has gone. */
const deletionSeconds = 120;

export const allowedCondition = "DisruptionAllowed";
export const syncFailed = "SyncFailed";

export interface Expectation {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/** A budget's bound is not readable. The message is told to users. */
export class BadBudget extends Error {}

/** True when what must be healthy depends on how many pods their controllers want. */
export function needsScale({ maxUnavailable, minAvailable }: JsonObject): boolean {
  return isBound(maxUnavailable) || typeof minAvailable === "string";
}

/** `scale` is how many pods the controllers of the budget's pods want; only read when `needsScale`. Throws `BadBudget`. */
export function expectationOf(spec: JsonObject, podCount: number, scale: number): Expectation {
  const { maxUnavailable, minAvailable } = spec;
  if (isBound(maxUnavailable)) {
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - scaled(maxUnavailable, scale)) };
  }
  if (typeof minAvailable === "number") return { expectedPods: podCount, desiredHealthy: minAvailable };
  if (isBound(minAvailable)) return { expectedPods: scale, desiredHealthy: scaled(minAvailable, scale) };
  return { expectedPods: 0, desiredHealthy: 0 };
}

export interface Outlook {
  readonly status: JsonObject;
  /** Until a granted eviction is given up; undefined when none is open. */
  readonly recheckSeconds: number | undefined;
  /** Pods whose eviction was granted and that have not gone in time. */
  readonly overdue: readonly JsonObject[];
}

/** The status of `budget` at `nowSeconds` since 1970. */
export function outlook(
  budget: JsonObject,
  pods: readonly JsonObject[],
  expectation: Expectation,
  nowSeconds: number,
): Outlook {
  const { disruptedPods, recheckSeconds, overdue } = stillDisrupted(budget, pods, nowSeconds);
  const { expectedPods, desiredHealthy } = expectation;
  const currentHealthy = pods.filter((pod) => isHealthy(pod) && !Object.hasOwn(disruptedPods, nameOf(pod))).length;
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const counts = { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods };
  const observedGeneration = metadataOf(budget).generation ?? 0;
  const status: JsonObject = {
    conditions: allowedOrNot(budget, disruptionsAllowed, observedGeneration, nowSeconds),
    ...counts,
    ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
    observedGeneration,
  };
  return { status, recheckSeconds, overdue };
}

/** The status of a budget that could not be reckoned: nothing may be disrupted. What it was reckoned for stays said. */
export function failSafe(budget: JsonObject, message: string, nowSeconds: number): JsonObject {
  const status = statusOf(budget);
  const observedGeneration = (status["observedGeneration"] ?? 0) as number;
  const condition = { status: "False", reason: syncFailed, message, observedGeneration };
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...status,
    conditions: withAllowed(conditionsOf(budget), condition, nowSeconds),
    disruptionsAllowed: 0,
  };
}

/** The conditions of a budget once that many disruptions are allowed. */
export function allowedOrNot(
  budget: JsonObject,
  disruptionsAllowed: number,
  observedGeneration: number,
  nowSeconds: number,
): readonly JsonObject[] {
  const condition =
    disruptionsAllowed > 0
      ? { status: "True", reason: "SufficientPods", message: "", observedGeneration }
      : { status: "False", reason: "InsufficientPods", message: "", observedGeneration };
  return withAllowed(conditionsOf(budget), condition, nowSeconds);
}

/** A pod that serves: its agent says so, and it is not going. */
export function isReady(pod: JsonObject): boolean {
  const conditions = ((pod["status"] as JsonObject | undefined)?.["conditions"] ?? []) as readonly JsonObject[];
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

const isHealthy = (pod: JsonObject): boolean => metadataOf(pod).deletionTimestamp === undefined && isReady(pod);

interface Condition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** The time of the last transition only moves with the status. */
function withAllowed(
  conditions: readonly JsonObject[],
  condition: Condition,
  nowSeconds: number,
): readonly JsonObject[] {
  const old = conditions.find(({ type }) => type === allowedCondition);
  const isOld = old !== undefined && old["status"] === condition.status;
  const lastTransitionTime = isOld ? (old["lastTransitionTime"] as Json) : formatTime(nowSeconds);
  const { observedGeneration, status, reason, message } = condition;
  const observed = observedGeneration === 0 ? {} : { observedGeneration };
  const made = { type: allowedCondition, status, ...observed, lastTransitionTime, reason, message };
  return old === undefined ? [...conditions, made] : conditions.map((each) => (each === old ? made : each));
}

function conditionsOf(budget: JsonObject): readonly JsonObject[] {
  return (statusOf(budget)["conditions"] ?? []) as readonly JsonObject[];
}

function statusOf(budget: JsonObject): JsonObject {
  return (budget["status"] ?? {}) as JsonObject;
}

/** Of the evictions that were granted, those whose pods are still there and in time. */
function stillDisrupted(
  budget: JsonObject,
  pods: readonly JsonObject[],
  nowSeconds: number,
): { disruptedPods: Record<string, string> } & Pick<Outlook, "recheckSeconds" | "overdue"> {
  const granted = (statusOf(budget)["disruptedPods"] ?? {}) as Readonly<Record<string, string>>;
  const disruptedPods: Record<string, string> = {};
  const overdue: JsonObject[] = [];
  let recheckSeconds: number | undefined;
  for (const pod of pods) {
    const since = granted[nameOf(pod)];
    if (since === undefined || metadataOf(pod).deletionTimestamp !== undefined) continue;
    const instant = parseTime(since);
    const left = ("seconds" in instant ? instant.seconds : 0) + deletionSeconds - nowSeconds;
    if (left <= 0) {
      overdue.push(pod);
      continue;
    }
    disruptedPods[nameOf(pod)] = since;
    recheckSeconds = Math.min(left, recheckSeconds ?? left);
  }
  return { disruptedPods, recheckSeconds, overdue };
}

function nameOf(pod: JsonObject): string {
  return metadataOf(pod).name ?? "";
}

const isBound = (bound: Json | undefined): bound is number | string =>
  typeof bound === "number" || typeof bound === "string";

/** A number, or a percentage of `total`, rounded up. */
function scaled(bound: number | string, total: number): number {
  if (typeof bound === "number") return bound;
  const percent = /^(\d+)%$/.exec(bound)?.[1];
  if (percent === undefined) {
    throw new BadBudget("invalid value for IntOrString: invalid type: string is not a percentage");
  }
  return Math.ceil((total * Number(percent)) / 100);
}

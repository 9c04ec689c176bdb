/**
 * `pods/x/eviction`: a deletion that asks the disruption budgets first.
 * Source: the facts, section 1, 429 and the answer to several budgets.
 */
import { isSelectorError, parseLabelSelector } from "../../../wire/selectors.ts";
import { formatTime } from "../../../wire/time.ts";
import { allowedCondition, allowedOrNot, isReady, syncFailed } from "../../kinds/policy/budget.ts";
import { ApiError, forbidden, notFound, type ResourceName, unmapped } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Draft, metadataOf, ownChild } from "../../contract/objects.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import { spend } from "../../expressions/pace.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { createdStatus, requireNameOfPath, subresourceTarget } from "./binding.ts";
import { decodeBody } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { deleteNamed } from "./delete.ts";
import { preconditionFailure } from "./deletion.ts";
import { type DeleteOptions, deleteOptions, type WriteOptions, writeOptions } from "./options.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { admitted, settleNamespace } from "./steps.ts";
import type { SubresourceCall } from "./resource-calls.ts";
import type { Live, Writer } from "./writer.ts";

export function evict({ run, resource, writer }: SubresourceCall): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const write = writeOptions(context, "CreateOptions", run.query);
  // Old clients drain nodes by the version before.
  const target = { ...subresourceTarget(run, resource), alsoRead: ["policy/v1beta1"] };
  const body = decodeBody(context, run, { target }, write.fieldValidation);
  settleNamespace(body, namespace);
  requireNameOfPath(body, name);
  const { dryRun } = evictionOptions(writer, run, body, write);
  const admission = {
    operation: "CREATE",
    namespace,
    name,
    object: body,
    oldObject: undefined,
    options: { dryRun },
  } as const;
  admitted(writer, run, admission, (eviction) =>
    evictPod(writer, run, resource, evictionOptions(writer, run, eviction, write)),
  );
}

/** The body's, or else the query's. Throws 400 or 422. */
function evictionOptions({ context }: Writer, run: Run, eviction: Draft, write: WriteOptions): DeleteOptions {
  const sent = deleteOptions(context, run.query, eviction["deleteOptions"] as JsonObject | undefined);
  return { ...sent, dryRun: sent.dryRun || write.dryRun };
}

function evictPod(writer: Writer, run: Run, resource: ServedResource, options: DeleteOptions): void {
  const { namespace, name } = run.resourcePlace;
  const live = (): Live => {
    const found = writer.live(resource, namespace, name);
    if (found === undefined) throw notFound(resource.name, name);
    return found;
  };
  const known: Decided = new Map();
  const covering = (): Covering => {
    const pod = live();
    return { pod, budgets: disturbs(pod.object) ? coveringBudgets(writer, pod.object, known) : [] };
  };
  // The last turn looks at what is there then: nobody writes between it and what follows.
  run.judge(covering, ({ pod, budgets }) => {
    spendBudget(writer, pod.object, budgets, options.dryRun);
    removePod(writer, run, resource, pod, options);
  });
}

interface Covering {
  readonly pod: Live;
  /** Those that cover it. */
  readonly budgets: readonly Live[];
}

function removePod(writer: Writer, run: Run, resource: ServedResource, pod: Live, options: DeleteOptions): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  const failed = preconditionFailure(pod.object, options, resource.strategy, resource.group);
  if (failed !== undefined) throw failed;
  if (!options.dryRun) sayWhy(writer, resource, namespace, name);
  // The version that was asked for has been met, and passed by the pod's own last words.
  const deletion = { namespace, name, options: { ...options, resourceVersion: undefined }, isAdmitted: true };
  deleteNamed(writer, run, resource, deletion, (deleted) => {
    if (deleted === undefined) throw notFound(resource.name, name);
    respondObject(context, run, 201, createdStatus);
  });
}

/** A pod that has ended, is on its way, or has not begun disturbs nobody. */
function disturbs(pod: JsonObject): boolean {
  const phase = (pod["status"] as JsonObject | undefined)?.["phase"];
  if (phase === "Succeeded" || phase === "Failed" || phase === "Pending") return false;
  return metadataOf(pod).deletionTimestamp === undefined;
}

type Labels = Readonly<Record<string, string>> | undefined;

/** By the selectors of stored budgets, for which labels: whether they hold. Versions of a budget and of a pod share theirs. */
type Decided = Map<JsonObject, { readonly labels: Labels; readonly covers: boolean }>;

const budgetsOf = (writer: Writer): ServedResource => writer.resources.named("policy", "v1", "poddisruptionbudgets");

/** The budgets that cover a pod, in the order of their names. In as many turns as their selectors take to be read. */
function coveringBudgets(writer: Writer, pod: JsonObject, known: Decided): readonly Live[] {
  const { namespace = "", labels } = metadataOf(pod);
  return writer.all(budgetsOf(writer), namespace).filter(({ object }) => {
    const selector = specOf(object)["selector"] as JsonObject | undefined;
    if (selector === undefined) return false;
    let decided = known.get(selector);
    if (decided?.labels !== labels || decided === undefined) {
      spend(costOf(selector));
      known.set(selector, (decided = { labels, covers: covers(selector, labels) }));
    }
    return decided.covers;
  });
}

/** Of a requirement or a value that is put into words and read, by the measure of expressions (`pace.ts`). */
const requirementCost = 5;

function costOf({ matchExpressions, matchLabels }: JsonObject): number {
  const expressions = (matchExpressions ?? []) as readonly JsonObject[];
  const valueCount = expressions.reduce((sum, { values }) => sum + ((values ?? []) as readonly Json[]).length, 0);
  return requirementCost * (expressions.length + valueCount + Object.keys((matchLabels ?? {}) as JsonObject).length);
}

function covers(selector: JsonObject, labels: Labels): boolean {
  const parsed = parseLabelSelector(selectorText(selector));
  return !isSelectorError(parsed) && parsed.matches(labels);
}

/** Takes one disruption from the budget that covers the pod. Throws 403 or 429 when there is none left, 500 for two budgets. */
function spendBudget(writer: Writer, pod: JsonObject, [budget, second]: readonly Live[], dryRun: boolean): void {
  if (budget === undefined) return;
  if (second !== undefined) {
    const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw unmapped(message);
  }
  if (!isReady(pod) && sparesUnhealthy(budget.object)) return;
  const budgets = budgetsOf(writer);
  requireAllowed(budget.object, budgets.name);
  // A dry run ends at the judgement: the status that it would write is nobody's answer.
  if (dryRun) return;
  // The budget was read in this event: nobody was faster.
  writer.replace(budgets, budget, spent(budget, metadataOf(pod).name ?? "", writer.times.nowSeconds()), false);
}

const specOf = (object: JsonObject): JsonObject => (object["spec"] ?? {}) as JsonObject;

interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
}

const statusOf = (budget: JsonObject): BudgetStatus => (budget["status"] ?? {}) as BudgetStatus;

/**
 * Whether a pod that does not serve may go without a disruption being spent on it.
 * Source: the API reference of policy/v1, unhealthyPodEvictionPolicy.
 */
function sparesUnhealthy(budget: JsonObject): boolean {
  if (specOf(budget)["unhealthyPodEvictionPolicy"] === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = statusOf(budget);
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

const disruptedPodsMax = 2000;

/** Throws 429 when the budget has nothing left, or is not known yet, and 403 when its status makes no sense. */
function requireAllowed(budget: JsonObject, subject: ResourceName): void {
  const { name = "", generation = 0 } = metadataOf(budget);
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {} } = statusOf(budget);
  if (observedGeneration < generation) {
    throw blocked(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (disruptionsAllowed < 0) {
    throw forbidden({ ...subject, resource: "poddisruptionbudget" }, name, "pdb disruptions allowed is negative");
  }
  if (Object.keys(disruptedPods).length > disruptedPodsMax) {
    const why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
    throw forbidden({ ...subject, resource: "poddisruptionbudget" }, name, why);
  }
  if (disruptionsAllowed === 0) throw blocked(whyNone(name, statusOf(budget)), undefined);
}

function whyNone(name: string, { conditions = [], currentHealthy = 0, desiredHealthy = 0 }: BudgetStatus): string {
  const condition = conditions.find(({ type }) => type === allowedCondition);
  if (condition?.reason === syncFailed && condition.message !== "") {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`;
  }
  return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
}

function spent(budget: Live, pod: string, nowSeconds: number): Draft {
  const { disruptionsAllowed = 0, observedGeneration = 0 } = statusOf(budget.object);
  const draft: Draft = { ...budget.object };
  const status = ownChild(draft, "status");
  status["disruptionsAllowed"] = disruptionsAllowed - 1;
  ownChild(status, "disruptedPods")[pod] = formatTime(nowSeconds);
  if (disruptionsAllowed === 1) {
    status["conditions"] = allowedOrNot(budget.object, 0, observedGeneration, nowSeconds);
  }
  return draft;
}

/** The pod says what takes it away. Source: the published server, the condition DisruptionTarget. */
function sayWhy(writer: Writer, resource: ServedResource, namespace: string, name: string): void {
  const live = writer.live(resource, namespace, name);
  if (live === undefined) return;
  const draft: Draft = { ...live.object };
  const status = ownChild(draft, "status");
  const conditions = (status["conditions"] ?? []) as readonly JsonObject[];
  const old = conditions.find(({ type }) => type === "DisruptionTarget");
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: old?.["status"] === "True" ? (old["lastTransitionTime"] as Json) : writer.times.now(),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  status["conditions"] =
    old === undefined ? [...conditions, condition] : conditions.map((each) => (each === old ? condition : each));
  // Nobody writes in between: there is nothing to lose a race against.
  writer.replace(resource, live, draft, false);
}

function blocked(why: string, retryAfterSeconds: number | undefined): ApiError {
  return new ApiError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message: why }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

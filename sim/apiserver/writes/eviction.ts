/**
 * `pods/x/eviction`: a deletion that asks the disruption budgets first.
 * Source: the facts, section 1, 429 and the answer to several budgets.
 */
import { isSelectorError, parseLabelSelector } from "../../../wire/selectors.ts";
import { ApiError, notFound } from "../errors.ts";
import type { JsonObject } from "../http-message.ts";
import { type Draft, metadataOf, ownChild } from "../objects/types.ts";
import { offerOf } from "../pipeline/negotiate.ts";
import { respondObject } from "../pipeline/respond.ts";
import { selectorText } from "../representations/selector-text.ts";
import { createdStatus, subresourceTarget } from "./binding.ts";
import { decodeBody, requireBodySize } from "./body.ts";
import { deleteNamed } from "./delete.ts";
import { type DeleteOptions, deleteOptions, writeOptions } from "./options.ts";
import { requireName, settleNamespace } from "./steps.ts";
import type { SubresourceCall } from "./subresources.ts";
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
  requireName(body, name);
  const sent = deleteOptions(context, run.query, body["deleteOptions"] as JsonObject | undefined);
  const options: DeleteOptions = { ...sent, dryRun: sent.dryRun || write.dryRun };
  const pod = writer.live(resource, namespace, name);
  if (pod === undefined) throw notFound(resource.name, name);
  if (isRunning(pod.object)) spendBudget(writer, pod.object, options.dryRun);
  deleteNamed(writer, run, resource, { namespace, name, options }, (deleted) => {
    if (deleted === undefined) throw notFound(resource.name, name);
    respondObject(context, run, 201, createdStatus);
  });
}

/** A pod that has ended, is on its way, or has not begun disturbs nobody. */
function isRunning(pod: JsonObject): boolean {
  const phase = (pod["status"] as JsonObject | undefined)?.["phase"];
  if (phase === "Succeeded" || phase === "Failed" || phase === "Pending") return false;
  return metadataOf(pod).deletionTimestamp === undefined;
}

/** Takes one disruption from the budget that covers the pod. Throws 429 when there is none left, 500 for two budgets. */
function spendBudget(writer: Writer, pod: JsonObject, dryRun: boolean): void {
  const budgets = writer.resources.named("policy", "v1", "poddisruptionbudgets");
  const { namespace = "", labels, name = "" } = metadataOf(pod);
  for (;;) {
    const covering = writer
      .all(budgets, namespace)
      .filter(({ object }) => covers((object["spec"] as JsonObject | undefined)?.["selector"] as JsonObject, labels));
    const [budget, second] = covering;
    if (budget === undefined) return;
    if (second !== undefined) {
      const message =
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
      throw new ApiError(500, "InternalError", message, {});
    }
    if (writer.replace(budgets, budget, spent(budget, name, writer.times.now()), dryRun) !== undefined) return;
  }
}

function covers(selector: JsonObject | undefined, labels: Readonly<Record<string, string>> | undefined): boolean {
  if (selector === undefined) return false;
  const parsed = parseLabelSelector(selectorText(selector));
  return !isSelectorError(parsed) && parsed.matches(labels);
}

function spent(budget: Live, pod: string, now: string): Draft {
  const { name = "", generation = 0 } = metadataOf(budget.object);
  const status = (budget.object["status"] ?? {}) as JsonObject;
  if (((status["observedGeneration"] ?? 0) as number) < generation) {
    throw blocked(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = (status["disruptionsAllowed"] ?? 0) as number;
  if (allowed <= 0) {
    const needs = String(status["desiredHealthy"] ?? 0);
    const has = String(status["currentHealthy"] ?? 0);
    throw blocked(`The disruption budget ${name} needs ${needs} healthy pods and has ${has} currently`, undefined);
  }
  const draft: Draft = { ...budget.object };
  const own = ownChild(draft, "status");
  own["disruptionsAllowed"] = allowed - 1;
  ownChild(own, "disruptedPods")[pod] = now;
  return draft;
}

function blocked(why: string, retryAfterSeconds: number | undefined): ApiError {
  return new ApiError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message: why }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

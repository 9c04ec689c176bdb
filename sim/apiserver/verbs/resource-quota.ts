/**
 * Resource quotas: how many objects a namespace may hold, and how much its pods may ask for.
 *
 * A creation is judged by what a quota's status says is used, and so is what a service or a claim uses more after an
 * update; whoever creates or deletes has the status counted anew in the same event, but for a large quota that came or
 * changed itself. A dry run is judged alike and consumes nothing.
 *
 * Simplification: in the real cluster a controller counts, some time after a deletion.
 * Source: document 1, Dry-run 3; the published admission plugin and evaluators.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  negateQuantity,
  parseQuantity,
  type Quantity,
} from "../../../wire/quantity.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import { forbidden } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Draft, metadataOf, type Metadata, ownChild } from "../../contract/objects.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import type { Live, Writer } from "./writer.ts";
import { type Amounts, noQuantity as zero, type QuotaUse } from "../../objects/quota-use.ts";
import { controllerManager, trackManagedFields } from "../../objects/managed-fields.ts";
import { digestParts } from "../../objects/digest.ts";
import { largeLeafSteps } from "../../objects/large-leaves.ts";
import { seal } from "../../objects/seal.ts";
import { isLargeObject, requireFewValues } from "../../objects/value-limit.ts";
import { inTurns } from "../../expressions/pace.ts";
import { mayCount, usageOf } from "../admission/quota-usage.ts";

/**
 * Throws 403 when a quota of the namespace has no room for `object`, or for what it uses more than `old`, where it
 * takes that one's place. Returns whether there are quotas at all.
 */
export function requireQuota(writer: Writer, resource: ServedResource, object: Draft, old?: JsonObject): boolean {
  const { namespace = "", name = "" } = metadataOf(object);
  if (namespace === "" || !writer.quotaNamespaces.has(namespace)) return false;
  const quotas = quotasOf(writer, namespace);
  for (const live of quotas) {
    const quota = live.object;
    const hard = amountsOf(quota, "spec");
    const wanted = usageOf(resource, object as JsonObject, quota, hard);
    const requested = old === undefined ? wanted : increase(wanted, usageOf(resource, old, quota, hard));
    if (requested.size === 0) continue;
    const refuse = (why: string): Error => forbidden(resource.name, name, why);
    const { name: quotaName = "" } = metadataOf(quota);
    const missing = resource.strategy.quota?.unstated?.(object as JsonObject, requested) ?? "";
    if (missing !== "") throw refuse(`failed quota: ${quotaName}: must specify ${missing}`);
    const used = amountsOf(quota, "status", "used");
    const over = [...requested.keys()].filter((key) => {
      const sum = addQuantities(used.get(key) ?? zero, requested.get(key) as Quantity);
      return (
        compareQuantities(requested.get(key) as Quantity, zero) > 0 &&
        compareQuantities(sum, hard.get(key) as Quantity) > 0
      );
    });
    if (over.length > 0) {
      const shown = (amounts: Amounts): string =>
        over
          .sort(compareBytes)
          .map((key) => `${key}=${formatQuantity(amounts.get(key) ?? zero)}`)
          .join(",");
      throw refuse(
        `exceeded quota: ${quotaName}, requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(hard)}`,
      );
    }
  }
  return quotas.length > 0;
}

/** Throws 413 for a quota that would have too many values once its status, which the server writes, has its amounts twice more. */
export function requireRoomForStatus(writer: Writer, resource: ServedResource, quota: Draft): void {
  if (resource !== writer.quotas) return;
  const { hard = {} } = (quota["spec"] ?? {}) as JsonObject;
  requireFewValues({ ...quota, status: { hard, used: hard } });
}

function increase(after: Amounts, before: Amounts): Amounts {
  const more = [...after].map(([key, amount]) => [key, minus(amount, before.get(key) ?? zero)] as const);
  return new Map(more.filter(([, amount]) => compareQuantities(amount, zero) > 0));
}

const minus = (left: Quantity, right: Quantity): Quantity => addQuantities(left, negateQuantity(right));

/**
 * Counts anew what the quotas of a namespace have to say of `changed`, after an object of it called `name` came, went or
 * changed; a quota that changed itself is counted whole, a large one in events of their own, soon after.
 */
export function refreshQuotas(writer: Writer, namespace: string, changed: ServedResource, name: string): void {
  if (namespace === "" || !writer.quotaNamespaces.has(namespace)) return;
  for (const live of quotasOf(writer, namespace)) {
    const isItself = changed === writer.quotas && metadataOf(live.object).name === name;
    if (!isItself && !concerns(live.object, changed)) continue;
    if (isItself && isLargeObject(live.stored)) recountLater(writer, live);
    else writeStatus(writer, live, withStatus(live, usedOf(writer, namespace, live)));
  }
}

function usedOf(writer: Writer, namespace: string, live: Live): Amounts {
  const hard = amountsOf(live.object, "spec");
  const used = new Map<string, Quantity>([...hard.keys()].map((key) => [key, zero]));
  const counted = new Set<string>(); // what is served in several versions is stored once
  for (const resource of writer.resources.all()) {
    const { row, read, strategy } = resource;
    const { quota = none } = strategy;
    if (!row.namespaced || quota.isUncounted || counted.has(read.prefix) || !concerns(live.object, resource)) continue;
    counted.add(read.prefix);
    for (const [key, amount] of writer.quotaSums.of(resource, namespace, live.object, hard)) {
      used.set(key, addQuantities(used.get(key) ?? zero, amount));
    }
  }
  return used;
}

/** Large quotas that are being counted. */
const recounted = new WeakMap<Writer, Set<string>>();

function recountLater(writer: Writer, { key, object }: Live): void {
  let keys = recounted.get(writer);
  if (keys === undefined) recounted.set(writer, (keys = new Set()));
  if (keys.has(key)) return; // it begins anew when it finds that the quota has changed
  keys.add(key);
  const { clock } = writer.context;
  const steps = recountSteps(writer, metadataOf(object), () => keys.delete(key));
  const step = (): void => {
    if (steps.next().done !== true) clock.after(0, step);
  };
  clock.after(0, step);
}

function* recountSteps(
  writer: Writer,
  { namespace = "", name = "" }: Metadata,
  ended: () => void,
): Generator<void, void> {
  try {
    for (;;) {
      const live = writer.live(writer.quotas, namespace, name);
      if (live === undefined) return;
      const used = usedOf(writer, namespace, live);
      yield;
      const draft = withStatus(live, used);
      yield;
      yield* largeLeafSteps(live.object, draft, true);
      yield* inTurns(() => trackStatus(writer, live, draft));
      yield;
      seal(draft);
      yield;
      yield* digestParts(draft as JsonObject);
      yield;
      if (writer.replace(writer.quotas, live, { ...draft }, false, true) !== undefined) return;
      yield;
    }
  } finally {
    ended();
  }
}

/** By what a quota limits, which its versions share. */
const concerned = new WeakMap<Amounts, Map<ServedResource, boolean>>();

/** Whether a stored quota counts objects of the resource. */
function concerns(quota: JsonObject, resource: ServedResource): boolean {
  const hard = amountsOf(quota, "spec");
  let known = concerned.get(hard);
  if (known === undefined) concerned.set(hard, (known = new Map()));
  let answer = known.get(resource);
  if (answer === undefined) known.set(resource, (answer = mayCount(resource, hard)));
  return answer;
}

const none: QuotaUse = {};

function quotasOf(writer: Writer, namespace: string): readonly Live[] {
  return writer.all(writer.quotas, namespace);
}

function amountsOf(quota: JsonObject, part: "spec" | "status", field = "hard"): Amounts {
  const table = (quota[part] as JsonObject | undefined)?.[field] as Readonly<Record<string, string>> | undefined;
  if (table === undefined || table === null) return noAmounts;
  const known = amountsRead.get(table);
  if (known !== undefined) return known;
  const amounts = new Map<string, Quantity>();
  for (const key of Object.keys(table)) {
    const quantity = parseQuantity(String(table[key]));
    if (!("error" in quantity)) amounts.set(key, quantity as Quantity);
  }
  if (Object.isFrozen(table)) amountsRead.set(table, amounts);
  return amounts;
}

const noAmounts: Amounts = new Map();
/** Of stored quotas, by their tables: versions of a quota share what has not changed. */
const amountsRead = new WeakMap<object, Amounts>();

function writeStatus(writer: Writer, live: Live, draft: Draft): void {
  trackStatus(writer, live, draft);
  writer.replace(writer.quotas, live, draft, false);
}

function withStatus(live: Live, used: Amounts): Draft {
  const draft: Draft = { ...live.object };
  const status = ownChild(draft, "status");
  const { hard } = (live.object["spec"] ?? {}) as JsonObject;
  if (hard !== undefined) status["hard"] = hard;
  if (!isShown(status["used"] as Shown | undefined, used)) status["used"] = shownInOrder(used);
  return draft;
}

function trackStatus(writer: Writer, live: Live, draft: Draft): void {
  const { strategy, apiVersion } = writer.quotas;
  const manager = controllerManager(strategy.dialect);
  trackManagedFields(draft, live.object, strategy, {
    manager,
    apiVersion,
    subresource: "status",
    now: writer.times.now(),
  });
}

type Shown = Readonly<Record<string, string>>;

/** Whether a status says just that already. */
function isShown(shown: Shown | undefined, used: Amounts): boolean {
  if (shown === undefined || Object.keys(shown).length !== used.size) return false;
  for (const [key, amount] of used) if (shown[key] !== formatQuantity(amount)) return false;
  return true;
}

function shownInOrder(used: Amounts): Shown {
  const shown: Record<string, string> = {};
  for (const key of [...used.keys()].sort(compareBytes)) shown[key] = formatQuantity(used.get(key) as Quantity);
  return shown;
}

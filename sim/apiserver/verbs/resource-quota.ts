/**
 * Resource quotas: how many objects a namespace may hold, and how much its pods may ask for.
 *
 * A creation is judged by what a quota's status says is used, and so is what a service or a claim uses more after an
 * update; whoever creates or deletes has the status counted anew in the same event, or soon after where there is much to write.
 * A dry run is judged alike and consumes nothing.
 *
 * Simplification: in the real cluster a controller counts, some time after a deletion.
 * Source: document 1, Dry-run 3; the published admission plugin and evaluators.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  negateQuantity,
  type Quantity,
} from "../../../wire/quantity.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import { forbidden, toldCharactersMax } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Draft, metadataOf } from "../../contract/objects.ts";
import { type Amounts, noQuantity as zero } from "../../objects/quota-use.ts";
import { isLargeObject, requireFewValues } from "../../objects/value-limit.ts";
import { isInScope, mayCount, usageOf, useOf } from "../admission/quota-usage.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { inEvents } from "../../kernel/in-events.ts";
import type { Run } from "../requests/run.ts";
import { isAwaited, isAwaitingAny, recountLater, statusesPerTurn, statusWeight } from "./quota-recounts.ts";
import { addUsed, concernedBy, concerns, hardOf, usedOf, usedSaid, withStatus, writeStatus } from "./quota-status.ts";
import type { Live, Writer } from "./writer.ts";

/**
 * Throws 403 when a quota of the namespace has no room for `object`, or for what it uses more than `old`, where it
 * takes that one's place. Returns whether there are quotas at all.
 */
export function requireQuota(writer: Writer, resource: ServedResource, object: Draft, old?: JsonObject): boolean {
  const { namespace = "", name = "" } = metadataOf(object);
  if (namespace === "" || !writer.quotaNamespaces.has(namespace)) return false;
  const quotas = quotasOf(writer, namespace);
  const use = useOf(resource, object as JsonObject);
  const oldUse = old && useOf(resource, old);
  const unstated = old === undefined ? resource.strategy.quota?.unstated?.(object as JsonObject) : undefined;
  for (const live of quotas) {
    const quota = live.object;
    const hard = hardOf(quota);
    const wanted = usageOf(resource, object as JsonObject, quota, hard, use);
    const requested = old === undefined ? wanted : increase(wanted, usageOf(resource, old, quota, hard, oldUse));
    const refuse = (why: string): Error => forbidden(resource.name, name, why);
    const { name: quotaName = "" } = metadataOf(quota);
    const missing = unstated !== undefined && isInScope(resource, use.traits, quota) ? unstated(hard) : "";
    if (missing !== "") throw refuse(`failed quota: ${quotaName}: must specify ${missing}`);
    if (requested.size === 0) continue;
    const used = usedNow(writer, namespace, live, requested);
    const over = [...requested.keys()].filter((key) => {
      const sum = addQuantities(used.get(key) ?? zero, requested.get(key) as Quantity);
      return (
        compareQuantities(requested.get(key) as Quantity, zero) > 0 &&
        compareQuantities(sum, hard.get(key) as Quantity) > 0
      );
    });
    if (over.length > 0) {
      over.sort(compareBytes);
      throw refuse(
        `exceeded quota: ${quotaName}, requested: ${shown(over, requested)}, used: ${shown(over, used)}, limited: ${shown(over, hard)}`,
      );
    }
  }
  return quotas.length > 0;
}

/** As much as may be told. */
function shown(keys: readonly string[], amounts: Amounts): string {
  const parts: string[] = [];
  let left = toldCharactersMax;
  for (const key of keys) {
    const part = `${key}=${formatQuantity(amounts.get(key) ?? zero)}`;
    left -= part.length + 1;
    if (left < 0) break;
    parts.push(part);
  }
  return parts.join(",");
}

/** What is used of what is requested: what the status says, but for one that is yet to be written. */
function usedNow(writer: Writer, namespace: string, live: Live, requested: Amounts): Amounts {
  if (!isAwaited(writer, live)) return usedSaid(live.object, requested.keys());
  const used = new Map<string, Quantity>();
  const counting = concernedBy(writer, live.object).filter((resource) => mayCount(resource, requested));
  addUsed(writer, namespace, live.object, requested, used, counting);
  return used;
}

/**
 * Goes on once all is counted that judges another object of the resource: at once, unless the status of a quota is yet to be
 * written and the namespace has many objects that nobody has counted.
 */
export function whenCounted(
  writer: Writer,
  run: Run,
  resource: ServedResource,
  namespace: string,
  proceed: () => void,
): void {
  if (!isAwaitingAny(writer) || !writer.quotaNamespaces.has(namespace)) proceed();
  else {
    run.await<() => void>(
      (done) => inEvents(writer.context.clock, countingSteps(writer, resource, namespace), done),
      (counted) => {
        counted();
        proceed();
      },
    );
  }
}

function* countingSteps(writer: Writer, { read }: ServedResource, namespace: string): Generator<void, void> {
  for (const live of quotasOf(writer, namespace)) {
    if (!isAwaited(writer, live)) continue;
    for (const resource of concernedBy(writer, live.object)) {
      if (resource.read.prefix === read.prefix) while (!writer.quotaSums.goOn(resource, namespace)) yield;
    }
  }
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
 * changed; a quota that changed itself is counted whole. As many as one event may write, the others soon after.
 */
export function refreshQuotas(writer: Writer, namespace: string, changed: ServedResource, name: string): void {
  if (namespace === "" || !writer.quotaNamespaces.has(namespace)) return;
  let left = statusesPerTurn;
  for (const live of quotasOf(writer, namespace)) {
    const isItself = changed === writer.quotas && metadataOf(live.object).name === name;
    if (!isItself && !concerns(writer, live.object, changed)) continue;
    left -= statusWeight(live);
    if (left < 0 || isAwaited(writer, live) || isLargeObject(live.stored) || !isSoonCounted(writer, namespace, live)) {
      recountLater(writer, live);
    } else writeStatus(writer, live, withStatus(live, usedOf(writer, namespace, live)));
  }
}

/** Whether all that a quota counts is counted, with as much as one event may count. */
const isSoonCounted = (writer: Writer, namespace: string, { object }: Live): boolean =>
  concernedBy(writer, object).every((resource) => writer.quotaSums.goOn(resource, namespace));

function quotasOf(writer: Writer, namespace: string): readonly Live[] {
  return writer.all(writer.quotas, namespace);
}

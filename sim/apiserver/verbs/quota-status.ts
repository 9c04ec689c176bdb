/** What the status of a quota has to say, and how it is written. */
import { formatQuantity, parseQuantity, addQuantities, type Quantity } from "../../../wire/quantity.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Draft, ownChild } from "../../contract/objects.ts";
import { controllerManager, trackManagedFields } from "../../objects/managed-fields.ts";
import { type Amounts, noQuantity as zero } from "../../objects/quota-use.ts";
import { mayCount } from "../admission/quota-usage.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import type { Live, Writer } from "./writer.ts";

/** What a quota limits. */
export function hardOf(quota: JsonObject): Amounts {
  const table = (quota["spec"] as JsonObject | undefined)?.["hard"] as Readonly<Record<string, string>> | undefined;
  if (table === undefined || table === null) return noAmounts;
  const known = amountsRead.get(table);
  if (known !== undefined) return known;
  const amounts = new Map<string, Quantity>();
  for (const key of Object.keys(table)) {
    const quantity = amountAt(table, key);
    if (quantity !== undefined) amounts.set(key, quantity);
  }
  if (Object.isFrozen(table)) amountsRead.set(table, amounts);
  return amounts;
}

const noAmounts: Amounts = new Map();
/** Of stored quotas, by their tables: versions of a quota share what has not changed. */
const amountsRead = new WeakMap<object, Amounts>();

/** What the status says is used, of those of `keys` that it names. */
export function usedSaid(quota: JsonObject, keys: Iterable<string>): Amounts {
  const said = new Map<string, Quantity>();
  const table = (quota["status"] as JsonObject | undefined)?.["used"] as Readonly<Record<string, string>> | undefined;
  if (table === undefined || table === null) return said;
  for (const key of keys) {
    const quantity = Object.hasOwn(table, key) ? amountAt(table, key) : undefined;
    if (quantity !== undefined) said.set(key, quantity);
  }
  return said;
}

function amountAt(table: Readonly<Record<string, string>>, key: string): Quantity | undefined {
  const quantity = parseQuantity(String(table[key]));
  return "error" in quantity ? undefined : quantity;
}

interface Concerned {
  /** In which they were looked for. */
  readonly all: readonly ServedResource[];
  readonly list: readonly ServedResource[];
}

/** By what a quota limits, which its versions share. */
const concerned = new WeakMap<Amounts, Concerned>();

/** The resources of which a stored quota counts objects; what is served in several versions is stored once. */
export function concernedBy(writer: Writer, quota: JsonObject): readonly ServedResource[] {
  const hard = hardOf(quota);
  const all = writer.resources.all();
  let known = concerned.get(hard);
  if (known?.all !== all) {
    const byPrefix = new Map<string, ServedResource>();
    for (const resource of all) {
      const { row, read, strategy } = resource;
      if (!row.namespaced || strategy.quota?.isUncounted || byPrefix.has(read.prefix)) continue;
      if (mayCount(resource, hard)) byPrefix.set(read.prefix, resource);
    }
    concerned.set(hard, (known = { all, list: [...byPrefix.values()] }));
  }
  return known.list;
}

/** Whether a stored quota counts objects of the resource, in whatever version. */
export const concerns = (writer: Writer, quota: JsonObject, { read }: ServedResource): boolean =>
  concernedBy(writer, quota).some(({ read: { prefix } }) => prefix === read.prefix);

/** What is used of all that a quota limits. */
export function usedOf(writer: Writer, namespace: string, { object }: Live): Amounts {
  const hard = hardOf(object);
  const used = new Map<string, Quantity>();
  for (const key of hard.keys()) used.set(key, zero);
  addUsed(writer, namespace, object, hard, used, concernedBy(writer, object));
  return used;
}

/** Adds what objects of the resources use of what `hard` names. */
export function addUsed(
  writer: Writer,
  namespace: string,
  quota: JsonObject,
  hard: Amounts,
  used: Map<string, Quantity>,
  resources: readonly ServedResource[],
): void {
  for (const resource of resources) {
    for (const [key, amount] of writer.quotaSums.of(resource, namespace, quota, hard)) {
      used.set(key, addQuantities(used.get(key) ?? zero, amount));
    }
  }
}

export function writeStatus(writer: Writer, live: Live, draft: Draft): boolean {
  trackStatus(writer, live, draft);
  return writer.replace(writer.quotas, live, draft, false) !== undefined;
}

export function withStatus(live: Live, used: Amounts): Draft {
  const draft: Draft = { ...live.object };
  const status = ownChild(draft, "status");
  const { hard } = (live.object["spec"] ?? {}) as JsonObject;
  if (hard !== undefined) status["hard"] = hard;
  if (!isShown(status["used"] as Shown | undefined, used)) status["used"] = shownInOrder(live.object, used);
  return draft;
}

export function trackStatus(writer: Writer, live: Live, draft: Draft): void {
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

/** The names of what a quota limits, in order: by the table that its versions share. */
const orders = new WeakMap<Amounts, readonly string[]>();

function shownInOrder(quota: JsonObject, used: Amounts): Shown {
  const hard = hardOf(quota);
  let order = orders.get(hard);
  if (order === undefined) orders.set(hard, (order = [...hard.keys()].sort(compareBytes)));
  const shown: Record<string, string> = {};
  for (const key of order) shown[key] = formatQuantity(used.get(key) ?? zero);
  return shown;
}

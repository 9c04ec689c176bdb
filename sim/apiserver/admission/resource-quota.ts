/**
 * Resource quotas: how many objects a namespace may hold, and how much its pods may ask for.
 *
 * A creation is judged by what a quota's status says is used; whoever creates or deletes has the status counted anew in
 * the same event. A dry run is judged alike and consumes nothing.
 *
 * Simplification: in the real cluster a controller counts, some time after a deletion.
 * Source: document 1, Dry-run 3; the published admission plugin and evaluators.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from "../../../wire/quantity.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import { forbidden } from "../errors.ts";
import type { JsonObject } from "../http-message.ts";
import { type Draft, metadataOf, ownChild } from "../objects/types.ts";
import type { ServedResource } from "../served-resources.ts";
import type { Live, Writer } from "../writes/writer.ts";

/** Amounts by their names in a quota's `hard`. */
type Amounts = ReadonlyMap<string, Quantity>;

const zero = parseQuantity("0") as Quantity;
const one = parseQuantity("1") as Quantity;

/** Throws 403 when a quota of the namespace has no room for `object`. Returns whether there are quotas at all. */
export function requireQuota(writer: Writer, resource: ServedResource, object: Draft, dryRun: boolean): boolean {
  const { namespace = "", name = "" } = metadataOf(object);
  if (namespace === "" || !writer.quotaNamespaces.has(namespace)) return false;
  const quotas = quotasOf(writer, namespace);
  for (const live of quotas) {
    const quota = live.object;
    const hard = amountsOf(quota, "spec");
    const requested = usageOf(resource, object as JsonObject, quota, hard);
    if (requested.size === 0) continue;
    const refuse = (why: string): Error => forbidden(resource.name, name, why);
    const { name: quotaName = "" } = metadataOf(quota);
    const missing = isPods(resource) ? unstated(object as JsonObject, requested) : "";
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
    if (dryRun && writer.context.faults["dry-run-consumes-quota"]) consume(writer, live, used, requested);
  }
  return quotas.length > 0;
}

/** Counts anew what the quotas of a namespace have to say, after something came or went. */
export function refreshQuotas(writer: Writer, namespace: string): void {
  if (namespace === "") return;
  for (const live of quotasOf(writer, namespace)) {
    const hard = amountsOf(live.object, "spec");
    const used = new Map<string, Quantity>([...hard.keys()].map((key) => [key, zero]));
    for (const resource of writer.resources.all()) {
      if (resource.view !== undefined || !resource.row.namespaced || !mayCount(resource, hard)) continue;
      for (const { object } of writer.all(resource, namespace)) {
        if (hasEnded(resource, object)) continue;
        for (const [key, amount] of usageOf(resource, object, live.object, hard)) {
          used.set(key, addQuantities(used.get(key) ?? zero, amount));
        }
      }
    }
    writeStatus(writer, live, used);
  }
}

function quotasOf(writer: Writer, namespace: string): readonly Live[] {
  return writer.all(writer.quotas, namespace);
}

function amountsOf(quota: JsonObject, part: "spec" | "status", field = "hard"): Amounts {
  const hard = ((quota[part] as JsonObject | undefined)?.[field] ?? {}) as Readonly<Record<string, string>>;
  const amounts = new Map<string, Quantity>();
  for (const [key, text] of Object.entries(hard)) {
    const quantity = parseQuantity(String(text));
    if (!("error" in quantity)) amounts.set(key, quantity as Quantity);
  }
  return amounts;
}

/** A fault: what nobody made is counted. */
function consume(writer: Writer, live: Live, used: Amounts, requested: Amounts): void {
  const sum = new Map(used);
  for (const [key, amount] of requested) sum.set(key, addQuantities(used.get(key) ?? zero, amount));
  writeStatus(writer, live, sum);
}

function writeStatus(writer: Writer, live: Live, used: Amounts): void {
  const draft: Draft = { ...live.object };
  const status = ownChild(draft, "status");
  const { hard } = (live.object["spec"] ?? {}) as JsonObject;
  if (hard !== undefined) status["hard"] = hard;
  status["used"] = Object.fromEntries(
    [...used]
      .sort(([left], [right]) => compareBytes(left, right))
      .map(([key, amount]) => [key, formatQuantity(amount)]),
  );
  writer.replace(writer.quotas, live, draft, false);
}

const isPods = ({ row }: ServedResource): boolean => row.group === "" && row.resource === "pods";

/** Resources of the core group that a quota counts by their bare names. */
const countedBare = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
]);

const podAmounts = /^(?:(?:requests|limits)\.)?(cpu|memory|ephemeral-storage)$/;

/** Whether objects of the resource can use any of `hard`. */
function mayCount(resource: ServedResource, hard: Amounts): boolean {
  const { resource: plural, group } = resource.name;
  for (const key of hard.keys()) {
    if (key === countKey(resource)) return true;
    if (group !== "") continue;
    if (key === plural || (plural === "services" && key.startsWith("services."))) return true;
    if (plural === "pods" && podAmounts.test(key)) return true;
  }
  return false;
}

function countKey({ name }: ServedResource): string {
  return name.group === "" ? `count/${name.resource}` : `count/${name.resource}.${name.group}`;
}

/** What an object uses of what the quota limits. */
function usageOf(resource: ServedResource, object: JsonObject, quota: JsonObject, hard: Amounts): Amounts {
  const used = new Map<string, Quantity>();
  if (!mayCount(resource, hard) || !inScope(resource, object, quota)) return used;
  const { resource: plural, group } = resource.name;
  for (const key of hard.keys()) {
    if (key === countKey(resource) || (group === "" && key === plural && countedBare.has(plural))) used.set(key, one);
    else if (group === "" && plural === "services" && key.startsWith("services.")) {
      const amount = serviceAmount(object, key);
      if (amount !== undefined) used.set(key, amount);
    } else if (isPods(resource) && podAmounts.test(key)) used.set(key, podAmount(object, key));
  }
  return used;
}

function serviceAmount(object: JsonObject, key: string): Quantity | undefined {
  const { type, ports = [], allocateLoadBalancerNodePorts } = (object["spec"] ?? {}) as JsonObject;
  if (key === "services.loadbalancers") return type === "LoadBalancer" ? one : zero;
  if (key !== "services.nodeports") return undefined;
  const has = type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
  return has ? (parseQuantity(String((ports as readonly unknown[]).length)) as Quantity) : zero;
}

/** `cpu` and `requests.cpu` are the same; an unstated request is none. */
function containerAmount(container: JsonObject, key: string): Quantity | undefined {
  const [kind, name] = key.includes(".") ? (key.split(".") as [string, string]) : ["requests", key];
  const resources = (container["resources"] ?? {}) as JsonObject;
  const text = (resources[kind] as JsonObject | undefined)?.[name];
  const quantity = text === undefined ? undefined : parseQuantity(String(text));
  return quantity === undefined || "error" in quantity ? undefined : (quantity as Quantity);
}

/** Containers run side by side, the initial ones one after the other before them; those that stay count with both. */
function podAmount(pod: JsonObject, key: string): Quantity {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const list = (field: string): readonly JsonObject[] => (spec[field] ?? []) as readonly JsonObject[];
  let staying = zero;
  let peak = zero;
  for (const container of list("initContainers")) {
    const amount = containerAmount(container, key) ?? zero;
    if (container["restartPolicy"] === "Always") staying = addQuantities(staying, amount);
    const now = container["restartPolicy"] === "Always" ? staying : addQuantities(staying, amount);
    if (compareQuantities(now, peak) > 0) peak = now;
  }
  const running = list("containers").reduce(
    (sum, container) => addQuantities(sum, containerAmount(container, key) ?? zero),
    staying,
  );
  return compareQuantities(running, peak) > 0 ? running : peak;
}

/** The amounts that the quota limits and containers leave open: `limits.cpu for: a,b; …`. */
function unstated(pod: JsonObject, requested: Amounts): string {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const containers = [
    ...((spec["containers"] ?? []) as JsonObject[]),
    ...((spec["initContainers"] ?? []) as JsonObject[]),
  ];
  return [...requested.keys()]
    .filter((key) => podAmounts.test(key))
    .sort(compareBytes)
    .flatMap((key) => {
      const names = containers
        .filter((one_) => containerAmount(one_, key) === undefined)
        .map(({ name }) => String(name));
      return names.length === 0 ? [] : [`${key} for: ${names.sort(compareBytes).join(",")}`];
    })
    .join("; ");
}

/** A pod that has ended uses nothing. */
function hasEnded(resource: ServedResource, object: JsonObject): boolean {
  if (!isPods(resource)) return false;
  const phase = (object["status"] as JsonObject | undefined)?.["phase"];
  return phase === "Succeeded" || phase === "Failed";
}

type Selector = { readonly scopeName: string; readonly operator: string; readonly values?: readonly string[] };

/** Scopes narrow a quota to some pods; it then counts nothing else. */
function inScope(resource: ServedResource, object: JsonObject, quota: JsonObject): boolean {
  const { scopes = [], scopeSelector } = (quota["spec"] ?? {}) as JsonObject;
  const expressions = ((scopeSelector as JsonObject | undefined)?.["matchExpressions"] ?? []) as unknown as Selector[];
  const wanted: Selector[] = [
    ...(scopes as readonly string[]).map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...expressions,
  ];
  return wanted.length === 0 || (isPods(resource) && wanted.every((selector) => podInScope(object, selector)));
}

function podInScope(pod: JsonObject, { scopeName, operator, values = [] }: Selector): boolean {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const ends = ((spec["activeDeadlineSeconds"] ?? -1) as number) >= 0;
  const bestEffort = (): boolean =>
    [...podAmountNames].every((key) => compareQuantities(podAmount(pod, key), zero) === 0);
  switch (scopeName) {
    case "Terminating":
      return ends;
    case "NotTerminating":
      return !ends;
    case "BestEffort":
      return bestEffort();
    case "NotBestEffort":
      return !bestEffort();
    case "PriorityClass": {
      const name = (spec["priorityClassName"] ?? "") as string;
      if (operator === "In") return values.includes(name);
      if (operator === "NotIn") return !values.includes(name);
      return (name !== "") === (operator === "Exists");
    }
    default:
      return hasForeignAffinity(spec);
  }
}

const podAmountNames = ["requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/** CrossNamespacePodAffinity: a pod that looks for company in other namespaces. */
function hasForeignAffinity(spec: JsonObject): boolean {
  const affinity = (spec["affinity"] ?? {}) as JsonObject;
  return ["podAffinity", "podAntiAffinity"].some((kind) => {
    const terms = (affinity[kind] ?? {}) as Readonly<Record<string, readonly JsonObject[]>>;
    return Object.values(terms).some((list) =>
      list.some((term) => {
        const { namespaces = [], namespaceSelector } = (term["podAffinityTerm"] ?? term) as JsonObject;
        return (namespaces as readonly string[]).length > 0 || namespaceSelector !== undefined;
      }),
    );
  });
}

/**
 * How much of what a quota limits one object uses: one of its kind, what a pod asks for, a service's ports, a claim's
 * storage. Source: the published evaluators.
 */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../wire/quantity.ts";
import { groupInDialect } from "../../../wire/dialect.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { countedBare } from "../../kinds/core/resource-quota.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";

/** Amounts by their names in a quota's `hard`. */
export type Amounts = ReadonlyMap<string, Quantity>;

export const zero = parseQuantity("0") as Quantity;
const one = parseQuantity("1") as Quantity;

export const isPods = ({ row }: ServedResource): boolean => row.group === "" && row.resource === "pods";

/** What containers ask for: computing, huge pages, and devices, which have a domain. */
const podAmounts =
  /^(?:(?:(?:requests|limits)\.)?(?:cpu|memory|ephemeral-storage)|(?:requests\.)?hugepages-.+|requests\.[^/]+\/.+)$/;
/** Amounts that every container has to state where a quota limits them. */
const statedAmounts = /^(?:(?:requests|limits)\.)?(?:cpu|memory)$/;

const isClaims = ({ row }: ServedResource): boolean => row.group === "" && row.resource === "persistentvolumeclaims";

/** Whether objects of the resource can use any of `hard`. */
export function mayCount(resource: ServedResource, hard: Amounts): boolean {
  for (const key of hard.keys()) if (counts(resource, key)) return true;
  return false;
}

function counts(resource: ServedResource, key: string): boolean {
  const { resource: plural, group } = resource.name;
  if (key === countKey(resource)) return true;
  if (group !== "") return false;
  if (key === plural) return countedBare.has(plural);
  if (isPods(resource)) return podAmounts.test(key);
  if (isClaims(resource)) return key === "requests.storage" || key.includes(storageClassKey(resource));
  return plural === "services" && key.startsWith("services.");
}

function countKey({ name }: ServedResource): string {
  return name.group === "" ? `count/${name.resource}` : `count/${name.resource}.${name.group}`;
}

/** What an object uses of what the quota limits. */
export function usageOf(resource: ServedResource, object: JsonObject, quota: JsonObject, hard: Amounts): Amounts {
  const used = new Map<string, Quantity>();
  if (!mayCount(resource, hard) || !inScope(resource, object, quota)) return used;
  for (const key of hard.keys()) {
    const amount = counts(resource, key) ? amountOf(resource, object, key) : undefined;
    if (amount !== undefined) used.set(key, amount);
  }
  return used;
}

function amountOf(resource: ServedResource, object: JsonObject, key: string): Quantity | undefined {
  if (key === countKey(resource) || key === resource.name.resource) return one;
  if (isPods(resource)) return podAmount(object, key);
  return isClaims(resource) ? claimAmount(resource, object, key) : serviceAmount(object, key);
}

/** Between the name of a storage class and what is limited for its claims. */
const storageClassKey = ({ target }: ServedResource): string =>
  `.storageclass.${groupInDialect(target.dialect, "storage.svc.io")}/`;

function claimAmount(resource: ServedResource, claim: JsonObject, key: string): Quantity | undefined {
  const { storageClassName, resources } = (claim["spec"] ?? {}) as JsonObject;
  const legacy = metadataOf(claim).annotations?.[`volume.beta.${resource.target.dialect.labelSuffix}/storage-class`];
  const prefix = `${legacy ?? String(storageClassName ?? "")}${storageClassKey(resource)}`;
  const rest = key.startsWith(prefix) ? key.slice(prefix.length) : key;
  if (rest === "persistentvolumeclaims") return one;
  if (rest !== "requests.storage") return undefined;
  const text = ((resources as JsonObject | undefined)?.["requests"] as JsonObject | undefined)?.["storage"];
  const quantity = parseQuantity(String(text ?? "0"));
  return "error" in quantity ? undefined : (quantity as Quantity);
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
  const [, kind = "requests", name = key] = /^(requests|limits)\.(.+)$/.exec(key) ?? [];
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
export function unstated(pod: JsonObject, requested: Amounts): string {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const containers = [
    ...((spec["containers"] ?? []) as JsonObject[]),
    ...((spec["initContainers"] ?? []) as JsonObject[]),
  ];
  return [...requested.keys()]
    .filter((key) => statedAmounts.test(key))
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
export function hasEnded(resource: ServedResource, object: JsonObject): boolean {
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

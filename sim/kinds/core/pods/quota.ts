/** What quotas count of pods: what their containers ask for. Source: the published evaluator. */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../../wire/quantity.ts";
import { compareBytes } from "../../../../wire/go-strings.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { type Amounts, noQuantity as zero, type QuotaUse, type ScopeSelector } from "../../../objects/quota-use.ts";

export const podQuota: QuotaUse = {
  counts: (key) => podAmounts.test(key),
  amountOf: podAmount,
  hasEnded,
  isInScope,
  unstated,
};

/** What containers ask for: computing, huge pages, and devices, which have a domain. */
const podAmounts =
  /^(?:(?:(?:requests|limits)\.)?(?:cpu|memory|ephemeral-storage)|(?:requests\.)?hugepages-.+|requests\.[^/]+\/.+)$/;
/** Amounts that every container has to state where a quota limits them. */
const statedAmounts = /^(?:(?:requests|limits)\.)?(?:cpu|memory)$/;

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
function unstated(pod: JsonObject, requested: Amounts): string {
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
function hasEnded(pod: JsonObject): boolean {
  const phase = (pod["status"] as JsonObject | undefined)?.["phase"];
  return phase === "Succeeded" || phase === "Failed";
}

function isInScope(pod: JsonObject, { scopeName, operator, values = [] }: ScopeSelector): boolean {
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

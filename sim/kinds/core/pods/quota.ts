/** What quotas count of pods: what their containers ask for. Source: the published evaluator. */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../../wire/quantity.ts";
import { compareBytes } from "../../../../wire/go-strings.ts";
import { toldCharactersMax } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import {
  type Amounts,
  noQuantity as zero,
  type ObjectUse,
  type QuotaUse,
  type ScopeSelector,
  type ScopeTraits,
} from "../../../objects/quota-use.ts";

export const podQuota: QuotaUse = {
  counts: (key) => podAmounts.test(key),
  useOf,
  hasEnded,
  isInScope,
  unstated,
};

/** What containers ask for: computing, huge pages, and devices, which have a domain. */
const podAmounts =
  /^(?:(?:(?:requests|limits)\.)?(?:cpu|memory|ephemeral-storage)|(?:requests\.)?hugepages-.+|requests\.[^/]+\/.+)$/;
/** Amounts that every container has to state where a quota limits them, in the order in which they are told. */
const statedAmounts = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"] as const;

type Table = Readonly<Record<string, unknown>> | undefined;

const tableOf = (container: JsonObject, kind: string): Table =>
  ((container["resources"] ?? {}) as JsonObject)[kind] as Table;

function amountIn(table: Table, name: string): Quantity | undefined {
  const text = table?.[name];
  const quantity = text === undefined ? undefined : parseQuantity(String(text));
  return quantity === undefined || "error" in quantity ? undefined : (quantity as Quantity);
}

/** By specs that nobody changes any more: versions of a pod share theirs. */
const uses = new WeakMap<object, ObjectUse>();

function useOf(pod: JsonObject): ObjectUse {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  let use = uses.get(spec);
  if (use !== undefined) return use;
  const amounts = amountsOf(spec);
  use = { amounts, traits: traitsOf(spec, amounts) };
  if (Object.isFrozen(spec)) uses.set(spec, use);
  return use;
}

/** What a pod asks for, under each name that a quota may limit it by. One walk over its containers, whatever the quotas. */
function amountsOf(spec: JsonObject): Amounts {
  const amounts = new Map<string, Quantity>();
  for (const [key, amount] of needsOf(spec)) {
    if (podAmounts.test(key)) amounts.set(key, amount);
    const bare = key.startsWith(requests) ? key.slice(requests.length) : undefined;
    if (bare !== undefined && podAmounts.test(bare) && !/^(?:requests|limits)\../.test(bare)) amounts.set(bare, amount);
  }
  return amounts;
}

const requests = "requests.";

/** Of one amount: what stays asked for by initial containers that go on, the most at a time, and what runs side by side at last. */
interface Need {
  staying: Quantity;
  peak: Quantity;
  running: Quantity;
}

/** Containers run side by side, the initial ones one after the other before them; those that stay count with both. */
function* needsOf(spec: JsonObject): Generator<readonly [key: string, amount: Quantity]> {
  const needs = new Map<string, Need>();
  for (const container of (spec["initContainers"] ?? []) as readonly JsonObject[]) {
    const stays = container["restartPolicy"] === "Always";
    eachAmount(container, needs, (need, amount) => {
      const now = addQuantities(need.staying, amount);
      if (stays) need.staying = now;
      if (compareQuantities(now, need.peak) > 0) need.peak = now;
    });
  }
  for (const need of needs.values()) need.running = need.staying;
  for (const container of (spec["containers"] ?? []) as readonly JsonObject[]) {
    eachAmount(container, needs, (need, amount) => {
      need.running = addQuantities(need.running, amount);
    });
  }
  for (const [key, { running, peak }] of needs) yield [key, compareQuantities(running, peak) > 0 ? running : peak];
}

function eachAmount(
  container: JsonObject,
  needs: Map<string, Need>,
  take: (need: Need, amount: Quantity) => void,
): void {
  for (const kind of ["requests", "limits"]) {
    const table = tableOf(container, kind) ?? noTable;
    for (const name of Object.keys(table)) {
      const amount = amountIn(table, name);
      if (amount === undefined) continue;
      const key = `${kind}.${name}`;
      let need = needs.get(key);
      if (need === undefined) needs.set(key, (need = { staying: zero, peak: zero, running: zero }));
      take(need, amount);
    }
  }
}

const noTable = {};

/** The amounts that a quota limits and containers leave open: `limits.cpu for: a,b; …`. Looked for once, whatever the quotas. */
function unstated(pod: JsonObject): (hard: Amounts) => string {
  const texts = new Map<string, string>();
  const textOf = (key: string): string => {
    let text = texts.get(key);
    if (text === undefined) texts.set(key, (text = unstatedNames(pod, key)));
    return text;
  };
  return (hard) => {
    let left = toldCharactersMax;
    const parts: string[] = [];
    for (const key of statedAmounts) {
      const names = hard.has(key) ? namesWithin(textOf(key), left) : "";
      left -= names.length;
      if (names !== "") parts.push(`${key} for: ${names}`);
    }
    return parts.join("; ");
  };
}

/** As many whole names as may be told. */
const namesWithin = (names: string, charactersMax: number): string =>
  names.length <= charactersMax ? names : names.slice(0, Math.max(0, names.lastIndexOf(",", charactersMax)));

/** The containers that do not state one amount. `cpu` and `requests.cpu` are the same. */
function unstatedNames(pod: JsonObject, key: string): string {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const [kind = "", name = ""] = key.includes(".") ? key.split(".") : ["requests", key];
  const names: string[] = [];
  for (const list of ["containers", "initContainers"]) {
    for (const container of (spec[list] ?? []) as readonly JsonObject[]) {
      if (amountIn(tableOf(container, kind), name) === undefined) names.push(String(container["name"]));
    }
  }
  return names.sort(compareBytes).join(",");
}

/** A pod that has ended uses nothing. */
function hasEnded(pod: JsonObject): boolean {
  const phase = (pod["status"] as JsonObject | undefined)?.["phase"];
  return phase === "Succeeded" || phase === "Failed";
}

const traitsOf = (spec: JsonObject, amounts: Amounts): ScopeTraits => ({
  ends: ((spec["activeDeadlineSeconds"] ?? -1) as number) >= 0,
  bestEffort: computingNames.every((key) => compareQuantities(amounts.get(key) ?? zero, zero) === 0),
  foreignAffinity: hasForeignAffinity(spec),
  priorityClass: (spec["priorityClassName"] ?? "") as string,
});

const computingNames = ["requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

function isInScope(
  { ends, bestEffort, foreignAffinity, priorityClass }: ScopeTraits,
  { scopeName, operator, values = [] }: ScopeSelector,
): boolean {
  switch (scopeName) {
    case "Terminating":
      return ends;
    case "NotTerminating":
      return !ends;
    case "BestEffort":
      return bestEffort;
    case "NotBestEffort":
      return !bestEffort;
    case "PriorityClass":
      if (operator === "In") return includes(values, priorityClass);
      if (operator === "NotIn") return !includes(values, priorityClass);
      return (priorityClass !== "") === (operator === "Exists");
    default:
      return foreignAffinity;
  }
}

const fewValues = 16;
/** Long lists of stored quotas. */
const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>();

function includes(values: readonly string[], value: string): boolean {
  if (values.length <= fewValues || !Object.isFrozen(values)) return values.includes(value);
  let set = valueSets.get(values);
  if (set === undefined) valueSets.set(values, (set = new Set(values)));
  return set.has(value);
}

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

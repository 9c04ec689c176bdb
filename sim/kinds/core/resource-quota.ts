/**
 * Resource quotas: names of what is limited, amounts, scopes. Source: the published validation. What a quota refuses
 * is judged in `admission/resource-quota.ts`.
 */
import { qualifiedNameErrors } from "../../../wire/names.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import { canonicalQuantity, formatQuantity, parseQuantity, type Quantity, quantityAt } from "../../../wire/quantity.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { goStrings, invalidText, invalidValue, pushInvalid, requiredValue } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn, mapAt } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";

const resourceQuotaRules: KindRules = {
  validate(quota, causes) {
    const spec = (quota["spec"] ?? {}) as JsonObject;
    amountCauses(spec["hard"], "spec.hard", causes);
    scopeCauses(spec, causes);
    selectorCauses(spec, causes);
    const status = (quota["status"] ?? {}) as JsonObject;
    for (const field of ["hard", "used"]) amountCauses(status[field], `status.${field}`, causes);
  },
  validateUpdate(quota, live, causes) {
    const after = scopesOf((quota["spec"] ?? {}) as JsonObject);
    const before = scopesOf((live["spec"] ?? {}) as JsonObject);
    const [now, old] = [new Set(after), new Set(before)];
    const isSame = after.every((scope) => old.has(scope)) && before.every((scope) => now.has(scope));
    if (!isSame) causes.push(invalidText("spec.scopes", goStrings(after), "field is immutable"));
  },
};

/** Resources of the core group that a quota counts by their bare names. */
export const countedBare: ReadonlySet<string> = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
]);
const counted: ReadonlySet<string> = new Set([...countedBare, "services.loadbalancers", "services.nodeports"]);
const podCompute = new Set(["cpu", "memory"].flatMap((amount) => [amount, `requests.${amount}`, `limits.${amount}`]));
const stored = new Set([
  "ephemeral-storage",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.ephemeral-storage",
]);
const hugePages = /^(?:requests\.)?hugepages-/;

/** A resource that the server knows without a domain before it. */
export const isStandardResource = (name: string): boolean =>
  counted.has(name) || podCompute.has(name) || stored.has(name) || hugePages.test(name);

/** Whole numbers alone: objects, and devices of somebody's domain. */
function isCount(name: string): boolean {
  if (counted.has(name)) return true;
  return name.includes("/") && !name.startsWith("requests.") && !/(?:^|\.)(?:kubernetes|svc)\.io\//.test(name);
}

function amountCauses(amounts: JsonObject[string] | undefined, path: string, causes: Cause[]): void {
  const table = (amounts ?? {}) as Readonly<Record<string, string>>;
  if (soundTables.has(table)) return;
  const names = Object.keys(table).filter((name) => !isSound(name, table[name]));
  if (names.length === 0 && Object.isFrozen(table)) soundTables.add(table);
  for (const name of names.sort(compareBytes)) {
    const at = `${path}[${name}]`;
    pushInvalid(at, name, qualifiedNameErrors(name), causes);
    if (!name.includes("/") && !isStandardResource(name)) {
      if (name !== "storage") {
        causes.push(invalidValue(at, name, "must be a standard resource type or fully qualified"));
      }
      causes.push(invalidValue(at, name, "must be a standard resource for quota"));
    }
    const text = String(table[name]);
    const quantity = parseQuantity(text);
    if ("error" in quantity) continue; // the decoder has refused it already
    quantityCauses(name, quantity, at, causes);
  }
}

/** Frozen, and nothing was to be said of them: an update brings most of them again. */
const soundTables = new WeakSet<object>();

/** Whether nothing is to be said of an amount: of nearly all, found without any text being made. */
function isSound(name: string, text: unknown): boolean {
  if (!name.includes("/") && !isStandardResource(name)) return false;
  const quantity = parseQuantity(String(text));
  if ("error" in quantity || quantity.digits < 0n || (quantity.scale < 0 && isCount(name))) return false;
  return qualifiedNameErrors(name).length === 0;
}

/** Of some resource: not below zero, and whole where parts of it mean nothing. */
export function quantityCauses(name: string, quantity: Quantity, path: string, causes: Cause[]): void {
  if (quantity.digits < 0n) {
    causes.push(invalidValue(path, formatQuantity(quantity), "must be greater than or equal to 0"));
  }
  if (isCount(name) && !isWhole(quantity)) causes.push(invalidText(path, goQuantity(quantity), "must be an integer"));
}

/** A broken amount as the real server prints it: the fields of its number. */
export function goQuantity(quantity: Quantity): string {
  const number = `resource.int64Amount{value:${quantityAt(quantity, -3)}, scale:-3}`;
  const text = canonicalQuantity(quantity);
  return `resource.Quantity{i:${number}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${text}", Format:"DecimalSI"}`;
}

const billionth = -9;
const isWhole = (quantity: Quantity): boolean => quantityAt(quantity, billionth) % 1_000_000_000n === 0n;

/** A scope, and which of the standard names it may narrow: those about pods. */
const narrows: Readonly<Record<string, (name: string) => boolean>> = {
  Terminating: isAboutPods,
  NotTerminating: isAboutPods,
  BestEffort: (name) => name === "pods",
  NotBestEffort: isAboutPods,
  PriorityClass: isAboutPods,
  CrossNamespacePodAffinity: isAboutPods,
};
const opposites = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

function isAboutPods(name: string): boolean {
  return name === "pods" || podCompute.has(name);
}

const scopesOf = (spec: JsonObject): readonly string[] => (spec["scopes"] ?? []) as readonly string[];

function scopeCauses(spec: JsonObject, causes: Cause[]): void {
  const scopes = scopesOf(spec);
  const shown = goStrings(scopes);
  const because = (why: string): Cause => invalidText("spec.scopes", shown, why);
  const countOf = misplacedIn(spec);
  for (const scope of scopes) {
    if (!Object.hasOwn(narrows, scope)) tell(because("unsupported scope"), 1, causes);
    tell(because("unsupported scope applied to resource"), countOf(scope), causes);
  }
  for (const pair of opposites) {
    if (pair.every((scope) => scopes.includes(scope))) tell(because("conflicting scopes"), 1, causes);
  }
}

/** Every scope can be wrong for every name; beyond so many nothing is told. */
const causesMax = 10_000;

/** `count` times the same. */
function tell(cause: Cause, count: number, causes: Cause[]): void {
  for (let left = count; left > 0 && causes.length < causesMax; left--) causes.push(cause);
}

/** How many of the limited names a scope cannot narrow. */
function misplacedIn(spec: JsonObject): (scope: string) => number {
  const counts = new Map<string, number>();
  let names: readonly string[] | undefined; // most quotas have no scopes
  return (scope) => {
    let count = counts.get(scope);
    if (count !== undefined) return count;
    names ??= Object.keys((spec["hard"] ?? {}) as JsonObject).filter(isStandardResource);
    const fits = Object.hasOwn(narrows, scope) ? narrows[scope] : undefined;
    count = fits === undefined ? names.length : names.filter((name) => !fits(name)).length;
    if (fits !== undefined) counts.set(scope, count);
    return count;
  };
}

const needsValues: Readonly<Record<string, boolean>> = { In: true, NotIn: true, Exists: false, DoesNotExist: false };

function selectorCauses(spec: JsonObject, causes: Cause[]): void {
  const selector = (spec["scopeSelector"] ?? {}) as JsonObject;
  const expressions = (selector["matchExpressions"] ?? []) as readonly JsonObject[];
  const path = "spec.scopeSelector.matchExpressions";
  const seen = new Set<string>();
  const countOf = misplacedIn(spec);
  for (const { scopeName = "", operator = "", values = [] } of expressions as readonly Expression[]) {
    seen.add(scopeName);
    if (!Object.hasOwn(narrows, scopeName))
      causes.push(invalidValue(`${path}.scopeName`, scopeName, "unsupported scope"));
    tell(invalidValue(path, scopeName, "unsupported scope applied to resource"), countOf(scopeName), causes);
    if (Object.hasOwn(narrows, scopeName) && scopeName !== "PriorityClass" && operator !== "Exists") {
      causes.push(invalidValue(`${path}.operator`, operator, existsText));
    }
    const needs = Object.hasOwn(needsValues, operator) ? needsValues[operator] : undefined;
    if (needs === undefined) causes.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
    else if (needs && values.length === 0) {
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      causes.push(requiredValue(`${path}.values`, detail));
    } else if (!needs && values.length > 0) {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      causes.push(invalidText(`${path}.values`, goStrings(values), detail));
    }
  }
  for (const pair of opposites) {
    if (pair.every((scope) => seen.has(scope))) {
      causes.push(invalidText(path, goStrings(scopesOf(spec)), "conflicting scopes"));
    }
  }
}

const existsText =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

interface Expression {
  readonly scopeName?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

export const resourceQuotaKind: KindRow = {
  resource: "/resourcequotas",
  returnsDeleted: true,
  rules: resourceQuotaRules,
  columns: printer(
    nameColumn,
    column("Request", "Used and allowed.", (it) => quotas(it, false)),
    column("Limit", "Used and allowed, of what pods are limited to.", (it) => quotas(it, true)),
    ageColumn,
  ),
};

function quotas(quota: JsonObject, limits: boolean): string {
  const hard = mapAt(quota, "status.hard");
  const used = mapAt(quota, "status.used");
  return Object.keys(hard)
    .filter((resource) => resource.startsWith("limits.") === limits)
    .sort()
    .map((resource) => `${resource}: ${String(used[resource] ?? "0")}/${String(hard[resource])}`)
    .join(", ");
}

/**
 * How much of what a quota limits one object uses: one of its kind, and what its kind says that it uses beside.
 * Source: the published evaluators.
 */
import type { Quantity } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { countedBare } from "../../kinds/core/resource-quota.ts";
import { type Amounts, oneQuantity, type ScopeSelector } from "../../objects/quota-use.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";

/** Whether objects of the resource can use any of `hard`. */
export function mayCount(resource: ServedResource, hard: Amounts): boolean {
  const { resource: plural, group } = resource.name;
  if (hard.has(countKey(resource))) return true;
  if (group === "" && countedBare.has(plural) && hard.has(plural)) return true;
  if (resource.strategy.quota?.counts === undefined) return false; // most kinds: no need to look at each key
  for (const key of hard.keys()) if (counts(resource, key)) return true;
  return false;
}

function counts(resource: ServedResource, key: string): boolean {
  const { resource: plural, group } = resource.name;
  if (key === countKey(resource)) return true;
  if (group === "" && key === plural) return countedBare.has(plural);
  return resource.strategy.quota?.counts?.(key, resource.target.dialect) ?? false;
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
  if (key === countKey(resource) || key === resource.name.resource) return oneQuantity;
  return resource.strategy.quota?.amountOf?.(object, key, resource.target.dialect);
}

/** Scopes narrow a quota to some objects; it then counts nothing else. */
function inScope({ strategy }: ServedResource, object: JsonObject, quota: JsonObject): boolean {
  const { scopes = [], scopeSelector } = (quota["spec"] ?? {}) as JsonObject;
  const expressions = ((scopeSelector as JsonObject | undefined)?.["matchExpressions"] ??
    []) as unknown as ScopeSelector[];
  const wanted: ScopeSelector[] = [
    ...(scopes as readonly string[]).map((scopeName) => ({ scopeName, operator: "Exists" })),
    ...expressions,
  ];
  return wanted.every((selector) => strategy.quota?.isInScope?.(object, selector) ?? false);
}

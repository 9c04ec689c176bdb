/**
 * How much of what a quota limits one object uses: one of its kind, and what its kind says that it uses beside.
 * Source: the published evaluators.
 */
import type { Quantity } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { countedBare } from "../../kinds/core/resource-quota.ts";
import {
  type Amounts,
  type ObjectUse,
  oneQuantity,
  type ScopeSelector,
  type ScopeTraits,
} from "../../objects/quota-use.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";

/** Whether objects of the resource can use any of `hard`. */
export function mayCount(resource: ServedResource, hard: Amounts): boolean {
  if (countNames(resource).some((name) => hard.has(name))) return true;
  const { quota } = resource.strategy;
  if (quota?.counts === undefined) return false; // most kinds: no need to look at each key
  for (const key of hard.keys()) if (quota.counts(key, resource.target.dialect)) return true;
  return false;
}

/** The names by which a quota limits how many objects there are. */
export function countNames({ name: { group, resource: plural } }: ServedResource): readonly string[] {
  if (group !== "") return [`count/${plural}.${group}`];
  return countedBare.has(plural) ? [`count/${plural}`, plural] : [`count/${plural}`];
}

/** What one object uses, whatever the quotas. */
export function useOf({ strategy: { quota }, target }: ServedResource, object: JsonObject): ObjectUse {
  return quota?.useOf?.(object, target.dialect) ?? noUse;
}

/** Of what is counted and nothing else. */
export const noUse: ObjectUse = { traits: undefined, amounts: new Map() };

/** What an object uses of what the quota limits; what it uses nothing of may be left out. */
export function usageOf(
  resource: ServedResource,
  object: JsonObject,
  quota: JsonObject,
  hard: Amounts,
  use: ObjectUse = useOf(resource, object),
): Amounts {
  const used = new Map<string, Quantity>();
  if (!isInScope(resource, use.traits, quota)) return used;
  for (const name of countNames(resource)) if (hard.has(name)) used.set(name, oneQuantity);
  for (const key of sharedKeys(use.amounts, hard)) used.set(key, use.amounts.get(key) as Quantity);
  return used;
}

/** The keys that two tables have in common: as many are looked at as the smaller one has. */
export function* sharedKeys(
  left: ReadonlyMap<string, unknown>,
  right: ReadonlyMap<string, unknown>,
): Generator<string, void> {
  const [few, many] = left.size <= right.size ? [left, right] : [right, left];
  for (const key of few.keys()) if (many.has(key)) yield key;
}

/** Scopes narrow a quota to some objects; it then counts nothing else. */
export function isNarrowed(quota: JsonObject): boolean {
  const { scopes, scopeSelector } = (quota["spec"] ?? {}) as JsonObject;
  return scopes !== undefined || scopeSelector !== undefined;
}

/** Whether a quota is about objects of these traits. */
export function isInScope({ strategy }: ServedResource, traits: ScopeTraits | undefined, quota: JsonObject): boolean {
  if (!isNarrowed(quota)) return true;
  const { scopes, scopeSelector } = (quota["spec"] ?? {}) as JsonObject;
  const expressions = ((scopeSelector as JsonObject | undefined)?.["matchExpressions"] ??
    []) as unknown as ScopeSelector[];
  const holds = (selector: ScopeSelector): boolean =>
    traits !== undefined && (strategy.quota?.isInScope?.(traits, selector) ?? false);
  return (
    ((scopes ?? []) as readonly string[]).every((scopeName) => holds({ scopeName, operator: "Exists" })) &&
    expressions.every(holds)
  );
}

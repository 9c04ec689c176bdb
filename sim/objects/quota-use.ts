/** What quotas count of a kind's objects, beside their number. */
import type { Dialect } from "../../wire/dialect.ts";
import { parseQuantity, type Quantity } from "../../wire/quantity.ts";
import type { JsonObject } from "../contract/http-message.ts";

/** Amounts by their names in a quota's `hard`. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Of a quota: which of a kind's objects it is about. */
export interface ScopeSelector {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** What scopes ask of an object: the same for most objects of a namespace. */
export interface ScopeTraits {
  readonly ends: boolean;
  readonly bestEffort: boolean;
  readonly foreignAffinity: boolean;
  readonly priorityClass: string;
}

/** What one object uses, whatever the quotas. */
export interface ObjectUse {
  /** Undefined: no narrowed quota is about it. */
  readonly traits: ScopeTraits | undefined;
  /** Everything that it uses of amounts that `counts` names, beside being counted; what it uses nothing of may be left out. */
  readonly amounts: Amounts;
}

export interface QuotaUse {
  /** Whether objects may use an amount of this name, beside being counted. */
  counts?(key: string, dialect: Dialect): boolean;
  useOf?(object: JsonObject, dialect: Dialect): ObjectUse;
  /** An object that has ended uses nothing. */
  hasEnded?(object: JsonObject): boolean;
  /** Whether a narrowed quota is about an object of these traits. */
  isInScope?(traits: ScopeTraits, selector: ScopeSelector): boolean;
  /** Of an object: what it must state where a quota limits it, and does not; "" when nothing is missing. */
  unstated?(object: JsonObject): (hard: Amounts) => string;
  /** An update may use more than before. */
  readonly growsOnUpdate?: true;
  /** No quota counts the kind. */
  readonly isUncounted?: true;
}

export const noQuantity = parseQuantity("0") as Quantity;
export const oneQuantity = parseQuantity("1") as Quantity;

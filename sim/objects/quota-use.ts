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

export interface QuotaUse {
  /** Whether objects may use an amount of this name, beside being counted. */
  counts?(key: string, dialect: Dialect): boolean;
  /** How much of an amount that `counts` names one object uses; undefined for nothing at all. */
  amountOf?(object: JsonObject, key: string, dialect: Dialect): Quantity | undefined;
  /** An object that has ended uses nothing. */
  hasEnded?(object: JsonObject): boolean;
  /** Whether a narrowed quota is about this object. Without it, such a quota is not about the kind. */
  isInScope?(object: JsonObject, selector: ScopeSelector): boolean;
  /** What an object must state where a quota limits it, and does not; "" when nothing is missing. */
  unstated?(object: JsonObject, requested: Amounts): string;
  /** An update may use more than before. */
  readonly growsOnUpdate?: true;
  /** No quota counts the kind. */
  readonly isUncounted?: true;
}

export const noQuantity = parseQuantity("0") as Quantity;
export const oneQuantity = parseQuantity("1") as Quantity;

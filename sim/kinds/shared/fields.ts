/** Small judgements that many kinds share: enumerations, counts, lists that may be missing. */
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";

export const listOf = (parent: JsonObject, field: string): readonly JsonObject[] =>
  (parent[field] ?? none) as readonly JsonObject[];

const none: readonly JsonObject[] = Object.freeze([]);

/** Sets what is missing. For a field that is no pointer its zero is missing, too. */
export function fill(draft: Draft, field: string, value: string | number): void {
  const now = draft[field];
  if (now === undefined || now === "" || now === 0) draft[field] = value;
}

export function enumCauses(value: Json | undefined, supported: readonly string[], path: string, causes: Cause[]): void {
  if (value === undefined || value === "") causes.push(requiredValue(path));
  else if (!supported.includes(value as string)) causes.push(unsupportedValue(path, value, supported));
}

/** Says of one value after the other whether it has been there before. Lists are as long as clients make them. */
export function repetition(): (value: unknown) => boolean {
  const seen = new Set<unknown>();
  return (value) => seen.has(value) || !seen.add(value);
}

/**
 * The spec of a draft for defaulting; undefined when it has been defaulted already, for then it is frozen and `mark`,
 * a field that no defaulted spec lacks, is there. The spec of nothing is frozen, too, and lacks it.
 */
export function specToDefault(draft: Draft, mark: string): Draft | undefined {
  const { spec } = draft;
  if (isObject(spec) && Object.isFrozen(spec) && spec[mark] !== undefined) return undefined;
  return ownChild(draft, "spec");
}

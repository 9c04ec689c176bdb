/** Small judgements that many kinds share: enumerations, counts, lists that may be missing. */
import type { JsonObject } from "../../contract/http-message.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";

export const listOf = (parent: JsonObject, field: string): readonly JsonObject[] =>
  (parent[field] ?? none) as readonly JsonObject[];

const none: readonly JsonObject[] = Object.freeze([]);

/** Sets what is missing. For a field that is no pointer its zero is missing, too. */
export function fill(draft: Draft, field: string, value: string | number): void {
  const now = draft[field];
  if (now === undefined || now === "" || now === 0) draft[field] = value;
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

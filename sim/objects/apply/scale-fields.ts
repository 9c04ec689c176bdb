/**
 * Owners of `spec.replicas`, seen from a workload and from its scale: a write to the scale is tracked there and carried
 * back.
 * Source: the published server. Simplification: an owner by update whose replicas a write leaves alone keeps its entry;
 * the real server splits it in two.
 */
import { type FieldSet, leaf, makeNode, subtract } from "../field-set.ts";
import { compareEntries, setOf, withSet } from "../managed-fields.ts";
import type { ManagedFieldsEntry } from "../../contract/objects.ts";

type Entries = readonly ManagedFieldsEntry[];

const replicas = makeNode(false, ["f:spec"], [makeNode(false, ["f:replicas"], [leaf]) as FieldSet]) as FieldSet;

const ownsReplicas = (entry: ManagedFieldsEntry): boolean => setOf(entry)["f:spec"]?.["f:replicas"] !== undefined;

/** Who owns the replicas of a scale whose workload has `entries`. */
export function scaleEntries(entries: Entries, scaleVersion: string): Entries {
  return entries.filter(ownsReplicas).map((entry) => withSet({ ...entry, apiVersion: scaleVersion }, replicas));
}

/** The workload's entries after a write to its scale left `after` there. */
export function workloadEntries(entries: Entries, after: Entries, workloadVersion: string): Entries {
  const owners = new Map(after.filter(ownsReplicas).map((entry) => [identity(entry), entry]));
  const result: ManagedFieldsEntry[] = [];
  for (const entry of entries) {
    if (!ownsReplicas(entry) || owners.delete(identity(entry))) {
      result.push(entry);
      continue;
    }
    const rest = subtract(setOf(entry), replicas);
    if (rest !== undefined) result.push(withSet(entry, rest));
  }
  for (const { time: _, ...owner } of owners.values()) {
    result.push(withSet({ ...owner, apiVersion: workloadVersion }, replicas)); // new here, and without a time: observed
  }
  return result.sort(compareEntries);
}

const identity = ({ manager, operation, subresource = "" }: ManagedFieldsEntry): string =>
  JSON.stringify([manager, operation, subresource]);

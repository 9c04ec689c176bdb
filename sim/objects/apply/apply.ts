/**
 * Server-side apply: merges a configuration into the stored object, takes away what its manager no longer applies and
 * nobody else owns, and finds out with whom it disagrees.
 * Source: the facts, section 4, server-side apply; recorded answers (05-patch/apply-*); the published updater for the
 * order of its steps.
 */
import { type ApiError, badRequest, unmapped } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../equality.ts";
import { inTurns } from "../../expressions/pace.ts";
import { exclude, type FieldSet, intersect, leaf, makeNode, subtract, unite, uniteAll } from "../field-set.ts";
import {
  asLarge,
  compareEntries,
  Differences,
  ignoredFields,
  resetFields,
  setOf,
  type Tracked,
  type TrackOptions,
  withSet,
} from "../managed-fields.ts";
import { type ManagedFieldsEntry, metadataOf } from "../../contract/objects.ts";
import { largeLeafSteps } from "../large-leaves.ts";
import { zeroStruct } from "../zero-values.ts";
import { ApplyConflict, type Conflict } from "./conflicts.ts";
import { fieldSetOf, withNamedFields, withoutPaths } from "./typed-sets.ts";
import { mergeTyped } from "./typed-merge.ts";
import { typedOf, type TypedMap } from "./typed.ts";
import { joinErrors, typedErrors } from "./validate.ts";

export interface ApplyOptions extends TrackOptions {
  /** Take fields from whoever owns them. */
  readonly force: boolean;
}

export interface Applied {
  /** As merged: neither normalised nor defaulted. The stored object itself when the configuration changes nothing. */
  readonly object: JsonObject;
  readonly managedFields: readonly ManagedFieldsEntry[];
}

/** Owns what was there before anybody's fields were tracked. */
const untrackedManager = "before-first-apply";

/**
 * Applies `config` to `live`, undefined for an object that is not there. Throws `ApiError`: 400, 409 for conflicts
 * unless forced, and the observed 500 for a configuration that is not of the type. Of a large object each step takes its time.
 */
export function* applySteps(
  live: JsonObject | undefined,
  config: JsonObject,
  strategy: Tracked,
  options: ApplyOptions,
): Generator<void, Applied> {
  const typed = typedOf(strategy.type);
  yield* requireValid(typed, config);
  yield;
  const entries = live === undefined ? [] : entriesOf(live, strategy, options);
  const isOwn = (entry: ManagedFieldsEntry): boolean => isEntryOf(entry, options);
  const own = entries.find(isOwn);
  const others = entries.filter((entry) => !isOwn(entry));
  yield;
  yield* largeLeafSteps(undefined, config, false);
  const applied = yield* inTurns(() => appliedPaths(typed, config, strategy, options));
  yield;

  const before = live ?? {};
  const merged = (yield* inTurns(() => mergeTyped(typed, before, config))) as JsonObject;
  yield;
  const managed = uniteAll([...(applied === undefined ? [] : [applied]), ...others.map(setOf)]);
  yield;
  const object = prune(typed, merged, own === undefined ? undefined : setOf(own), managed);
  yield;
  if (live !== undefined) yield* largeLeafSteps(live, object, true);
  const settled = live && (yield* inTurns(() => settle(live, object, others, strategy, options)));
  if (settled !== undefined && settled.conflicts.length > 0 && !options.force) {
    yield;
    throw new ApplyConflict(settled.conflicts);
  }
  const kept = settled?.kept ?? others;
  yield;

  const unchanged = live !== undefined && jsonEqual(live, object);
  const owned = subtract(applied, untracked); // only now: what names the object must not be pruned either
  const after = owned === undefined ? kept : [...kept, ownEntry(owned, own, unchanged, options)];
  return { object: unchanged ? live : object, managedFields: after.sort(compareEntries) };
}

function* requireValid(typed: TypedMap, config: JsonObject): Generator<void, void> {
  if (metadataOf(config).managedFields !== undefined && metadataOf(config).managedFields !== null) {
    throw badRequest("metadata.managedFields must be nil");
  }
  const errors = yield* inTurns(() => typedErrors(typed, config));
  yield;
  if (errors.length > 0) throw invalidConfiguration(config, `: ${joinErrors(errors)}`, "create typed patch object");
}

/** The 500 of the observed server: what it tried, with what, and why that failed. */
export function invalidConfiguration(config: JsonObject, error: string, attempt: string): ApiError {
  return unmapped(`failed to ${attempt} (${describe(config)})${error}`);
}

function describe(config: JsonObject): string {
  const { namespace, name }: { readonly namespace?: unknown; readonly name?: unknown } = metadataOf(config);
  return `${textOr(namespace)}/${textOr(name)}; ${kindText(config)}`;
}

/** What is no text is none. */
const textOr = (value: unknown): string => (typeof value === "string" ? value : "");

/** `/v1, Kind=ConfigMap`, as configurations are called in texts. An apiVersion that is none hides the kind as well. */
export function kindText({ apiVersion, kind }: JsonObject): string {
  const groupVersion = typeof apiVersion === "string" ? apiVersion : "";
  const slash = groupVersion.indexOf("/");
  if (slash !== groupVersion.lastIndexOf("/")) return "/, Kind=";
  const [group, version] =
    slash < 0 ? ["", groupVersion] : [groupVersion.slice(0, slash), groupVersion.slice(slash + 1)];
  return `${group}/${version}, Kind=${typeof kind === "string" ? kind : ""}`;
}

/** The entries of an object; what nobody tracked until now gets an owner of its own. */
function entriesOf(live: JsonObject, strategy: Tracked, options: ApplyOptions): readonly ManagedFieldsEntry[] {
  const entries = metadataOf(live).managedFields ?? [];
  if (entries.length > 0) return entries;
  const { changed } = new Differences(zeroStruct(strategy.type), live, strategy, options).own;
  if (changed === undefined) return [];
  return [makeEntry(changed, untrackedManager, "Update", options.now, options)];
}

function isEntryOf(entry: ManagedFieldsEntry, { manager, subresource }: ApplyOptions): boolean {
  return entry.operation === "Apply" && (entry.manager ?? "") === manager && (entry.subresource ?? "") === subresource;
}

/** The paths of the configuration, but for those that are not written through this place. */
function appliedPaths(
  typed: TypedMap,
  config: JsonObject,
  strategy: Tracked,
  { subresource }: ApplyOptions,
): FieldSet | undefined {
  const ignores = ignoredFields(strategy, subresource);
  const tracked = Object.fromEntries(Object.entries(config).filter(([field]) => !ignores(field)));
  return exclude(fieldSetOf(typed, tracked), resetFields(strategy, subresource));
}

const leaves = (...names: readonly string[]): FieldSet =>
  makeNode(
    true,
    names.map((name) => `f:${name}`),
    names.map(() => leaf),
  ) as FieldSet;

/** Nobody owns what names the object, nor what the server alone writes. */
const untracked = makeNode(
  false,
  ["f:apiVersion", "f:kind", "f:metadata"],
  [
    leaf,
    leaf,
    leaves(
      "name",
      "namespace",
      "creationTimestamp",
      "selfLink",
      "uid",
      "generation",
      "managedFields",
      "resourceVersion",
    ),
  ],
);

/**
 * Takes away what the manager applied last time, unless it is applied again, or owned by another, or holds something
 * that is. `managed` is what anybody owns from now on.
 */
function prune(
  typed: TypedMap,
  merged: JsonObject,
  last: FieldSet | undefined,
  managed: FieldSet | undefined,
): JsonObject {
  if (last === undefined || subtract(last, managed) === undefined) return merged;
  const named = (set: FieldSet | undefined): FieldSet | undefined => withNamedFields(typed, set);
  const without = (set: FieldSet | undefined): JsonObject => (withoutPaths(typed, merged, set) ?? {}) as JsonObject;
  const all = named(fieldSetOf(typed, merged));
  const left = named(fieldSetOf(typed, without(named(last))));
  const owned = without(subtract(all, unite(left, named(managed))));
  return without(intersect(subtract(all, named(fieldSetOf(typed, owned))), named(last)));
}

interface Settled {
  readonly kept: ManagedFieldsEntry[];
  readonly conflicts: readonly Conflict[];
}

/** What the others own once `live` has become `object`, and what of it changes against their will. */
function settle(
  live: JsonObject,
  object: JsonObject,
  others: readonly ManagedFieldsEntry[],
  strategy: Tracked,
  options: ApplyOptions,
): Settled {
  const differences = new Differences(live, object, strategy, options);
  const conflicts: Conflict[] = [];
  const kept: ManagedFieldsEntry[] = [];
  for (const entry of others) {
    const before = setOf(entry);
    const difference = differences.for(entry);
    if (difference === undefined) continue;
    const conflict = asLarge(() => intersect(before, difference.changed), [before]);
    if (conflict !== undefined) conflicts.push({ entry, paths: conflict });
    const rest = asLarge(() => subtract(before, unite(conflict, difference.removed)), [before]);
    if (rest !== undefined) kept.push(rest === before ? entry : withSet(entry, rest));
  }
  return { kept, conflicts };
}

/** An application without an effect leaves its entry's time alone: a new entry then has none, as observed. */
function ownEntry(
  set: FieldSet,
  before: ManagedFieldsEntry | undefined,
  unchanged: boolean,
  options: ApplyOptions,
): ManagedFieldsEntry {
  const time = unchanged ? before?.time : options.now;
  return makeEntry(set, options.manager, "Apply", time, options);
}

function makeEntry(
  set: FieldSet,
  manager: string,
  operation: "Apply" | "Update",
  time: string | undefined,
  { apiVersion, subresource }: ApplyOptions,
): ManagedFieldsEntry {
  return {
    manager,
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: "FieldsV1",
    fieldsV1: set as unknown as JsonObject,
    ...(subresource !== "" && { subresource }),
  };
}

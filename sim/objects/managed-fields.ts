/**
 * Who wrote which field: `metadata.managedFields`, kept for every create, update and patch.
 * A write gives its manager the fields that it added or changed, takes those from everybody else, and takes fields
 * that went from all. Apply has its own entries, which a plain write only shrinks.
 * An entry made through another version of the kind is compared in that version.
 * Source: the facts, section 4, server-side apply; recorded answers. Simplification: an event's entry made through its
 * other group is left as it is.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { compareBytes, utf8Length } from "../../wire/go-strings.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { TypeRow } from "../../wire/schema.ts";
import { diffObjects, type FieldDiff } from "./field-diff.ts";
import {
  exclude,
  type FieldSet,
  leaf,
  makeNode,
  readFieldSet,
  stepCountOf,
  subtract,
  unite,
  uniteAll,
} from "./field-set.ts";
import { Recent } from "./recent.ts";
import { isLargeValue } from "./value-limit.ts";
import { askedOnce, paced, turnCostMax } from "../expressions/pace.ts";
import { seal } from "./seal.ts";
import type { Strategy } from "./strategy.ts";
import { type Draft, type ManagedFieldsEntry, metadataOf, ownMetadata } from "../contract/objects.ts";
import { zeroStruct } from "./zero-values.ts";

const updateEntriesMax = 10;
const managerBytesMax = 128;
const mergedManager = "ancient-changes";

export interface TrackOptions {
  /** From `managerName`. */
  readonly manager: string;
  /** Group and version of the request's kind, in the dialect. */
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** RFC 3339, whole seconds, UTC. */
  readonly now: string;
}

/** The manager of a request: the parameter, else the User-Agent up to its first slash, else `unknown`. */
export function managerName(fieldManager: string | undefined, userAgent: string | undefined): string {
  if (fieldManager !== undefined && fieldManager !== "") return fieldManager;
  const product = (userAgent ?? "").split("/", 1)[0] as string;
  let name = "";
  let bytes = 0;
  for (const char of product) {
    if (!printable.test(char)) continue;
    bytes += utf8Length(char);
    if (bytes > managerBytesMax) break;
    name += char;
  }
  return name === "" ? "unknown" : name;
}

/** The server's own name: who owns what it has written by itself. Source: recorded definitions and namespaces. */
export const serverManager = ({ systemNamespaces }: Dialect): string =>
  `${systemNamespaces.system.split("-", 1)[0]}-apiserver-1.33`;

/** Who counts quotas, ends namespaces and so on, as it names itself. */
export const controllerManager = ({ systemNamespaces }: Dialect): string =>
  `${systemNamespaces.system.split("-", 1)[0]}-controller-manager`;

const printable = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** A part that may take long for a large object: within a judgement (`pace.ts`) each takes a turn of its own. */
const inTurn = <Made>(make: () => Made): Made => paced(make, aTurn);
const aTurn = (): number => turnCostMax;

/** The same of a few sets: there may be one for each of thousands of managers, which take a turn together. */
export const asLarge = (
  make: () => FieldSet | undefined,
  of: readonly (FieldSet | undefined)[],
): FieldSet | undefined => paced(make, () => stepCost * of.reduce((count, set) => count + stepCountOf(set), 0));

/** Of a step in a set: some thirty thousand take a turn. */
const stepCost = turnCostMax / 30_000;

/**
 * Sets the draft's managedFields, and changes nothing before: within a judgement it may be broken off and begun again. `live` is
 * the stored object, undefined for a creation. An object whose tracking was given up is not taken up again by an update.
 */
export function trackManagedFields(
  draft: Draft,
  live: JsonObject | undefined,
  strategy: Tracked,
  options: TrackOptions,
): void {
  const entries = entriesBefore(draft, live, options.subresource !== "");
  if (entries.length === 0 && live !== undefined) {
    if (metadataOf(draft).managedFields !== undefined) delete ownMetadata(draft).managedFields;
    return;
  }
  const before = live ?? zeroStruct(strategy.type);
  const after = recordWrite(entries, new Differences(before, draft as JsonObject, strategy, options), options);
  const metadata = ownMetadata(draft);
  if (after.length === 0) delete metadata.managedFields;
  else metadata.managedFields = after;
}

/** What of a resource decides which fields its paths own. */
export type Tracked = Pick<Strategy, "type" | "typeIn" | "hasStatus" | "statusLocks" | "statusOwnsLocked">;

/** How an object changes, as those see it who wrote through one version or another. */
export class Differences {
  readonly own: FieldDiff;
  private readonly before: JsonObject;
  private readonly after: JsonObject;
  private readonly tracked: Tracked;
  private readonly options: TrackOptions;
  private others: Map<string, FieldDiff | undefined> | undefined;

  constructor(before: JsonObject, after: JsonObject, tracked: Tracked, options: TrackOptions) {
    this.before = before;
    this.after = after;
    this.tracked = tracked;
    this.options = options;
    this.own = this.compare(tracked.type);
  }

  /** What of it concerns an entry; undefined when the entry's version is none. */
  for({ apiVersion = "" }: ManagedFieldsEntry): FieldDiff | undefined {
    const { tracked, options } = this;
    if (apiVersion === options.apiVersion) return this.own;
    if (tracked.typeIn === undefined) return noDifference;
    this.others ??= new Map();
    if (!this.others.has(apiVersion)) {
      const type = askedOnce(() => tracked.typeIn?.(apiVersion)); // made of a schema in parts, and kept for others
      this.others.set(apiVersion, type === undefined ? undefined : this.compare(type));
    }
    return this.others.get(apiVersion);
  }

  private compare(type: TypeRow): FieldDiff {
    const { subresource } = this.options;
    const { before, after, tracked } = this;
    const difference = inTurn(() => diffObjects(type, before, after, ignoredFields(tracked, subresource)));
    const reset = resetFields(this.tracked, subresource);
    if (reset === undefined) return difference;
    return { changed: exclude(difference.changed, reset), removed: exclude(difference.removed, reset) };
  }
}

const noDifference: FieldDiff = { changed: undefined, removed: undefined };

/** A path that writes status owns nothing else but metadata, and the object's own path owns no status. */
export function ignoredFields(strategy: Tracked, subresource: string): (field: string) => boolean {
  if (subresource === "status") return ignoreAllButStatus;
  return strategy.hasStatus && subresource === "" ? ignoreStatus : ignoreNothing;
}

const resets = new WeakMap<Tracked, FieldSet>();

/** Fields of metadata that a status request cannot write, and does not own; undefined when there are none. */
export function resetFields(strategy: Tracked, subresource: string): FieldSet | undefined {
  const { statusLocks, statusOwnsLocked = false } = strategy;
  if (subresource !== "status" || statusLocks.length === 0 || statusOwnsLocked) return undefined;
  let set = resets.get(strategy);
  if (set === undefined) {
    const steps = statusLocks.map((field) => `f:${field}`);
    const locks = makeNode(
      false,
      steps,
      steps.map(() => leaf),
    ) as FieldSet;
    resets.set(strategy, (set = makeNode(false, ["f:metadata"], [locks]) as FieldSet));
  }
  return set;
}

const ignoreAllButStatus = (field: string): boolean => field !== "status" && field !== "metadata";
const ignoreStatus = (field: string): boolean => field === "status";
const ignoreNothing = (): boolean => false;

/** The entries to start from: the client's when it sent some that can be read, else the stored ones. */
function entriesBefore(
  draft: Draft,
  live: JsonObject | undefined,
  subresource: boolean,
): readonly ManagedFieldsEntry[] {
  const stored = live === undefined ? none : (metadataOf(live).managedFields ?? none);
  const sent = metadataOf(draft).managedFields;
  if (subresource || sent === undefined || sent === stored) return stored;
  if (isReset(sent)) return none;
  const read = paced(
    () => readEntries(sent),
    (entries = none) => entries.reduce((cost, entry) => cost + stepCost * stepCountOf(setOf(entry)), 0),
  );
  return read === undefined || read.length === 0 ? stored : read;
}

const none: readonly ManagedFieldsEntry[] = [];

/** An empty list, or one empty entry: the client wants tracking to be forgotten. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] as object).length === 0);
}

function readEntries(sent: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] | undefined {
  const entries: ManagedFieldsEntry[] = [];
  for (const entry of sent) {
    const set = readFieldSet(entry.fieldsV1, isLargeValue(entry.fieldsV1));
    const known = entry.operation === "Apply" || entry.operation === "Update";
    if (!known || entry.fieldsType !== "FieldsV1" || set === undefined) return undefined;
    entries.push(entry.fieldsV1 === (set as unknown) ? entry : { ...entry, fieldsV1: set as unknown as JsonObject });
  }
  return entries;
}

function recordWrite(
  entries: readonly ManagedFieldsEntry[],
  differences: Differences,
  options: TrackOptions,
): readonly ManagedFieldsEntry[] {
  const { changed, removed } = differences.own;
  if (changed === undefined && removed === undefined) return entries;
  if (entries.length === 0) return changed === undefined ? none : firstEntries(changed, options);
  const only = entries.length === 1 ? (entries[0] as ManagedFieldsEntry) : undefined;
  if (only !== undefined && removed === undefined && changed !== undefined && isOwn(only, options)) {
    return [newEntry(grownBy(setOf(only), changed), options)];
  }
  const touched = united(changed, removed);
  const after: ManagedFieldsEntry[] = [];
  let own: FieldSet | undefined = changed;
  for (const entry of entries) {
    const before = setOf(entry);
    const theirs = differences.for(entry);
    const gone = theirs === differences.own ? touched : united(theirs?.changed, theirs?.removed);
    const rest = theirs === undefined ? undefined : asLarge(() => subtract(before, gone), [before]);
    if (isOwn(entry, options) && changed !== undefined) own = united(own, rest);
    else if (rest !== undefined && !isEmptySet(rest)) after.push(rest === before ? entry : withSet(entry, rest));
  }
  if (own !== undefined) after.push(newEntry(own, options));
  return capUpdates(after).sort(compareEntries);
}

const united = (left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined =>
  asLarge(() => unite(left, right), [left, right]);

interface Growth {
  readonly changed: FieldSet;
  readonly grown: FieldSet;
}

/** By what was owned before. Renewals of leases ask for the same again and again, each object's for its own. */
const growths = new Recent<FieldSet, Growth>(8192);

/** What a manager owns that alone has written an object, after one more write. */
function grownBy(set: FieldSet, changed: FieldSet): FieldSet {
  const known = growths.get(set);
  if (known?.changed === changed) return known.grown;
  const rest = asLarge(() => subtract(set, changed), [set]);
  const grown = united(changed, rest) as FieldSet;
  if (Object.isFrozen(set)) growths.set(set, { changed, grown });
  return grown;
}

/** By what the object has: clients take turns, each with objects of a few shapes. */
const lastFirsts = new Recent<FieldSet, readonly ManagedFieldsEntry[]>(4096);

/** The entries of a new object. Of one client's objects of one shape, made in one second, all share the same. */
function firstEntries(set: FieldSet, options: TrackOptions): readonly ManagedFieldsEntry[] {
  const known = lastFirsts.get(set);
  const last = known?.[0];
  if (known !== undefined && last?.time === options.now && isOwn(last, options)) return known;
  const entries = seal([newEntry(set, options)]);
  lastFirsts.set(set, entries);
  return entries;
}

/** The paths that an entry owns. */
export const setOf = (entry: ManagedFieldsEntry): FieldSet => (entry.fieldsV1 ?? {}) as unknown as FieldSet;

function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

function isOwn(entry: ManagedFieldsEntry, options: TrackOptions): boolean {
  return (
    entry.manager === options.manager &&
    entry.operation === "Update" &&
    entry.apiVersion === options.apiVersion &&
    (entry.subresource ?? "") === options.subresource
  );
}

function newEntry(set: FieldSet, { manager, apiVersion, now, subresource }: TrackOptions): ManagedFieldsEntry {
  return {
    manager,
    operation: "Update",
    apiVersion,
    time: now,
    fieldsType: "FieldsV1",
    fieldsV1: set as unknown as JsonObject,
    ...(subresource === "" ? undefined : { subresource }),
  };
}

/** The same entry, owning other paths. */
export const withSet = (entry: ManagedFieldsEntry, set: FieldSet): ManagedFieldsEntry => ({
  ...entry,
  fieldsV1: set as unknown as JsonObject,
});

/** Of more than ten update entries, the oldest of each version are merged into one of a name that says so. */
function capUpdates(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  let count = entries.filter((entry) => entry.operation === "Update").length;
  if (count <= updateEntriesMax) return [...entries];
  const oldest = new Map<string, ManagedFieldsEntry[]>();
  for (const entry of updatesByAge(entries)) {
    if (count <= updateEntriesMax) break;
    const version = entry.apiVersion ?? "";
    const merged = oldest.get(version);
    if (merged === undefined) oldest.set(version, [entry]);
    else {
      merged.push(entry);
      count--;
    }
  }
  const several = [...oldest].filter(([, merged]) => merged.length > 1);
  const gone = new Set(several.flatMap(([, merged]) => merged));
  return [
    ...entries.filter((entry) => !gone.has(entry)),
    ...several.map(([apiVersion, merged]) =>
      newEntry(inTurn(() => uniteAll(merged.map(setOf))) as FieldSet, {
        manager: mergedManager,
        apiVersion,
        now: merged.at(-1)?.time ?? "",
        subresource: "",
      }),
    ),
  ];
}

function updatesByAge(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  return entries
    .filter((entry) => entry.operation === "Update")
    .map((entry) => ({ entry, time: entry.time ?? "", identity: identityOf(entry) }))
    .sort((left, right) => compareBytes(left.time, right.time) || compareBytes(left.identity, right.identity))
    .map(({ entry }) => entry);
}

const identityOf = ({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string =>
  JSON.stringify([manager, operation, apiVersion, subresource]);

function compareTexts(left: string | undefined, right: string | undefined): number {
  return compareBytes(left ?? "", right ?? "");
}

const sortKeys = ["operation", "time", "manager", "apiVersion", "subresource"] as const;

/** The order of entries on the wire. */
export function compareEntries(left: ManagedFieldsEntry, right: ManagedFieldsEntry): number {
  for (const key of sortKeys) {
    const order = compareTexts(left[key], right[key]);
    if (order !== 0) return order;
  }
  return 0;
}

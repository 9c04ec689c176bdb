/**
 * Fields that the server sets and a client cannot: uid, times, generated names, generation, versions; and which part of
 * an object a request may write at all.
 * Source: the facts, section 4, Create and Update; document 1, generated values; recorded answers (a ConfigMap keeps
 * the generation it was created with).
 */
import type { Prng } from "../kernel/types.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { jsonEqual } from "./equality.ts";
import { incremented } from "./int64.ts";
import type { Strategy } from "./strategy.ts";
import { type Draft, type Metadata, metadataOf, ownMetadata } from "../contract/objects.ts";

/** What a creation knows of its surroundings. */
export interface CreateContext {
  /** The server's clock: RFC 3339, whole seconds, UTC. */
  readonly now: string;
  /** The server's stream for uids and generated names. */
  readonly prng: Prng;
}

/** Forgets what a client may not say of a new object. First of all, before admission sees it. */
export function wipeSystemFields(draft: Draft): void {
  const metadata = ownMetadata(draft);
  forget(metadata, "uid");
  forget(metadata, "selfLink");
  metadata.creationTimestamp = null;
  forgetDeletion(metadata);
}

function forgetDeletion(metadata: Metadata): void {
  forget(metadata, "deletionTimestamp");
  forget(metadata, "deletionGracePeriodSeconds");
}

/** To delete what is not there costs as much as to delete something, and mostly it is not there. */
function forget(metadata: Metadata, field: keyof Metadata): void {
  if (metadata[field] !== undefined) delete metadata[field];
}

/**
 * Gives a draft what only the server knows, and lets its kind set its first status. After admission. Its metadata is
 * yet to be put in order, which `finishMetadata` does.
 */
export function prepareForCreate(draft: Draft, strategy: Strategy, context: CreateContext): void {
  const metadata = ownMetadata(draft);
  forgetDeletion(metadata);
  if (strategy.usesGeneration) metadata.generation = 1;
  if (strategy.hasStatus && strategy.resetsStatus) resetStatus(draft, strategy.zeroStatus);
  metadata.creationTimestamp = context.now;
  metadata.uid = randomUid(context.prng);
  if ((metadata.name ?? "") === "" && (metadata.generateName ?? "") !== "") {
    metadata.name = generateName(metadata.generateName as string, context.prng);
  }
  strategy.rules.prepareForCreate?.(draft, strategy.dialect);
}

function resetStatus(draft: Draft, zero: JsonObject | undefined): void {
  if (zero === undefined) delete draft["status"];
  else draft["status"] = zero;
}

/**
 * Puts back what an update may not write, fills in what the client left out, and counts the generation. `subresource`: "" for
 * the object itself, else `status` or another one.
 */
export function prepareForUpdate(draft: Draft, live: JsonObject, strategy: Strategy, subresource: string): void {
  const before = metadataOf(live);
  const metadata = ownMetadata(draft);
  if (before.generation === undefined) delete metadata.generation;
  else metadata.generation = before.generation;
  if (subresource === "status") keepAllButStatus(draft, live, strategy);
  else if (strategy.hasStatus && subresource !== "approval") copyField(draft, live, "status");
  strategy.rules.prepareForUpdate?.(draft, live, subresource, strategy.dialect);
  if ((metadata.uid ?? "") === "" && before.uid !== undefined) metadata.uid = before.uid;
  if (before.creationTimestamp !== undefined) metadata.creationTimestamp = before.creationTimestamp;
  if (before.deletionTimestamp !== undefined) metadata.deletionTimestamp = before.deletionTimestamp;
  if (before.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds;
  }
  delete metadata.selfLink;
  if (strategy.usesGeneration && changesDesiredState(draft, live, strategy)) {
    metadata.generation = incremented(before.generation ?? 0);
  }
  orderMetadata(draft);
}

/** A status request writes status; of metadata it may write what the kind leaves open. */
function keepAllButStatus(draft: Draft, live: JsonObject, strategy: Strategy): void {
  for (const key of Object.keys(draft)) {
    if (key !== "status" && key !== "metadata" && !Object.hasOwn(live, key)) delete draft[key];
  }
  for (const key of Object.keys(live)) if (key !== "status" && key !== "metadata") copyField(draft, live, key);
  const metadata = ownMetadata(draft) as Draft;
  const before = metadataOf(live) as Draft;
  for (const key of strategy.statusLocks) copyField(metadata, before as JsonObject, key);
}

function copyField(draft: Draft, from: JsonObject, key: string): void {
  const value = from[key];
  if (value === undefined) delete draft[key];
  else draft[key] = value;
}

/** Everything but metadata and status is the desired state. */
function changesDesiredState(draft: Draft, live: JsonObject, strategy: Strategy): boolean {
  const desired = strategy.type.custom && !strategy.hasStatus ? isDesiredOrStatus : isDesired;
  for (const key of Object.keys(draft)) if (desired(key) && !jsonEqual(draft[key], live[key])) return true;
  for (const key of Object.keys(live)) if (desired(key) && draft[key] === undefined) return true;
  return false;
}

/** Without a status subresource, a custom resource's status is a field like any other. */
const isDesiredOrStatus = (key: string): boolean => key !== "metadata" && key !== "kind" && key !== "apiVersion";
const isDesired = (key: string): boolean => key !== "status" && isDesiredOrStatus(key);

/** Rewrites a draft's metadata in wire order, without the fields that hold nothing. */
export function orderMetadata(draft: Draft): void {
  draft["metadata"] = inOrder(metadataOf(draft), metadataOf(draft).resourceVersion) as JsonObject;
}

/** `orderMetadata` with a version: the last touch to a new object, which is about to be sealed. */
export function finishMetadata(draft: Draft, resourceVersion: string): void {
  draft["metadata"] = inOrder(metadataOf(draft), resourceVersion) as JsonObject;
}

/** Spelled out, in the order of the wire: every write passes here, and names are faster than a loop over them. */
function inOrder(metadata: Metadata, resourceVersion: string | undefined): Metadata {
  const ordered: Metadata = {};
  if (holds(metadata.name)) ordered.name = metadata.name;
  if (holds(metadata.generateName)) ordered.generateName = metadata.generateName;
  if (holds(metadata.namespace)) ordered.namespace = metadata.namespace;
  if (holds(metadata.selfLink)) ordered.selfLink = metadata.selfLink;
  if (holds(metadata.uid)) ordered.uid = metadata.uid;
  if (holds(resourceVersion)) ordered.resourceVersion = resourceVersion;
  if (holds(metadata.generation)) ordered.generation = metadata.generation;
  ordered.creationTimestamp = holds(metadata.creationTimestamp) ? metadata.creationTimestamp : null;
  if (holds(metadata.deletionTimestamp)) ordered.deletionTimestamp = metadata.deletionTimestamp;
  if (holds(metadata.deletionGracePeriodSeconds)) {
    ordered.deletionGracePeriodSeconds = metadata.deletionGracePeriodSeconds;
  }
  if (holds(metadata.labels)) ordered.labels = metadata.labels;
  if (holds(metadata.annotations)) ordered.annotations = metadata.annotations;
  if (holds(metadata.ownerReferences)) ordered.ownerReferences = metadata.ownerReferences;
  if (holds(metadata.finalizers)) ordered.finalizers = metadata.finalizers;
  if (holds(metadata.managedFields)) ordered.managedFields = metadata.managedFields;
  return ordered;
}

function holds<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null && value !== "";
}

/** The same object at another version; everything below metadata is shared. For a draft that is about to be sealed. */
export function withResourceVersion(draft: Draft | JsonObject, resourceVersion: string): JsonObject {
  const before = metadataOf(draft) as Draft;
  if (hasVersionInPlace(before))
    return { ...draft, metadata: { ...before, resourceVersion } as JsonObject } as JsonObject;
  const metadata: Draft = {};
  let placed = false;
  for (const key of Object.keys(before)) {
    if (key === "resourceVersion") continue;
    if (!placed && !beforeVersion.has(key)) {
      metadata["resourceVersion"] = resourceVersion;
      placed = true;
    }
    metadata[key] = before[key];
  }
  if (!placed) metadata["resourceVersion"] = resourceVersion;
  return { ...draft, metadata: metadata as JsonObject } as JsonObject;
}

/** It has a version, where it stands on the wire: another one takes its place. */
function hasVersionInPlace(metadata: Draft): boolean {
  for (const key in metadata) if (!beforeVersion.has(key)) return key === "resourceVersion";
  return false;
}

/** What may come before the version on the wire. */
const beforeVersion: ReadonlySet<string> = new Set(["name", "generateName", "namespace", "selfLink", "uid"]);

const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const generatedLength = 5;
const nameLengthMax = 63;

/** `base` cut to 58 characters and five more from an alphabet in which no word can be read. */
export function generateName(base: string, prng: Prng): string {
  let name = base.slice(0, nameLengthMax - generatedLength);
  for (let at = 0; at < generatedLength; at++) name += nameAlphabet[prng.intInclusive(0, nameAlphabet.length - 1)];
  return name;
}

/** A version 4 UUID from four draws. Made at once from its characters: as a sum of pieces it took twice the time. */
export function randomUid(prng: Prng): string {
  const a = prng.uint32();
  const b = prng.uint32();
  const c = prng.uint32();
  const d = prng.uint32();
  // biome-ignore format: as the UUID is written
  return String.fromCharCode(
    hex(a >>> 28), hex(a >>> 24), hex(a >>> 20), hex(a >>> 16), hex(a >>> 12), hex(a >>> 8), hex(a >>> 4), hex(a), dash,
    hex(b >>> 28), hex(b >>> 24), hex(b >>> 20), hex(b >>> 16), dash,
    hex(4), hex(b >>> 8), hex(b >>> 4), hex(b), dash,
    hex(((c >>> 28) & 3) | 8), hex(c >>> 24), hex(c >>> 20), hex(c >>> 16), dash,
    hex(c >>> 12), hex(c >>> 8), hex(c >>> 4), hex(c),
    hex(d >>> 28), hex(d >>> 24), hex(d >>> 20), hex(d >>> 16), hex(d >>> 12), hex(d >>> 8), hex(d >>> 4), hex(d),
  );
}

const dash = 45;

/** The character code of the lowest four bits. */
function hex(bits: number): number {
  const digit = bits & 15;
  return digit < 10 ? 48 + digit : 87 + digit;
}

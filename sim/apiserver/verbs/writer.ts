/**
 * The last step of every write: into the store by compare-and-set, into the trace, out as the object that a client
 * sees. Nothing here waits.
 */
import { omitNullTimes } from "../../objects/null-times.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { Prng } from "../../kernel/types.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { KeyValue } from "../../store/types.ts";
import { type QuotaNamespaces, quotaNamespacesOf } from "../admission/quota-namespaces.ts";
import { type ApiError, invalid } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { knownBytesOf, measured, partsOf } from "../../objects/digest.ts";
import { managerName } from "../../objects/managed-fields.ts";
import { seal } from "../../objects/seal.ts";
import { isLargeObject, noteLarge, rememberLarge, requireFewBytes } from "../../objects/value-limit.ts";
import { finishMetadata, orderMetadata, type CreateContext, withResourceVersion } from "../../objects/system-fields.ts";
import { type Draft, metadataOf } from "../../contract/objects.ts";
import type { Run } from "../requests/run.ts";
import { type ServedResource, storageKey, viewed } from "../catalogue/served-resource.ts";
import { type ServedResources } from "../catalogue/served-resources.ts";
import type { ServerContext } from "./server-context.ts";
import { unreadableObject } from "../../contract/unreadable.ts";
import { QuotaSums } from "./quota-sums.ts";
import { SharedSpecs } from "./shared-specs.ts";
import { writeLaw } from "./write-law.ts";
import { Times } from "../../contract/times.ts";
import { type TakenAddresses, takenAddressesOf } from "./taken-addresses.ts";

/** An object as it lies in the store, and the revision that it got there by. */
export interface Live {
  readonly key: string;
  /** In the storage's form. */
  readonly stored: JsonObject;
  /** As clients of the resource see it. */
  readonly object: JsonObject;
  readonly modRevision: number;
}

interface KeyRange {
  readonly resource: ServedResource;
  readonly namespace: string;
  readonly start: string;
  readonly end: string;
}

const rememberedKeysMax = 4096;
const uncounted = { count: false } as const;

export class Writer {
  readonly context: ServerContext;
  /** What becomes of an object on its way to the store. */
  readonly law = writeLaw;
  readonly resources: ServedResources;
  readonly times: Times;
  /** Names tokens. */
  readonly tokenPrng: Prng;
  /** Chooses addresses and ports of services. */
  readonly addressPrng: Prng;
  private readonly prng: Prng;
  readonly quotas: ServedResource;
  readonly quotaNamespaces: QuotaNamespaces;
  readonly takenAddresses: TakenAddresses;
  readonly quotaSums: QuotaSums;
  readonly sharedSpecs = new SharedSpecs();
  private readonly namespaces: ServedResource;
  private readonly namespaceKeys = new Map<string, string>();
  private lastRange: KeyRange | undefined;
  private lastAgent: string | undefined;
  private lastAgentManager = managerName("", undefined);

  constructor(context: ServerContext, resources: ServedResources) {
    this.context = context;
    this.resources = resources;
    this.namespaces = resources.named("", "v1", "namespaces");
    this.quotas = resources.named("", "v1", "resourcequotas");
    this.quotaNamespaces = quotaNamespacesOf(context.store, this.quotas.read.prefix);
    this.takenAddresses = takenAddressesOf(context.store, resources.named("", "v1", "services").read.prefix);
    const objects = (resource: ServedResource, namespace: string): JsonObject[] =>
      this.all(resource, namespace).map(({ object }) => object);
    const { store, process } = context;
    const hasQuotas = (namespace: string): boolean => this.quotaNamespaces.has(namespace);
    const count = (resource: ServedResource, namespace: string): number => this.countOf(resource, namespace);
    this.quotaSums = new QuotaSums({ store, process, hasQuotas, objects, count });
    this.times = new Times(context.clock);
    this.prng = context.process.prng.stream("objects");
    this.tokenPrng = context.process.prng.stream("token ids");
    this.addressPrng = context.process.prng.stream("service addresses");
  }

  createContext(): CreateContext {
    return { now: this.times.now(), prng: this.prng };
  }

  /** Where the object lies that a request names; the text is kept with the path, for its hash is dear. */
  keyOf({ resourcePlace: place }: Run, resource: ServedResource): string {
    place.key ??= storageKey(resource, place.namespace, place.name);
    return place.key;
  }

  /** The object now, past every cache. Throws 500 for one that cannot be read. */
  live(
    resource: ServedResource,
    namespace: string,
    name: string,
    key = storageKey(resource, namespace, name),
  ): Live | undefined {
    const { store, unreadable, profile } = this.context;
    const found = store.get(key);
    if (found !== undefined && unreadable.has(key)) throw unreadableObject(key, profile.featureGates);
    invariant(typeof found !== "string", "the present state cannot be compacted or in the future");
    return found === undefined ? undefined : liveOf(resource, found);
  }

  /**
   * The stored object that a body handed over in process may share parts with; undefined for bytes, which share nothing, and
   * where clients see another form of what is stored.
   */
  present(run: Run, resource: ServedResource): JsonObject | undefined {
    if (run.request.body instanceof Uint8Array || resource.view !== undefined) return undefined;
    const found = this.context.store.get(this.keyOf(run, resource));
    return typeof found === "object" ? (found.value as JsonObject) : undefined;
  }

  /** Whether the name is taken, be it by what cannot be read. */
  isTaken(resource: ServedResource, namespace: string, name: string): boolean {
    return this.context.store.get(storageKey(resource, namespace, name)) !== undefined;
  }

  /** Every object of a namespace now, in key order. */
  all(resource: ServedResource, namespace: string): readonly Live[] {
    const { start, end } = this.rangeOf(resource, namespace);
    const found = this.context.store.range(start, end, uncounted);
    invariant(typeof found !== "string", "the present state cannot be compacted or in the future");
    return found.items.map((item) => liveOf(resource, item));
  }

  private countOf(resource: ServedResource, namespace: string): number {
    const { start, end } = this.rangeOf(resource, namespace);
    const count = this.context.store.count(start, end);
    invariant(typeof count === "number", "the present state cannot be compacted or in the future");
    return count;
  }

  /** Where a namespace's objects lie. The same is asked many times in a row. */
  private rangeOf(resource: ServedResource, namespace: string): KeyRange {
    const last = this.lastRange;
    if (last !== undefined && last.resource === resource && last.namespace === namespace) return last;
    const start = storageKey(resource, namespace, "");
    this.lastRange = { resource, namespace, start, end: prefixEnd(start) };
    return this.lastRange;
  }

  /** A namespace's object now; undefined when there is none. */
  namespace(name: string): JsonObject | undefined {
    let key = this.namespaceKeys.get(name);
    if (key === undefined) {
      key = storageKey(this.namespaces, "", name);
      if (this.namespaceKeys.size >= rememberedKeysMax) this.namespaceKeys.clear();
      this.namespaceKeys.set(name, key);
    }
    const found = this.context.store.get(key);
    return typeof found === "object" ? (found.value as JsonObject) : undefined;
  }

  /** The field manager that a user agent stands for; most requests in a row come from the same one. */
  managerOf(userAgent: string | undefined): string {
    if (userAgent !== this.lastAgent) {
      this.lastAgent = userAgent;
      this.lastAgentManager = managerName("", userAgent);
    }
    return this.lastAgentManager;
  }

  /** Stores a new object. Undefined when the key is taken. Throws 413 for one that is too long. */
  create(resource: ServedResource, draft: Draft, dryRun: boolean, isLarge = false): JsonObject | undefined {
    const { store, process, profile } = this.context;
    if (!profile.nullCreationTimes) omitNullTimes(draft);
    const { namespace = "", name = "" } = metadataOf(draft);
    const key = storageKey(resource, namespace, name);
    if (dryRun) {
      if (store.get(key) !== undefined) return undefined;
      orderMetadata(draft);
      return seal(draft) as JsonObject;
    }
    let stored: JsonObject | undefined;
    let isLong = false;
    store.put(key, 0, (revision) => {
      finishMetadata(draft, String(revision));
      const object = toStored(resource, draft);
      // Before it is sealed: what is frozen already is shared with others.
      const { digest, bytes } = measured(object, isLarge ? partsOf(object) : sharedByTemplate(object));
      requireFewBytes(bytes, () => 0);
      isLong = bytes >= longBytesMin;
      process.trace("write", key, revision, digest);
      stored = seal(object);
      return stored;
    });
    if (stored === undefined) return undefined;
    if (isLarge || isLong) noteLarge(stored);
    this.sharedSpecs.keep(resource, stored);
    return viewed(resource, stored);
  }

  /**
   * Replaces `live` by `draft`. Undefined when somebody else was faster. A draft that changes nothing is not stored.
   * `isClients`: throws 413 where a client has made it too long; what the server itself adds is always stored.
   */
  replace(
    resource: ServedResource,
    live: Live,
    draft: Draft,
    dryRun: boolean,
    isLarge = false,
    isClients = false,
  ): JsonObject | undefined {
    const { store, process } = this.context;
    const candidate = toStored(resource, draft);
    if (this.law.changesNothing(live.stored, candidate)) {
      // Dry or not: what is there already is the answer.
      return this.isCurrent(live) ? live.object : undefined;
    }
    if (dryRun) {
      const version = metadataOf(live.object).resourceVersion as string;
      return seal(withResourceVersion(draft, version));
    }
    let stored: JsonObject | undefined;
    let isLong = false;
    store.put(live.key, live.modRevision, (revision) => {
      const next = seal(withResourceVersion(candidate, String(revision)));
      const { digest, bytes } = measured(next, isLarge ? partsOf(candidate) : live.stored);
      if (isClients) requireFewBytes(bytes, () => knownBytesOf(live.stored) ?? measured(live.stored).bytes);
      isLong = bytes >= longBytesMin;
      process.trace("write", live.key, revision, digest);
      stored = next;
      return next;
    });
    // Whoever writes it: what takes a large one's place is large as well, though its request was small or none, and small requests
    // make a large one by and by.
    if (stored !== undefined && (isLarge || isLong || isLargeObject(live.stored))) noteLarge(stored);
    return stored === undefined ? undefined : viewed(resource, stored);
  }

  /** Removes `live`; the answer carries the revision of the removal. Undefined when somebody else was faster. */
  remove(live: Live, dryRun: boolean): JsonObject | undefined {
    const { store, process } = this.context;
    if (dryRun) return this.isCurrent(live) ? live.object : undefined;
    const revision = store.delete(live.key, live.modRevision);
    if (revision === undefined) return undefined;
    process.trace("write", live.key, revision, "");
    const gone = seal(withResourceVersion(live.object, String(revision)));
    if (isLargeObject(live.stored)) rememberLarge(gone);
    return gone;
  }

  private isCurrent(live: Live): boolean {
    const now = this.context.store.get(live.key);
    return typeof now === "object" && now.modRevision === live.modRevision;
  }
}

/** Of an object as JSON: one that is shorter has few values. */
const longBytesMin = 32 * 1024;

/** What objects that are made alike may have in common: see `SharedSpecs` and the entries of managed fields. */
function sharedByTemplate(object: JsonObject): JsonObject {
  const { managedFields } = metadataOf(object) as JsonObject;
  return { spec: object["spec"], metadata: { managedFields } } as JsonObject;
}

function liveOf(resource: ServedResource, found: KeyValue): Live {
  const stored = found.value as JsonObject;
  return { key: found.key, stored, object: viewed(resource, stored), modRevision: found.modRevision };
}

function toStored(resource: ServedResource, draft: Draft): JsonObject {
  return resource.view === undefined ? (draft as JsonObject) : resource.view.toStored(draft as JsonObject);
}

/** The 422 for an object that fails validation. */
export function invalidObject(resource: ServedResource, name: string, causes: Parameters<typeof invalid>[3]): ApiError {
  return invalid(resource.row.kind, resource.kindGroup, name, causes);
}

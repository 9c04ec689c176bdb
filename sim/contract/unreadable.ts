/**
 * Objects that lie in the store and cannot be read back: the key that they were encrypted with is gone, or their bytes
 * are no object any more. Caches still have what they had read before; whoever asks the store gets an error.
 * One set for each store, shared by all servers on it.
 * Source: document 1, States and transitions (corrupt stored object); the published server's unsafe deletion and the
 * integration tests of it, which the texts are taken from.
 */
import { perStore } from "../store/per-store.ts";
import type { Store, StoreEvent } from "../store/types.ts";
import { ApiError, internalError, type ResourceName } from "./errors.ts";
import type { FeatureGates } from "./profile.ts";

const ofStore = perStore<Unreadable>();

/** A server asks for it before its caches subscribe to the store: it must hear of a removal before they do. */
export const unreadableOf = (store: Store): Unreadable => ofStore(store, () => new Unreadable(store));

export class Unreadable {
  private readonly keys = new Set<string>();
  /** Revisions at which an unreadable object was removed: nobody can be told what it was. */
  private readonly removals = new Set<number>();

  constructor(store: Store) {
    store.subscribe(({ key, value, revision }) => {
      if (this.keys.size > 0 && value === undefined && this.keys.delete(key)) this.removals.add(revision);
    });
  }

  /** From now on, or once it is stored, what `key` holds cannot be read. Its removal ends that. */
  mark(key: string): void {
    this.keys.add(key);
  }

  has(key: string): boolean {
    return this.keys.size > 0 && this.keys.has(key);
  }

  /** Those in [start, end) that `store` holds, in order; an empty `end` means no end. */
  within(store: Store, start: string, end: string): readonly string[] {
    if (this.keys.size === 0) return none;
    const inside = [...this.keys].filter((key) => key >= start && (end === "" || key < end));
    return inside.filter((key) => store.get(key) !== undefined).sort();
  }

  /** A removal that watchers cannot be shown. */
  isLost({ value, revision }: StoreEvent): boolean {
    return value === undefined && this.removals.has(revision);
  }
}

const none: readonly string[] = [];

/** A path was to name an object. */
export class NoObjectPath extends Error {
  constructor(path: string) {
    super(`${path} is no object's path. Give one such as /api/v1/namespaces/default/configmaps/a.`);
  }
}

const why = "no matching prefix found";
const problem = `data from the storage is not transformable revision=0: ${why}`;
const storageProblem = (key: string): string =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`;

/** The 500 of whoever needs the object at `key`. Without the gate it does not even say which one that is. */
export function unreadableObject(key: string, gates: FeatureGates): ApiError {
  return internalError(gates.AllowUnsafeMalformedObjectDeletion ? storageProblem(key) : why);
}

const namedMax = 100;

/** The 500 of a list that the store is asked for. With the gate it names what has to be deleted. */
export function unreadableList(resource: ResourceName, keys: readonly string[], gates: FeatureGates): ApiError {
  if (!gates.AllowUnsafeMalformedObjectDeletion) return internalError(why);
  const { group, resource: plural } = resource;
  const subject = group === "" ? plural : `${plural}.${group}`;
  return new ApiError(500, "StorageReadError", `failed to read one or more ${subject} from the storage`, {
    name: "list",
    ...(group === "" ? {} : { group }),
    kind: plural,
    causes: keys
      .slice(0, namedMax)
      .map((key) => ({ reason: "UnexpectedServerResponse", message: storageProblem(key), field: key })),
  });
}

/** What ends a watch without a cache when an unreadable object is removed. */
export function lostDeletion(): ApiError {
  return new ApiError(500, "StorageReadError", `saw a DELETED event, but object data is corrupt - ${problem}`);
}

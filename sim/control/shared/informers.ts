/**
 * What controllers share: each collection followed once, its objects kept with indexes, and whoever asked told of what
 * changed. Source: client-go, tools/cache (shared informers and their indexers).
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { OwnerReference } from "../../contract/objects.ts";
import type { Reflectors } from "../../client/reflectors.ts";
import type { Stored } from "./stored.ts";

export interface InformerHearer<Kind> {
  /** Created (then nothing was before) or changed. */
  changed(object: Kind, before: Kind | undefined): void;
  /** Deleted; as it last was. */
  gone(object: Kind): void;
}

export class Informers {
  private readonly reflectors: Reflectors;
  private readonly byPath = new Map<string, Informer<Stored>>();

  constructor(reflectors: Reflectors) {
    this.reflectors = reflectors;
  }

  /** `path` is a whole collection: `/api/v1/pods`. */
  of<Kind extends Stored>(path: string): Informer<Kind> {
    let informer = this.byPath.get(path);
    if (informer === undefined) {
      const made = new Informer<Stored>();
      this.byPath.set(path, (informer = made));
      this.reflectors.follow(path, {
        replaced: (objects) => made.replace(objects as unknown as readonly Stored[]),
        changed: (object) => made.set(object as unknown as Stored),
        gone: (object) => made.remove(object as unknown as Stored),
      });
    }
    return informer as unknown as Informer<Kind>;
  }

  onceSynced(done: () => void): void {
    this.reflectors.onceSynced(done);
  }
}

/** No uid looks like it. */
const orphansOf = (namespace: string): string => `orphans/${namespace}`;

/** `namespace/name`, or the name of what lies in no namespace. */
export function keyOf({ metadata: { namespace, name } }: Stored): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

type Index<Kind> = Map<string, Map<string, Kind>>;

/** Objects by a value of theirs, in the order of keys. */
export interface Lookup<Kind> {
  (value: string): readonly Kind[];
  /** Those values that some object has. */
  values(): Iterable<string>;
}

export class Informer<Kind extends Stored> {
  private readonly objects = new Map<string, Kind>();
  private readonly indexes: { readonly valueOf: (object: Kind) => string | undefined; readonly index: Index<Kind> }[] =
    [];
  private readonly hearers: InformerHearer<Kind>[] = [];
  /** Made when first asked for: of leases and nodes, which change all the time, nobody asks. */
  private namespaces: Lookup<Kind> | undefined;
  private controllers: Lookup<Kind> | undefined;

  hear(hearer: InformerHearer<Kind>): void {
    this.hearers.push(hearer);
  }

  get(key: string): Kind | undefined {
    return this.objects.get(key);
  }

  get size(): number {
    return this.objects.size;
  }

  all(): Iterable<Kind> {
    return this.objects.values();
  }

  inNamespace(namespace: string): readonly Kind[] {
    return (this.namespaces ??= this.indexed(({ metadata }) => metadata.namespace ?? ""))(namespace);
  }

  /** Those that the object with this uid controls. */
  controlledBy(uid: string): readonly Kind[] {
    return this.byController(uid);
  }

  /** Those that nobody controls. */
  orphansIn(namespace: string): readonly Kind[] {
    return this.byController(orphansOf(namespace));
  }

  private byController(uid: string): readonly Kind[] {
    this.controllers ??= this.indexed(
      (object) => controllerOf(object)?.uid ?? orphansOf(object.metadata.namespace ?? ""),
    );
    return this.controllers(uid);
  }

  /** An index by a value of each object; what has none is in it nowhere. Answers come in the order of keys. */
  indexed(valueOf: (object: Kind) => string | undefined): Lookup<Kind> {
    const index: Index<Kind> = new Map();
    this.indexes.push({ valueOf, index });
    for (const [key, object] of this.objects) place(index, valueOf(object), key, object);
    return Object.assign((value: string) => sortedValues(index.get(value)), { values: () => index.keys() });
  }

  replace(objects: readonly Kind[]): void {
    const present = new Set(objects.map(keyOf));
    for (const [key, object] of [...this.objects]) if (!present.has(key)) this.remove(object);
    for (const object of objects) this.set(object);
  }

  set(object: Kind): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    if (before !== undefined && before.metadata.resourceVersion === object.metadata.resourceVersion) return;
    // Deleted and made again while nobody looked: two objects, not one.
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) {
      this.remove(before);
      this.set(object);
      return;
    }
    this.objects.set(key, object);
    for (const { valueOf, index } of this.indexes) {
      const value = valueOf(object);
      if (before !== undefined && valueOf(before) !== value) displace(index, valueOf(before), key);
      place(index, value, key, object);
    }
    for (const hearer of this.hearers) hearer.changed(object, before);
  }

  remove(object: Kind): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    if (before === undefined) return;
    this.objects.delete(key);
    for (const { valueOf, index } of this.indexes) displace(index, valueOf(before), key);
    for (const hearer of this.hearers) hearer.gone(object);
  }
}

function place<Kind>(index: Index<Kind>, value: string | undefined, key: string, object: Kind): void {
  if (value === undefined) return;
  let group = index.get(value);
  if (group === undefined) index.set(value, (group = new Map()));
  group.set(key, object);
}

function displace<Kind>(index: Index<Kind>, value: string | undefined, key: string): void {
  if (value === undefined) return;
  const group = index.get(value);
  group?.delete(key);
  if (group?.size === 0) index.delete(value);
}

function sortedValues<Kind>(group: ReadonlyMap<string, Kind> | undefined): readonly Kind[] {
  if (group === undefined) return [];
  if (group.size < 2) return [...group.values()];
  return [...group].sort(([left], [right]) => compareBytes(left, right)).map(([, object]) => object);
}

/** The one reference that says it controls the object. */
export function controllerOf({ metadata }: Stored): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** As a request's body. */
export function bodyOf(object: object): JsonObject {
  return object as JsonObject;
}

/**
 * Who owns whom, by uid, as far as garbage collection is concerned. It only keeps what owns, is owned, or is being
 * deleted with a finalizer for its dependents; of all other objects it knows nothing, and they cost nothing.
 *
 * An owner that only a reference speaks of is *virtual* until a read of it has shown that it is there.
 * Source: the published garbage collector's graph builder: how events are absorbed. It keeps a node for every object
 * and learns of owners from their own events alone.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf, type OwnerReference } from "../../contract/objects.ts";
import { type GarbageLaw, garbageLaw } from "./garbage-law.ts";

/** As a reference names its owner, and the namespace that it must be in. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for what lies in none; of a virtual owner, its dependent's. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface GraphNode {
  identity: Identity;
  owners: readonly OwnerReference[];
  readonly dependents: Set<GraphNode>;
  virtual: boolean;
  beingDeleted: boolean;
  /** Deleted in the foreground: it goes when its dependents that block it have gone. */
  waitsForDependents: boolean;
  /** It goes when its dependents have forgotten it. */
  orphansDependents: boolean;
}

/** What is to be done about changes of the graph. */
export interface GraphHearer {
  attemptToDelete(node: GraphNode): void;
  /** Not at once: it may have to be looked at many times. */
  attemptToDeleteLater(node: GraphNode): void;
  attemptToOrphan(node: GraphNode): void;
  /** A reference names an owner in another namespace. */
  ownerElsewhere(node: GraphNode, owner: OwnerReference): void;
  /** The node is no longer in the graph. */
  forgotten(node: GraphNode): void;
}

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

/** Owners remembered as absent. */
const absentMax = 500;

export class Graph {
  private readonly hearer: GraphHearer;
  private readonly nodes = new Map<string, GraphNode>();
  private readonly absent = new Set<string>();
  private readonly law: () => GarbageLaw;

  /** `law` is asked anew at each decision. */
  constructor(hearer: GraphHearer, law = (): GarbageLaw => garbageLaw) {
    this.hearer = hearer;
    this.law = law;
  }

  /** Nodes known. */
  get size(): number {
    return this.nodes.size;
  }

  /** The nodes of one kind that have been seen. */
  seen(apiVersion: string, kind: string): readonly GraphNode[] {
    return [...this.nodes.values()].filter(
      ({ identity, virtual }) => !virtual && identity.apiVersion === apiVersion && identity.kind === kind,
    );
  }

  /** The object was created or changed, or is as it is here. */
  changed(apiVersion: string, kind: string, object: JsonObject): void {
    const metadata = metadataOf(object);
    const { uid = "", ownerReferences = [], deletionTimestamp, finalizers = [] } = metadata;
    const beingDeleted = deletionTimestamp !== undefined;
    let node = this.nodes.get(uid);
    if (node === undefined) {
      // The way of nearly every object.
      if (ownerReferences.length === 0 && !(beingDeleted && isForDependents(finalizers))) return;
      node = newNode(identityOf(apiVersion, kind, object), false);
      this.nodes.set(uid, node);
    } else if (node.virtual) this.observe(node, identityOf(apiVersion, kind, object));
    if (node.owners !== ownerReferences) this.setOwners(node, ownerReferences);
    if (beingDeleted) {
      node.beingDeleted = true;
      this.beginDeletion(node, finalizers);
    }
    this.forgetIfAlone(node);
  }

  /** A read has found a virtual owner. Nothing is done when it has meanwhile gone from the graph. */
  found(node: GraphNode, apiVersion: string, kind: string, object: JsonObject): void {
    if (node.virtual && this.has(node)) this.changed(apiVersion, kind, object);
  }

  /** The object was deleted; as it last was. */
  gone(apiVersion: string, kind: string, object: JsonObject): void {
    const node = this.nodes.get(metadataOf(object).uid ?? "");
    if (node === undefined) return;
    if (node.virtual) this.observe(node, identityOf(apiVersion, kind, object));
    this.remove(node, node.identity);
  }

  /** A list of the kind lacks the object, which was seen before. */
  missing(node: GraphNode): void {
    if (this.has(node)) this.remove(node, node.identity);
  }

  has(node: GraphNode): boolean {
    return this.nodes.get(node.identity.uid) === node;
  }

  /** A read has found that there is no such object. That is no proof against an object that was seen elsewhere. */
  verifiedAbsent(identity: Identity): void {
    const node = this.nodes.get(identity.uid);
    if (node === undefined) return;
    const others = node.virtual ? [...node.dependents].filter((each) => !refersTo(each, identity)) : [];
    if (others.length === 0 && (node.virtual || isSame(node.identity, identity))) {
      this.remove(node, identity);
      return;
    }
    const matching = [...node.dependents].filter((each) => refersTo(each, identity));
    if (matching.length > 0) this.rememberAbsent(identity);
    for (const dependent of matching) this.hearer.attemptToDelete(dependent);
    if (!node.virtual || !isSame(node.identity, identity)) return;
    // Some dependents know it under other coordinates: those are looked up next.
    const other = nextIdentity(others, identity);
    if (other === undefined) return;
    node.identity = other;
    this.hearer.attemptToDeleteLater(node);
  }

  isAbsent(owner: OwnerReference, namespace: string): boolean {
    return this.absent.has(keyOf({ ...owner, namespace: "" })) || this.absent.has(keyOf({ ...owner, namespace }));
  }

  rememberAbsent(identity: Identity): void {
    if (this.absent.size === absentMax) this.absent.delete(this.absent.values().next().value as string);
    this.absent.add(keyOf(identity));
  }

  /** Dependents that must go before `node` does. */
  blocking(node: GraphNode): readonly GraphNode[] {
    const { uid } = node.identity;
    return [...node.dependents].filter((dependent) =>
      referencesTo(dependent, uid).some((owner) => owner.blockOwnerDeletion === true),
    );
  }

  private observe(node: GraphNode, identity: Identity): void {
    const elsewhere = [...node.dependents].filter((dependent) => !couldOwn(identity, dependent));
    node.identity = identity;
    node.virtual = false;
    for (const dependent of elsewhere) this.reportElsewhere(dependent, identity.uid);
    for (const dependent of elsewhere) this.hearer.attemptToDelete(dependent);
  }

  private setOwners(node: GraphNode, owners: readonly OwnerReference[]): void {
    const before = node.owners;
    const formerly = new Set(before.map(({ uid }) => uid));
    node.owners = owners;
    for (const old of before) {
      const [now] = referencesTo(node, old.uid);
      // Whoever waited for this dependent may go now.
      if (old.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true) this.attempt(old.uid);
      if (now === undefined) this.leave(node, old.uid);
    }
    let doubtful = false;
    for (const owner of owners) {
      if (formerly.has(owner.uid)) continue;
      doubtful = this.join(node, owner) || doubtful;
    }
    if (doubtful) this.hearer.attemptToDelete(node);
  }

  /** True when the reference may name something that is not what it says. */
  private join(node: GraphNode, owner: OwnerReference): boolean {
    const known = this.nodes.get(owner.uid);
    const { apiVersion, kind, name, uid } = owner;
    const parent = known ?? newNode({ apiVersion, kind, name, uid, namespace: node.identity.namespace }, true);
    parent.dependents.add(node);
    if (known === undefined) {
      this.nodes.set(uid, parent);
      this.hearer.attemptToDelete(parent); // finds out whether there is one
      return false;
    }
    if (!couldOwn(parent.identity, node)) {
      if (!parent.virtual) this.reportElsewhere(node, uid);
      return true;
    }
    // A new dependent of an owner that is going has to go, too.
    if (parent.waitsForDependents) this.hearer.attemptToDelete(node);
    return !isSame({ ...parent.identity, namespace: "" }, { ...owner, namespace: "" });
  }

  private leave(node: GraphNode, ownerUid: string): void {
    const parent = this.nodes.get(ownerUid);
    if (parent === undefined) return;
    parent.dependents.delete(node);
    this.forgetIfAlone(parent);
  }

  /** Every deletion that names a policy sets its finalizer anew, so each time that one appears is a beginning. */
  private beginDeletion(node: GraphNode, finalizers: readonly string[]): void {
    const { goesOn } = this.law();
    node.orphansDependents = goesOn(node.orphansDependents, finalizers.includes(orphanFinalizer));
    node.waitsForDependents = goesOn(node.waitsForDependents, finalizers.includes(foregroundFinalizer));
    if (finalizers.includes(orphanFinalizer)) {
      if (!node.orphansDependents) this.hearer.attemptToOrphan(node);
      node.orphansDependents = true;
    } else if (finalizers.includes(foregroundFinalizer) && !node.waitsForDependents) {
      node.waitsForDependents = true;
      for (const dependent of node.dependents) this.hearer.attemptToDelete(dependent);
      this.hearer.attemptToDelete(node);
    }
  }

  private remove(node: GraphNode, absent: Identity): void {
    this.nodes.delete(node.identity.uid);
    this.hearer.forgotten(node);
    for (const { uid } of node.owners) {
      if (this.nodes.get(uid)?.waitsForDependents === true) this.attempt(uid);
      this.leave(node, uid);
    }
    if (node.dependents.size > 0) this.rememberAbsent(absent);
    for (const dependent of node.dependents) this.hearer.attemptToDelete(dependent);
  }

  private forgetIfAlone(node: GraphNode): void {
    if (node.owners.length > 0 || node.dependents.size > 0 || node.beingDeleted) return;
    this.nodes.delete(node.identity.uid);
    this.hearer.forgotten(node);
  }

  private attempt(uid: string): void {
    const node = this.nodes.get(uid);
    if (node !== undefined) this.hearer.attemptToDelete(node);
  }

  private reportElsewhere(node: GraphNode, ownerUid: string): void {
    const [owner] = referencesTo(node, ownerUid);
    if (owner !== undefined) this.hearer.ownerElsewhere(node, owner);
  }
}

/** What `dependent` says of the owner with this uid: mostly one reference. */
export function referencesTo({ owners }: GraphNode, uid: string): readonly OwnerReference[] {
  if (owners.length <= fewOwners) return owners.filter((owner) => owner.uid === uid);
  let index = indexes.get(owners);
  if (index === undefined) indexes.set(owners, (index = Map.groupBy(owners, (owner) => owner.uid)));
  return index.get(uid) ?? noOwners;
}

/** An index costs more than to look at so many. */
const fewOwners = 16;
const indexes = new WeakMap<readonly OwnerReference[], ReadonlyMap<string, readonly OwnerReference[]>>();

function newNode(identity: Identity, virtual: boolean): GraphNode {
  return {
    identity,
    owners: noOwners,
    dependents: new Set(),
    virtual,
    beingDeleted: false,
    waitsForDependents: false,
    orphansDependents: false,
  };
}

const noOwners: readonly OwnerReference[] = [];

function identityOf(apiVersion: string, kind: string, object: JsonObject): Identity {
  const { namespace = "", name = "", uid = "" } = metadataOf(object);
  return { apiVersion, kind, namespace, name, uid };
}

function isForDependents(finalizers: readonly string[]): boolean {
  return finalizers.includes(orphanFinalizer) || finalizers.includes(foregroundFinalizer);
}

/** What lies in a namespace can only own what lies there, too. */
function couldOwn(owner: Identity, dependent: GraphNode): boolean {
  return owner.namespace === "" || owner.namespace === dependent.identity.namespace;
}

function refersTo(dependent: GraphNode, owner: Identity): boolean {
  const { namespace } = dependent.identity;
  return (
    couldOwn(owner, dependent) &&
    referencesTo(dependent, owner.uid).some((each) => isSame({ ...each, namespace }, { ...owner, namespace }))
  );
}

function isSame(left: Identity, right: Identity): boolean {
  return keyOf(left) === keyOf(right);
}

function keyOf({ uid, apiVersion, kind, namespace, name }: Identity): string {
  return `${uid} ${apiVersion} ${kind} ${namespace} ${name}`;
}

/** The next in order of the coordinates under which dependents know an owner; after the last comes the first. */
function nextIdentity(dependents: readonly GraphNode[], after: Identity): Identity | undefined {
  const known = new Map<string, Identity>();
  for (const dependent of dependents) {
    for (const { apiVersion, kind, name, uid } of referencesTo(dependent, after.uid)) {
      const other = { apiVersion, kind, name, uid, namespace: dependent.identity.namespace };
      if (!isSame(other, after)) known.set(keyOf(other), other);
    }
  }
  const keys = [...known.keys()].sort();
  return known.get(keys.find((key) => key > keyOf(after)) ?? keys[0] ?? "");
}

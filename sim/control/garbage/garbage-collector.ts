/**
 * Deletes what has owners of which none is left; lets owners go that are deleted in the foreground once their
 * dependents have gone, and owners that orphan theirs once these have forgotten them. The graph only says where to
 * look: every decision is made on what a read finds.
 * Source: the published garbage collector (attemptToDelete, attemptToOrphan); document 1, States and transitions.
 *
 * Simplification: a reference to a kind that nobody serves waits until kinds come or go. The real collector tries it
 * again and again.
 */
import type { ServerBugs } from "../../planted/server-bugs.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf, type OwnerReference } from "../../contract/objects.ts";
import type { Cancel } from "../../kernel/types.ts";
import { type ApiType, type ApiTypes, pathOf } from "../api-types.ts";
import type { ControlClient } from "../../client/control-client.ts";
import { EventRecorder } from "../event-recorder.ts";
import type { Reflectors } from "../../client/reflectors.ts";
import type { QueueCount } from "../../client/queue-counts.ts";
import { inTurns, oneByOne, type Outcome, WorkQueue } from "../../client/work-queue.ts";
import {
  foregroundFinalizer,
  Graph,
  type GraphHearer,
  type GraphNode,
  type Identity,
  orphanFinalizer,
  referencesTo,
} from "./graph.ts";
import type { GarbageLaw, Owners } from "./garbage-law.ts";
import { garbageLawWith } from "../planted/garbage-bugs.ts";
import { OwnedObjects } from "./owned-objects.ts";

type Done = (outcome: Outcome) => void;

export interface GarbageCollectorOptions {
  readonly client: ControlClient;
  readonly reflectors: Reflectors;
  readonly types: ApiTypes;
  readonly bugs?: ServerBugs | undefined;
}

export class GarbageCollector implements GraphHearer {
  private readonly client: ControlClient;
  private readonly reflectors: Reflectors;
  private readonly types: ApiTypes;
  private readonly law: () => GarbageLaw;
  private readonly objects: OwnedObjects;
  private readonly events: EventRecorder;
  private readonly graph: Graph;
  private readonly toDelete: WorkQueue<GraphNode>;
  private readonly toOrphan: WorkQueue<GraphNode>;
  /** The version that each resource is followed in. */
  private readonly versions = new Map<string, string>();
  /** By path. */
  private readonly followed = new Map<string, Cancel>();
  /** They wait for a kind that nobody serves. */
  private readonly parked = new Set<GraphNode>();

  constructor({ client, reflectors, types, bugs }: GarbageCollectorOptions) {
    const { process } = client;
    this.client = client;
    this.reflectors = reflectors;
    this.types = types;
    this.law = garbageLawWith(bugs ?? {});
    this.objects = new OwnedObjects(client);
    this.events = new EventRecorder(client, "garbage-collector-controller");
    this.graph = new Graph(this, this.law);
    const countOf = (queue: string): QueueCount => client.queueCounts.of(`garbage_collector_attempt_to_${queue}`);
    this.toDelete = new WorkQueue({
      process,
      count: countOf("delete"),
      work: (node, done) => this.tryToDelete(node, done),
    });
    this.toOrphan = new WorkQueue({
      process,
      count: countOf("orphan"),
      work: (node, done) => this.tryToOrphan(node, done),
    });
  }

  /** The types must be known. Nothing is done before every collection has been listed. */
  start(): void {
    this.followTypes();
    this.types.onChange(() => {
      this.followTypes();
      for (const node of this.parked) this.toDelete.add(node);
      this.parked.clear();
    });
    this.reflectors.onceSynced(() => {
      this.toDelete.open();
      this.toOrphan.open();
    });
  }

  attemptToDelete(node: GraphNode): void {
    this.toDelete.add(node);
  }

  attemptToDeleteLater(node: GraphNode): void {
    this.toDelete.addLimited(node);
  }

  attemptToOrphan(node: GraphNode): void {
    this.toOrphan.add(node);
  }

  ownerElsewhere({ identity }: GraphNode, owner: OwnerReference): void {
    const { apiVersion, kind, name, uid } = owner;
    const reference = `[${apiVersion}/${kind}, namespace: ${identity.namespace}, name: ${name}, uid: ${uid}]`;
    const message = `ownerRef ${reference} does not exist in namespace ${JSON.stringify(identity.namespace)}`;
    this.events.tell(identity, "Warning", "OwnerRefInvalidNamespace", message);
  }

  forgotten(node: GraphNode): void {
    this.toDelete.drop(node);
    this.toOrphan.drop(node);
    this.parked.delete(node);
  }

  private followTypes(): void {
    const wanted = new Map(
      this.types
        .preferred()
        .filter(isCollected)
        .map((type) => [pathOf(type, "", ""), type] as const),
    );
    for (const [path, unfollow] of [...this.followed]) {
      if (wanted.has(path)) continue;
      this.followed.delete(path);
      unfollow();
    }
    for (const [path, type] of wanted) {
      this.versions.set(`${type.resource}.${type.group}`, type.apiVersion);
      if (!this.followed.has(path)) this.followed.set(path, this.reflectors.follow(path, this.hearerOf(type)));
    }
  }

  private hearerOf({ apiVersion, kind }: ApiType): Parameters<Reflectors["follow"]>[1] {
    const { graph } = this;
    return {
      replaced: (objects) => {
        const uids = new Set(objects.map((object) => metadataOf(object).uid));
        for (const node of graph.seen(apiVersion, kind)) if (!uids.has(node.identity.uid)) graph.missing(node);
        for (const object of objects) graph.changed(apiVersion, kind, object);
      },
      changed: (object) => graph.changed(apiVersion, kind, object),
      gone: (object) => graph.gone(apiVersion, kind, object),
    };
  }

  /** 1. Is it there? 2. Is it an owner that waits? 3. Who is left of its own owners? */
  private tryToDelete(node: GraphNode, done: Done): void {
    if (!this.graph.has(node) || (node.beingDeleted && !node.waitsForDependents)) {
      done("done");
      return;
    }
    const path = this.pathOf(node, node.identity);
    if (path === undefined) {
      done("done");
      return;
    }
    const { identity } = node;
    this.client.get(path, ({ status, object }) => {
      if (status === 404 || (status === 200 && metadataOf(object as JsonObject).uid !== identity.uid)) {
        this.lookElsewhere(node, identity, done);
      } else if (status !== 200 || object === undefined) done("again");
      else {
        this.graph.found(node, this.followedVersion(identity), identity.kind, object);
        if (node.waitsForDependents) this.letGo(node, path, object, done);
        else this.judge(node, path, object, done);
      }
    });
  }

  /**
   * An owner that is not where a dependent says may be in another namespace, where it is the owner of others.
   *
   * Simplification: the real collector remembers every object that it ever heard of, and need not ask.
   */
  private lookElsewhere(node: GraphNode, identity: Identity, done: Done): void {
    const type = this.types.ofKind(identity.apiVersion, identity.kind);
    if (!node.virtual || type?.namespaced !== true) {
      this.graph.verifiedAbsent(identity);
      done("done");
      return;
    }
    const query = `fieldSelector=${encodeURIComponent(`metadata.name=${identity.name}`)}`;
    this.client.call({ method: "GET", path: pathOf(type, "", ""), query }, ({ status, object: list }) => {
      const namesakes = (list?.["items"] ?? []) as readonly JsonObject[];
      const found = namesakes.find((object) => metadataOf(object).uid === identity.uid);
      if (status !== 200) done("again");
      else {
        if (found === undefined) this.graph.verifiedAbsent(identity);
        else this.graph.found(node, this.followedVersion(identity), identity.kind, found);
        done("done");
      }
    });
  }

  /** Whatever version a reference names, there is one that the object is followed in. */
  private followedVersion({ apiVersion, kind }: Identity): string {
    const type = this.types.ofKind(apiVersion, kind);
    return (type && this.versions.get(`${type.resource}.${type.group}`)) ?? apiVersion;
  }

  /** An owner that waits goes when nobody blocks it. */
  private letGo(node: GraphNode, path: string, live: JsonObject, done: Done): void {
    const blocking = this.graph.blocking(node);
    for (const dependent of blocking) if (!dependent.waitsForDependents) this.attemptToDelete(dependent);
    if (blocking.length > 0) done("done");
    else this.objects.removeFinalizer(path, live, foregroundFinalizer, done);
  }

  private judge(node: GraphNode, path: string, live: JsonObject, done: Done): void {
    const references = metadataOf(live).ownerReferences ?? [];
    if (references.length === 0) {
      done("done");
      return;
    }
    this.classify(node, references, (owners) => {
      if (owners === "parked") done("done");
      else if (owners === "unknown") done("again");
      else if (this.law().isOwned(owners)) this.free(node, path, owners, done);
      else if (owners.waiting.length > 0 && node.dependents.size > 0) {
        this.unblockCircle(node, path, live, done, (freed) => this.objects.delete(path, freed, "Foreground", done));
      } else this.objects.delete(path, live, propagationOf(live), done);
    });
  }

  /** Somebody still owns it: the references to the others go. */
  private free({ identity }: GraphNode, path: string, { dangling, waiting }: Owners, done: Done): void {
    const gone = [...dangling, ...waiting].map(({ uid }) => uid);
    if (gone.length === 0) done("done");
    else this.objects.removeOwners(path, identity.uid, gone, done);
  }

  /** An owner that waits, among the dependents of its dependent: none of them would ever go. `then` gets the object as it is. */
  private unblockCircle(
    node: GraphNode,
    path: string,
    live: JsonObject,
    done: Done,
    then: (live: JsonObject) => void,
  ): void {
    if (![...node.dependents].some(({ waitsForDependents }) => waitsForDependents)) {
      then(live);
      return;
    }
    this.objects.unblockOwners(path, live, (outcome) => {
      if (outcome === "again") done(outcome);
      else this.objects.read(path, node.identity.uid, done, then);
    });
  }

  /** `unknown`: a read failed. `parked`: there is a reference that nobody can follow. */
  private classify(
    node: GraphNode,
    references: readonly OwnerReference[],
    done: (owners: Owners | "unknown" | "parked") => void,
  ): void {
    const owners: Owners = { solid: [], dangling: [], waiting: [] };
    const { namespace } = node.identity;
    oneByOne(this.client.process, (at, next) => {
      const reference = references[at];
      if (reference === undefined) {
        done(owners);
        return;
      }
      if (this.graph.isAbsent(reference, namespace)) {
        owners.dangling.push(reference);
        next();
        return;
      }
      const path = this.pathOf(node, { ...reference, namespace });
      if (path === undefined) {
        done("parked");
        return;
      }
      this.client.get(path, ({ status, object }) => {
        if (status !== 404 && (status !== 200 || object === undefined)) {
          done("unknown");
          return;
        }
        if (object === undefined || status === 404 || metadataOf(object).uid !== reference.uid) {
          this.graph.rememberAbsent({ ...reference, namespace: this.namespaceOf(reference, namespace) });
          owners.dangling.push(reference);
        } else if (isWaiting(object)) owners.waiting.push(reference);
        else owners.solid.push(reference);
        next();
      });
    });
  }

  /** Undefined when there is no such kind, which may change, or when it lies in namespaces and `node` in none. */
  private pathOf(node: GraphNode, identity: Identity): string | undefined {
    const type = this.types.ofKind(identity.apiVersion, identity.kind);
    if (type === undefined) {
      this.parked.add(node);
      return undefined;
    }
    if (type.namespaced && identity.namespace === "") {
      const [owner] = referencesTo(node, identity.uid);
      if (owner !== undefined) this.ownerElsewhere(node, owner);
      return undefined;
    }
    if (!type.namespaced && node.virtual && node.identity === identity) node.identity = { ...identity, namespace: "" };
    return pathOf(type, identity.namespace, identity.name);
  }

  private namespaceOf({ apiVersion, kind }: OwnerReference, namespace: string): string {
    return this.types.ofKind(apiVersion, kind)?.namespaced === false ? "" : namespace;
  }

  /** 1. Every dependent forgets it. 2. It goes. */
  private tryToOrphan(node: GraphNode, done: Done): void {
    const path = this.pathOf(node, node.identity);
    if (path === undefined) {
      done("done");
      return;
    }
    const { uid } = node.identity;
    let worst: Outcome = "done";
    const forget = (dependent: GraphNode, next: () => void): void => {
      const place = this.pathOf(dependent, dependent.identity);
      if (place === undefined) {
        next();
        return;
      }
      this.objects.removeOwners(place, dependent.identity.uid, [uid], (outcome) => {
        if (outcome === "again") worst = outcome;
        next();
      });
    };
    inTurns(this.client.process, [...node.dependents], forget, () => {
      if (worst === "again") done(worst);
      else
        this.objects.read(path, uid, done, (live) => this.objects.removeFinalizer(path, live, orphanFinalizer, done));
    });
  }
}

/** Events own nothing and are owned by nothing; the others can be followed and deleted. */
function isCollected({ resource, verbs }: ApiType): boolean {
  return resource !== "events" && ["delete", "list", "watch"].every((verb) => verbs.includes(verb));
}

function isWaiting(owner: JsonObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadataOf(owner);
  return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer);
}

/** As its own finalizers want it. */
function propagationOf(object: JsonObject): "Orphan" | "Foreground" | "Background" {
  const { finalizers = [] } = metadataOf(object);
  if (finalizers.includes(orphanFinalizer)) return "Orphan";
  return finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background";
}

/**
 * What really happened to the store, from the beginning: every change with its time. A checker of a simulation may know
 * what no client does, and compares versions as numbers.
 */
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros } from "../kernel/types.ts";
import type { StoreEvent } from "../store/types.ts";
import { metadataOf } from "./metadata.ts";

export interface Change {
  readonly revision: number;
  readonly atMicros: Micros;
  readonly key: string;
  /** Undefined for a deletion. */
  readonly object: JsonObject | undefined;
  /** What was there before. */
  readonly previous: JsonObject | undefined;
}

/** Where objects of a resource lie: what the API calls them, and what the store does. */
export interface Place {
  /** `/registry/configmaps/default/`, of a collection; of all namespaces without the last part. */
  readonly prefix: string;
  /** `/registry/configmaps/default/a`; undefined for a collection. */
  readonly key: string | undefined;
  readonly subresource: string;
}

const noChanges: readonly Change[] = [];
const podsPrefix = "/registry/pods/";

/** Undefined for a pod that is bound to none. */
export function nodeOf(pod: JsonObject | undefined): string | undefined {
  const { nodeName = "" } = (pod?.["spec"] ?? {}) as { readonly nodeName?: string };
  return nodeName === "" ? undefined : nodeName;
}

/** What a prefix held at a revision, after so many of its changes. */
interface Past {
  revision: number;
  count: number;
  readonly state: Map<string, Change>;
}

export class Truth {
  readonly changes: Change[] = [];
  /** Newest change of every key that was ever written. */
  readonly heads = new Map<string, Change>();
  revision: number;
  compactedRevision = 0;
  private readonly byPrefix = new Map<string, Change[]>();
  private readonly byKey = new Map<string, Change[]>();
  /** Of pods, by the node that they are or were bound to. */
  private readonly byNode = new Map<string, Change[]>();
  private readonly pasts = new Map<string, Past>();
  private readonly places = new Map<string, Place | undefined>();
  private readonly nowMicros: () => Micros;

  constructor(revision: number, nowMicros: () => Micros) {
    this.revision = revision;
    this.nowMicros = nowMicros;
  }

  committed(event: StoreEvent): void {
    this.commit(event, this.nowMicros());
  }

  private commit({ revision, key, value, previous }: StoreEvent, atMicros: Micros): void {
    const change: Change = {
      revision,
      atMicros,
      key,
      object: value as JsonObject | undefined,
      previous: previous as JsonObject | undefined,
    };
    this.revision = revision;
    this.changes.push(change);
    this.heads.set(key, change);
    const ofKey = this.byKey.get(key);
    if (ofKey === undefined) this.byKey.set(key, [change]);
    else ofKey.push(change);
    for (const [prefix, list] of this.byPrefix) if (key.startsWith(prefix)) list.push(change);
    if (key.startsWith(podsPrefix)) {
      const [before, now] = [nodeOf(change.previous), nodeOf(change.object)];
      if (now !== undefined) this.boundTo(now).push(change);
      if (before !== undefined && before !== now) this.boundTo(before).push(change);
    }
  }

  /** The store is another one now, and this is all that it knows. */
  restart(events: readonly StoreEvent[], revision: number): void {
    const times = new Map(this.changes.map(({ revision: at, atMicros }) => [at, atMicros]));
    const now = this.nowMicros;
    this.changes.length = 0;
    this.heads.clear();
    this.byKey.clear();
    this.pasts.clear();
    for (const list of this.byPrefix.values()) list.length = 0;
    for (const list of this.byNode.values()) list.length = 0;
    for (const event of events) this.commit(event, times.get(event.revision) ?? now());
    this.revision = revision;
  }

  /** Every change under a prefix, oldest first. The list grows while the run goes. */
  under(prefix: string): readonly Change[] {
    let list = this.byPrefix.get(prefix);
    if (list === undefined) {
      list = this.changes.filter(({ key }) => key.startsWith(prefix));
      this.byPrefix.set(prefix, list);
    }
    return list;
  }

  /** Every change of the pods that are, or were until then, bound to a node, oldest first. The list grows. */
  onNode(node: string): readonly Change[] {
    return this.boundTo(node);
  }

  private boundTo(node: string): Change[] {
    let list = this.byNode.get(node);
    if (list === undefined) this.byNode.set(node, (list = []));
    return list;
  }

  of(key: string): readonly Change[] {
    return this.byKey.get(key) ?? noChanges;
  }

  /** Index of the first change in `list` with a revision above this one: by halves. */
  after(list: readonly Change[], revision: number): number {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle] as Change).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * What a prefix held at a revision, by key: to be read at once, for the next question goes on from it. Mostly each is about a later
   * revision than the one before.
   */
  stateAt(prefix: string, revision: number): ReadonlyMap<string, Change> {
    const changes = this.under(prefix);
    let past = this.pasts.get(prefix);
    if (past === undefined || past.revision > revision) {
      past = { revision, count: 0, state: new Map() };
      this.pasts.set(prefix, past);
    }
    past.revision = revision;
    for (; past.count < changes.length; past.count++) {
      const change = changes[past.count] as Change;
      if (change.revision > revision) break;
      if (change.object === undefined) past.state.delete(change.key);
      else past.state.set(change.key, change);
    }
    return past.state;
  }

  /** `/api/v1/namespaces/default/configmaps/a` → its place in the store; undefined for what is no resource. */
  place(path: string): Place | undefined {
    const known = this.places.get(path);
    if (known !== undefined || this.places.has(path)) return known;
    const place = placeOf(path);
    this.places.set(path, place);
    return place;
  }
}

function placeOf(path: string): Place | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const group = parts[0] === "apis" ? (parts[1] ?? "") : "";
  let rest = parts[0] === "api" ? parts.slice(2) : parts[0] === "apis" ? parts.slice(3) : [];
  let namespace = "";
  if (rest[0] === "namespaces" && rest.length > 2) {
    namespace = `${rest[1]}/`;
    rest = rest.slice(2);
  }
  const [resource, name, subresource = ""] = rest;
  if (resource === undefined) return undefined;
  const isEvent = resource === "events";
  const prefix = `/registry/${resource}${group === "" || isEvent ? "" : `.${neutral(group)}`}/${namespace}`;
  return { prefix, key: name === undefined ? undefined : prefix + name, subresource };
}

/** Storage keys have the neutral names of groups. */
const neutral = (group: string): string => group.replace(/(^|\.)k8s\.io$/, "$1svc.io");

/** `default/a`, for people. */
export const shownKey = (key: string): string => key.split("/").slice(2).join("/");

export const revisionOf = (object: JsonObject | undefined): number => Number(metadataOf(object).resourceVersion ?? "0");

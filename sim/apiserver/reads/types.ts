/**
 * How the server's pipeline asks for a read. `startGet`, `startList` and `startWatch` know resource versions,
 * paging, selectors and streams; they know nothing of paths, media types or sockets.
 *
 * Each answers through its sink: within the call when nothing has to be waited for, later otherwise, and
 * never after the returned cancel. Errors arrive as `ApiError` through the sink and are not thrown.
 */
import type { ListCounts } from "./list-counts.ts";
import type { FieldSelector, LabelSelector } from "../../../wire/selectors.ts";
import type { Process } from "../../kernel/types.ts";
import type { Store } from "../../store/types.ts";
import type { FrontEnd } from "../cache/front-end.ts";
import type { ApiError, ResourceName } from "../../contract/errors.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Unreadable } from "../../contract/unreadable.ts";
import type { FieldValue } from "../../kinds/shared/field-labels.ts";

export interface ReadContext {
  /** With the gates in force. */
  readonly profile: Profile;
  readonly store: Store;
  readonly unreadable: Unreadable;
  readonly frontEnd: FrontEnd;
  /** The API server's own process: waits and watches die with it. */
  readonly process: Process;
  readonly listCounts: ListCounts;
}

/** The field labels that a resource's selectors may name, each with its reader. */
export interface FieldLabels {
  readonly values: ReadonlyMap<string, FieldValue>;
  /** True for types without a set of their own: the refusal then names the two metadata labels. */
  readonly metadataOnly: boolean;
}

/** What a read must know of a resource. Made once for each resource. */
export interface ReadTarget {
  /** Storage prefix with its final slash, `/registry/configmaps/`; a key is prefix, namespace and slash when namespaced, name. */
  readonly prefix: string;
  readonly namespaced: boolean;
  /** False for a type without a watch cache; see `isCached`. */
  readonly cached: boolean;
  /** As errors name it, in the dialect. */
  readonly name: ResourceName;
  /** Of a bookmark's object, in the dialect. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly fieldLabels: FieldLabels;
  /** Fields beside metadata that a bookmark's object shows under `profile.bookmarkZeroFields`; none when left out. */
  readonly zeroFields?: JsonObject;
}

/** `namespace` is "" for a cluster-scoped resource. `resourceVersion` is as sent; "" when absent. */
export interface GetRequest {
  /** The storage key, when the caller has it already. */
  readonly key?: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

/** A list's or watch's query parameters, parsed and valid in themselves. Made by `parseListOptions`. */
export interface ListOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  /** As sent; "" when absent. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: "" | "Exact" | "NotOlderThan";
  /** Undefined when absent. */
  readonly timeoutSeconds: number | undefined;
  /** 0 = no limit; a negative one was read as none. */
  readonly limit: number;
  /** "" when absent. */
  readonly continue: string;
  /** Undefined when absent; defaulted where the gate WatchList says so. */
  readonly sendInitialEvents: boolean | undefined;
}

/** `namespace` is "" for a cluster-scoped resource and for all namespaces. */
export interface ListRequest {
  readonly namespace: string;
  readonly options: ListOptions;
}

export interface GetSink {
  /** `object` is the stored one: shared and frozen. */
  found(object: JsonObject): void;
  failed(error: ApiError): void;
}

export interface ListResult {
  /**
   * Stored objects in key order, shared and frozen. Two lists of one collection at one state share the array.
   * Null only under the bug `list-null-items`.
   */
  readonly items: readonly JsonObject[] | null;
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly continue: string;
  /** Undefined when unknown, or when nothing remains. */
  readonly remainingItemCount: number | undefined;
  /** Objects looked at, and where. */
  readonly readCount: number;
  readonly origin: "cache" | "store";
}

export interface ListSink {
  listed(result: ListResult): void;
  failed(error: ApiError): void;
}

export type WatchEventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";

/**
 * Turns events into frames. One encoder for one representation, shared by all watches that want it: an event is
 * asked for once for each encoder while it goes out, however many watches there are.
 */
export interface WatchEncoder {
  event(type: WatchEventType, object: JsonObject): Payload;
  /** As `event("ADDED", object)`, for the state that a watch begins with; where its bytes can be shared with other watches. */
  initial?(object: JsonObject): Payload;
  /** Base64 of an empty list in this representation, for the bookmark that ends initial events. */
  readonly emptyList?: string;
}

/** Calls in order: `open` once, `event` any number of times, then `close`; or `failed` alone, before `open`. */
export interface WatchSink {
  /** The watch is accepted: headers must leave at once. */
  open(): void;
  /** Returns bytes that the peer has not read yet; 0 in process. */
  event(payload: Payload): number;
  /**
   * Called right after an `event` that said how much waits: `resume` follows once, later, when the peer has taken it. A
   * sink without it has no reader to wait for.
   */
  readonly whenTaken?: ((resume: () => void) => void) | undefined;
  /** The server ends the stream: timeout, error event, slow reader. Not called after a cancel. */
  close(): void;
  failed(error: ApiError): void;
}

export interface WatchRequest extends ListRequest {
  readonly encoder: WatchEncoder;
  /** Bytes waiting above which a sink that cannot say when they are taken loses its watch. Default 16 MiB. */
  readonly backlogBytesMax?: number;
}

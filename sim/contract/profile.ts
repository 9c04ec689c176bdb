/**
 * How the server behaves where the documents and the observed server part. One typed object, read where it
 * matters; a dialect (naming) plus switches. Each switch names its source: a clause of document 1 for `svc`,
 * a divergence `D…` of the facts for `kubernetes`.
 */
import { type Dialect, kubernetesDialect, svcDialect } from "../../wire/dialect.ts";

export interface Profile {
  /** Whose law: the documents', or that of a family of observed servers. */
  readonly name: "svc" | "kubernetes";
  /** The observed server's version, as `/version` says it. `svc` says the one by which its silences are filled. */
  readonly release: Release;
  readonly dialect: Dialect;
  /** Credentials absent: user `system:anonymous`, or 401. Document 1, Authentication 2; D1. */
  readonly anonymousAuth: boolean;
  /** Status of an invalid combination of resourceVersion, resourceVersionMatch and sendInitialEvents. D2. */
  readonly invalidListOptionsStatus: 400 | 422;
  /** Exact at a version that does not exist yet: 504 `Too large resource version`, or the storage's bare 500. D3. */
  readonly exactFutureStatus: 504 | 500;
  /** A watch from a version no longer retained: an HTTP 410, or 200 with an ERROR event. D4. */
  readonly watchTooOld: "response" | "event";
  /** What a watch cache keeps: everything in the history window, or a ring. D5. */
  readonly watchHistory: "window" | "ring";
  /** A watch without resourceVersion starts from a consistent read, or from whatever the cache has. D6. */
  readonly watchUnset: "most-recent" | "any";
  /** A bookmark's object carries zero-valued fields beside the version. D7. */
  readonly bookmarkZeroFields: boolean;
  /** The bookmark that ends initial events also says what an empty list looks like. */
  readonly initialEventsBlueprint: boolean;
  /** Values in messages are written as the server's language writes them, or as JSON. Facts, real servers, section 2. */
  readonly messageValues: "go" | "json";
  /** Groups in aggregated discovery, templates and reviews bear `creationTimestamp: null`. Facts, real servers, section 2. */
  readonly nullCreationTimes: boolean;
  /** Names of services: labels of RFC 1035, or those of DNS, which may begin with a digit. Facts, real servers, section 2. */
  readonly serviceNames: "rfc-1035" | "dns";
  /** Events are served without a watch cache: no bookmarks, immediate 504. D8. */
  readonly eventsUncached: boolean;
  /** `timeoutSeconds` bounds a plain list too. D9. */
  readonly listTimeoutSeconds: boolean;
  /** `limit` is honoured with resourceVersion=0 on cached types. D11. */
  readonly limitAtAnyVersion: boolean;
  /** `limit` is honoured with a token at version 0, too. Recorded from 1.33 and 1.36. */
  readonly limitWithTokenAtZero: boolean;
  /** limit + rv=n without match: both profiles read Exact. An unparsable rv: 400 always, or 500 where the observed server says 500. */
  readonly unparsableVersionStatus: 400 | 500;
  /** PUT without resourceVersion overwrites for all types, for the types of the table, or for none. D13. */
  readonly unconditionalUpdate: "by-type" | "never";
  /** PUT of an absent object creates: for all types, or for the types of the table. Document 1, verbs; D14. */
  readonly createOnUpdate: "all" | "by-type";
  /** Status of a strict field-validation failure in a JSON, merge or strategic patch. D15. */
  readonly strictPatchStatus: 400 | 422;
  /** JSON patches by their RFC, or as loosely as the observed server's library reads them. */
  readonly looseJsonPatch: boolean;
  /** `dryRun=` with no value: side effects allowed, or refused. Document 1, Dry-run 2; D17. */
  readonly emptyDryRun: "persist" | "refuse";
  /** Status of a dryRun value other than All. */
  readonly invalidDryRunStatus: 400 | 422;
  /** What a completed deletion answers: always Status, or per type the object. D18. */
  readonly deleteAnswers: "status" | "by-type";
  /** deletionTimestamp of what is given a grace period: the time of the request, or of the grace's end. Document 1, States and transitions; D19. */
  readonly gracefulDeletionTime: "request" | "end";
  /** What a deletecollection answers. D20. */
  readonly deleteCollectionAnswers: "status" | "list";
  /** Columns of a custom resource whose definition has none: everybody's Name and Created At, or Name and Age. D22. */
  readonly customTableColumns: "default" | "age";
  /** Of nothing, lists of metadata alone and tables of types without columns of their own bear null. Facts, real servers, section 3. */
  readonly nullWhenNothing: boolean;
  /** Lists of custom resources that are whole say so with an empty token. Facts, real servers, section 3. */
  readonly emptyTokens: boolean;
  /** Compression: whenever asked on get and list, or only above a body size in bytes. D23. */
  readonly gzipMinimumBytes: number;
  /** What is compressed at all: answers to get and list, or answers of every kind. Document 1, Media types 4; D23. */
  readonly gzipAnswers: "reads" | "all";
  /** POST with metadata.resourceVersion set: 400, or the observed 500 without a reason. */
  readonly createWithVersionStatus: 400 | 500;
  /** The server makes the Service by which it is reached from inside the cluster, and keeps its endpoints. */
  readonly ownService: boolean;
  /** Compactions per history window: 1 keeps old versions for one to two windows, as the observed server does. */
  readonly compactionsPerWindow: number;
  /** Feature gates and their defaults. Document 1, Versioning 3. */
  readonly featureGates: FeatureGates;
}

/** A version of the observed server. */
export interface Release {
  readonly minor: string;
  readonly patch: string;
}

export interface FeatureGates {
  readonly APIResponseCompression: boolean;
  readonly CBORServingAndStorage: boolean;
  readonly AllowUnsafeMalformedObjectDeletion: boolean;
  readonly WatchList: boolean;
}

const defaultGates: FeatureGates = {
  APIResponseCompression: true,
  CBORServingAndStorage: false,
  AllowUnsafeMalformedObjectDeletion: false,
  WatchList: false,
};

export const svcProfile: Profile = {
  name: "svc",
  release: { minor: "33", patch: "3" },
  dialect: svcDialect,
  anonymousAuth: false,
  invalidListOptionsStatus: 400,
  exactFutureStatus: 504,
  watchTooOld: "response",
  watchHistory: "window",
  watchUnset: "most-recent",
  bookmarkZeroFields: false,
  initialEventsBlueprint: true,
  messageValues: "go",
  nullCreationTimes: true,
  serviceNames: "rfc-1035",
  eventsUncached: false,
  listTimeoutSeconds: true,
  limitAtAnyVersion: true,
  limitWithTokenAtZero: true,
  unparsableVersionStatus: 400,
  unconditionalUpdate: "by-type",
  createOnUpdate: "all",
  strictPatchStatus: 400,
  looseJsonPatch: false,
  emptyDryRun: "persist",
  invalidDryRunStatus: 400,
  deleteAnswers: "status",
  gracefulDeletionTime: "request",
  deleteCollectionAnswers: "status",
  customTableColumns: "default",
  nullWhenNothing: false,
  emptyTokens: false,
  gzipMinimumBytes: 0,
  gzipAnswers: "reads",
  createWithVersionStatus: 400,
  ownService: false,
  compactionsPerWindow: 10,
  featureGates: defaultGates,
};

/** kube-apiserver 1.33. */
export const kubernetesProfile: Profile = {
  name: "kubernetes",
  release: { minor: "33", patch: "3" },
  dialect: kubernetesDialect,
  anonymousAuth: true,
  invalidListOptionsStatus: 422,
  exactFutureStatus: 500,
  watchTooOld: "event",
  watchHistory: "ring",
  watchUnset: "any",
  bookmarkZeroFields: true,
  initialEventsBlueprint: true,
  messageValues: "go",
  nullCreationTimes: true,
  serviceNames: "rfc-1035",
  eventsUncached: true,
  listTimeoutSeconds: false,
  limitAtAnyVersion: false,
  limitWithTokenAtZero: true,
  unparsableVersionStatus: 500,
  unconditionalUpdate: "by-type",
  createOnUpdate: "by-type",
  strictPatchStatus: 422,
  looseJsonPatch: true,
  emptyDryRun: "refuse",
  invalidDryRunStatus: 422,
  deleteAnswers: "by-type",
  gracefulDeletionTime: "end",
  deleteCollectionAnswers: "list",
  customTableColumns: "age",
  nullWhenNothing: true,
  emptyTokens: true,
  gzipMinimumBytes: 131_073,
  gzipAnswers: "all",
  createWithVersionStatus: 500,
  ownService: true,
  compactionsPerWindow: 1,
  featureGates: defaultGates,
};

/** kube-apiserver 1.36: what it does differently. A further version is one more such table. */
const kubernetes136Profile: Profile = {
  ...kubernetesProfile,
  release: { minor: "36", patch: "2" },
  exactFutureStatus: 504,
  bookmarkZeroFields: false,
  initialEventsBlueprint: false,
  messageValues: "json",
  limitWithTokenAtZero: false,
  nullCreationTimes: false,
  serviceNames: "dns",
  featureGates: { ...defaultGates, WatchList: true },
};

/** `kubernetes` alone is the version whose recordings are the most: simulations and published traces stay with it. */
export const profileNames = ["svc", "kubernetes", "kubernetes-1.33", "kubernetes-1.36"] as const;
export type ProfileName = (typeof profileNames)[number];

export const profiles: Readonly<Record<ProfileName, Profile>> = {
  svc: svcProfile,
  kubernetes: kubernetesProfile,
  "kubernetes-1.33": kubernetesProfile,
  "kubernetes-1.36": kubernetes136Profile,
};

/** Of a server that others' clients are pointed at: `kubernetes` alone is the newest there is. */
export const servedProfile = (name: ProfileName): Profile =>
  name === "kubernetes" ? kubernetes136Profile : profiles[name];

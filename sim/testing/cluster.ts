/** What a test has of a simulated cluster: the shapes of the public helper `touchstone/testing`. */
import type { RequestHandler } from "msw";
import type { Dispatcher } from "undici";
import type { ApiServerOptions } from "../apiserver/api-server.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { ServerBugName } from "../planted/server-bugs.ts";
import type { TraceRecord } from "../kernel/trace.ts";
import type { Latency } from "../network/link.ts";
import type { OpenRequest } from "./breakable-transport.ts";
import type { Program, ProgramMain } from "./program.ts";
import type { Duration } from "./duration.ts";
import type { Within } from "./test-clock.ts";

export interface ClusterOptions {
  /** Every draw follows from it. Default `"1"`. */
  readonly seed?: string;
  /** Default `"kubernetes"`, as that is what clients expect. */
  readonly profile?: "svc" | "kubernetes";
  /** Objects to begin with: YAML (one or many documents, a `List` counts as its items) or objects, created in order through the API. */
  readonly objects?: string | readonly JsonObject[];
  /** Bugs that the server is to have. Default none. */
  readonly bugs?: readonly ServerBugName[];
  readonly featureGates?: ApiServerOptions["featureGates"];
  /**
   * Whether the controllers that live in the server run: they empty namespaces, collect garbage, keep disruption budgets
   * and aggregated roles, each some ten milliseconds after what it hears of. Default true.
   */
  readonly controllers?: boolean;
  /** How long old versions stay readable. Default 5 minutes. */
  readonly historyWindow?: Duration;
  /** How far the server's caches are behind its store. Default 0. */
  readonly cacheLag?: Duration;
  /** One way between the client and the server, in microseconds, fixed or drawn for each message. Default 0. */
  readonly latencyMicros?: Latency;
  /** How long each end of a connection takes to notice that the other can't be reached. Default 45 s. */
  readonly noticeAfter?: Duration;
  /** Records of the trace that are kept, the newest, an integer ≥ 1; or all of them, about 50 bytes each. Default 4,096. */
  readonly traceRecordsMax?: number | "all";
  /**
   * Virtual `Date`, timers and chance for the whole process until the cluster is closed, and failure on outside
   * work that nobody announced. Default true. False leaves the real ones: then only the cluster itself repeats.
   */
  readonly virtualGlobals?: boolean;
  /**
   * Requests of the code under test at one virtual instant, an integer >= 1. One more fails the run, named: code that
   * tries again without a pause would spin for ever. Default 10,000.
   */
  readonly requestsPerInstantMax?: number;
  /**
   * Names, without a port, that the code under test has for the server, beside that of `url` and the in-cluster ones
   * (`kubernetes.default.svc`). Requests to any other host are refused with a `TypeError`. Default none.
   */
  readonly hosts?: readonly string[];
}

/** One committed write. */
export interface WriteRecord {
  /** Virtual time, since the cluster began. */
  readonly atMicros: number;
  /** The store's, and the object's resourceVersion. */
  readonly revision: number;
  readonly type: "created" | "updated" | "deleted";
  readonly kind: string;
  /** Empty for what lies in none. */
  readonly namespace: string;
  readonly name: string;
  /** The object as stored; for a deletion, as it last was. Frozen. */
  readonly object: JsonObject;
}

/** Which writes: those that agree in every field that is given. */
export type WriteFilter = Partial<Pick<WriteRecord, "type" | "kind" | "namespace" | "name">>;

/**
 * A simulated cluster in the test's hand. Time stands still but for `advance`, `settle`, `runUntil` and `run`. Close
 * it, or declare it with `await using`: it holds the process's clock.
 */
export interface Cluster extends AsyncDisposable {
  /** Where the server seems to be. `fetch`, `direct` and `dispatcher` refuse other hosts, but for those of the option `hosts`. */
  readonly url: string;
  /** A bearer token with every right, for clients that insist on one. The ways in add it to requests without credentials. */
  readonly token: string;

  /** For the code under test. */
  readonly fetch: typeof globalThis.fetch;
  /** For clients built on the package undici: `fetch(url, { dispatcher })`, `request(url, { dispatcher })`, a client's option. */
  readonly dispatcher: Dispatcher;
  /** For a user's own msw set-up: handlers that answer requests to `url`. */
  mswHandlers(): Promise<RequestHandler[]>;
  /** Intercepts requests to `url` by unmodified clients (`node:http`, the global `fetch`, …) until the cluster is closed, or the function that this resolves to is called. */
  intercept(): Promise<() => void>;
  /** For the test itself, as somebody else who writes: no latency, and neither `disconnect` nor `partition` concerns it. */
  readonly direct: typeof globalThis.fetch;

  /**
   * Starts a program that can die: `main` is called at once, and again for each `start()` after a `crash()`. A request
   * belongs to the program that makes it, by whichever way in.
   */
  launch(main: ProgramMain): Program;

  /** Microseconds since the cluster began. */
  nowMicros(): number;
  /** Lets `duration` pass: every event that is due happens, and the code under test reacts to each. */
  advance(duration: Duration): Promise<void>;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** Lets time pass until `condition` holds (looked at whenever nothing is left to do at an instant). Throws when it does not within `within`, default 1 hour. */
  runUntil(condition: () => boolean | Promise<boolean>, options?: Within): Promise<void>;
  /** Runs `main` to its end, passing time whenever it waits: for what takes time by itself. Throws when that takes longer than `within`, default 24 hours. */
  run<T>(main: () => Promise<T>, options?: Within): Promise<T>;
  /** Work outside the run (a file, compression): time stands still until it is over. */
  outside<T>(name: string, work: () => Promise<T>): Promise<T>;

  /** Creates objects in the given form, past the network as `direct` does. Throws at the first that is refused. */
  create(objects: string | readonly JsonObject[]): Promise<readonly JsonObject[]>;
  /** Writes in order, but for the namespaces that every cluster begins with. */
  writes(filter?: WriteFilter): readonly WriteRecord[];
  /** Requests of the code under test that are not wholly answered, watches included: what somebody has forgotten to end shows here. */
  openRequestCount(): number;
  /** The same requests, one by one, oldest first. */
  openRequests(): readonly OpenRequest[];

  /** Switches one of the server's planted bugs. */
  setBug(name: ServerBugName, on: boolean): void;
  /** Breaks every open connection, as a server or a proxy that restarts does. The next request goes through. */
  disconnect(): void;
  /** Nothing passes between client and server until `heal`. Each end notices after `noticeAfter`. */
  partition(): void;
  heal(): void;
  /** The server's process dies, and a new one starts on the same store: every connection breaks, and its watch history is lost. Until then connections are refused. */
  restartServer(options?: { /** Default 0. */ readonly downFor?: Duration }): void;
  /** Forgets all history up to now: lists, continue tokens and watches from older versions get 410. Open watches go on. */
  compact(): void;
  /** How far the server's caches are behind its store from now on. */
  setCacheLag(lag: Duration): void;
  /**
   * The object at `path` cannot be read from the store any more, as after the loss of the key that it was encrypted
   * with: caches still have it, everything else is a 500. With the gate `AllowUnsafeMalformedObjectDeletion` an unsafe
   * deletion removes it. Throws for a path that names no object.
   */
  makeUnreadable(path: string): void;

  readonly trace: {
    /** Of everything that has happened: equal hashes, equal runs. */
    hash(): string;
    /** Records kept, newest last. */
    records(): readonly TraceRecord[];
  };
  close(): Promise<void>;
}

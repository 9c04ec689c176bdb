/**
 * Empties namespaces that are being deleted and then lets them go. A client of the API like any other: it lists,
 * watches, deletes collections and at last takes its finalizer out of the namespace's spec.
 *
 * Simplification: a namespace whose content waits for finalizers is looked at again every second. The real
 * controller backs off by what the remaining content says of itself.
 * Source: document 1, States and transitions (a namespaced resource is deleted with its namespace).
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { ApiHandler, JsonObject, Payload, Responder } from "../apiserver/http-message.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";

export interface NamespaceControllerOptions {
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  /** Every type of content that a namespace can have, in the dialect. */
  readonly contents: readonly { readonly apiVersion: string; readonly resource: string }[];
}

/** Wait before a namespace, or a broken watch, is looked at again. */
const retryMicros: Micros = 1_000_000;

export class NamespaceController {
  private readonly options: NamespaceControllerOptions;
  /** Namespaces being emptied. */
  private readonly busy = new Set<string>();

  constructor(options: NamespaceControllerOptions) {
    this.options = options;
  }

  start(): void {
    this.send("GET", "/api/v1/namespaces", "watch=1&resourceVersion=0&timeoutSeconds=3600", undefined, {
      event: ({ type, object }) => {
        if (type !== "DELETED" && type !== "ERROR") this.look(object as JsonObject);
      },
      // A closed watch is opened again; it begins with everything there is, so nothing is missed.
      ended: () => this.later(() => this.start()),
    });
  }

  private look(namespace: JsonObject): void {
    const { name, deletionTimestamp } = namespace["metadata"] as { name: string; deletionTimestamp?: string };
    if (deletionTimestamp === undefined || !this.holds(namespace) || this.busy.has(name)) return;
    this.busy.add(name);
    this.empty(name);
  }

  private holds(namespace: JsonObject): boolean {
    return finalizersOf(namespace).includes(this.options.dialect.namespaceFinalizer);
  }

  /** 1. Deletes every collection. 2. When all are empty, lets the namespace go; else looks again later. */
  private empty(name: string): void {
    const { contents } = this.options;
    let isEmpty = true;
    const step = (at: number): void => {
      const content = contents[at];
      if (content === undefined) {
        if (isEmpty) this.finalize(name);
        else this.later(() => this.empty(name));
        return;
      }
      this.clear(collectionPath(content, name), (remaining) => {
        isEmpty &&= !remaining;
        step(at + 1);
      });
    };
    step(0);
  }

  private clear(path: string, done: (remaining: boolean) => void): void {
    this.call("GET", path, "limit=1", undefined, (listed) => {
      if (isEmptyList(listed)) {
        done(false);
        return;
      }
      this.call("DELETE", path, "", undefined, () => {
        this.call("GET", path, "limit=1", undefined, (left) => done(!isEmptyList(left)));
      });
    });
  }

  private finalize(name: string): void {
    const path = `/api/v1/namespaces/${name}`;
    this.call("GET", path, "", undefined, (namespace) => {
      if (namespace === undefined || !this.holds(namespace)) {
        this.busy.delete(name);
        return;
      }
      const { namespaceFinalizer } = this.options.dialect;
      const finalizers = finalizersOf(namespace).filter((finalizer) => finalizer !== namespaceFinalizer);
      const body = { ...namespace, spec: { ...(namespace["spec"] as JsonObject), finalizers } };
      this.call("PUT", `${path}/finalize`, "", body, (answer) => {
        this.busy.delete(name);
        if (answer === undefined) this.later(() => this.recheck(name));
      });
    });
  }

  /** A lost race with another writer: the namespace is looked at once more. */
  private recheck(name: string): void {
    this.call("GET", `/api/v1/namespaces/${name}`, "", undefined, (namespace) => {
      if (namespace !== undefined) this.look(namespace);
    });
  }

  /** `done` gets the object of a success, undefined otherwise. */
  private call(
    method: string,
    path: string,
    query: string,
    body: JsonObject | undefined,
    done: (object: JsonObject | undefined) => void,
  ): void {
    this.send(method, path, query, body, {
      answered: (status, payload) => done(status < 300 ? payload.object : undefined),
    });
  }

  private send(
    method: string,
    path: string,
    query: string,
    body: JsonObject | undefined,
    hears: {
      readonly answered?: (status: number, payload: Payload) => void;
      readonly event?: (event: JsonObject) => void;
      readonly ended?: () => void;
    },
  ): Cancel {
    const responder: Responder = {
      respond: (status, _headers, payload) => {
        hears.answered?.(status, payload);
        hears.ended?.();
      },
      open: () => {},
      frame: (payload) => {
        if (payload.object !== undefined) hears.event?.(payload.object);
        return 0;
      },
      close: () => hears.ended?.(),
    };
    const request = { method, path, query, headers: {}, body, clientCertificate: identity };
    return this.options.server.start(request, responder);
  }

  private later(work: () => void): void {
    this.options.process.clock.after(retryMicros, work);
  }
}

const identity = { commonName: "system:serviceaccount:namespace-controller", organizations: ["system:masters"] };

function collectionPath({ apiVersion, resource }: { apiVersion: string; resource: string }, namespace: string): string {
  const prefix = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${prefix}/namespaces/${namespace}/${resource}`;
}

function finalizersOf(namespace: JsonObject): readonly string[] {
  const spec = namespace["spec"] as JsonObject | undefined;
  return (spec?.["finalizers"] as readonly string[] | undefined) ?? [];
}

/** Null items are none, as clients of the real server read them. */
function isEmptyList(list: JsonObject | undefined): boolean {
  const items = list?.["items"] as readonly unknown[] | null | undefined;
  return items === undefined || items === null || items.length === 0;
}

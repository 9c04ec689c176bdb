/**
 * Empties namespaces that are being deleted and then lets them go: it deletes collections, and at last takes its
 * finalizer out of the namespace's spec.
 *
 * Simplification: a namespace whose content waits for finalizers is looked at again every second. The real
 * controller backs off by what the remaining content says of itself.
 * Source: document 1, States and transitions (a namespaced resource is deleted with its namespace).
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { JsonObject } from "../apiserver/http-message.ts";
import { metadataOf } from "../apiserver/objects/types.ts";
import type { Micros } from "../kernel/types.ts";
import { type ApiTypes, pathOf } from "./api-types.ts";
import type { ControlAnswer, ControlClient } from "./control-client.ts";
import type { Reflectors } from "./reflectors.ts";
import { type Outcome, WorkQueue } from "./work-queue.ts";

export interface NamespaceControllerOptions {
  readonly client: ControlClient;
  readonly reflectors: Reflectors;
  readonly types: ApiTypes;
  readonly dialect: Dialect;
}

type Done = (outcome: Outcome) => void;

/** Wait before a namespace that is not empty yet is looked at again. */
const retryMicros: Micros = 1_000_000;
const collection = "/api/v1/namespaces";

export class NamespaceController {
  private readonly options: NamespaceControllerOptions;
  private readonly client: ControlClient;
  private readonly queue: WorkQueue<string>;

  constructor(options: NamespaceControllerOptions) {
    const { client } = options;
    this.options = options;
    this.client = client;
    this.queue = new WorkQueue({
      process: client.process,
      count: client.queueCounts.of("namespace"),
      work: (name, done) => this.sync(name, done),
    });
  }

  start(): void {
    const { reflectors } = this.options;
    const look = (namespace: JsonObject): void => {
      if (this.isHeld(namespace)) this.queue.add(metadataOf(namespace).name ?? "");
    };
    reflectors.follow(collection, {
      replaced: (namespaces) => namespaces.forEach(look),
      changed: look,
      gone: (namespace) => this.queue.drop(metadataOf(namespace).name ?? ""),
    });
    reflectors.onceSynced(() => this.queue.open());
  }

  private isHeld(namespace: JsonObject): boolean {
    const isGoing = metadataOf(namespace).deletionTimestamp !== undefined;
    return isGoing && finalizersOf(namespace).includes(this.options.dialect.namespaceFinalizer);
  }

  /** 1. Deletes every collection. 2. When all are empty, lets the namespace go; else looks again later. */
  private sync(name: string, done: Done): void {
    const contents = this.options.types
      .preferred()
      .filter(({ namespaced, verbs }) => namespaced && verbs.includes("deletecollection"))
      .map((type) => pathOf(type, name, ""));
    let isEmpty = true;
    const step = (at: number): void => {
      const path = contents[at];
      if (path === undefined) {
        if (isEmpty) this.finalize(name, done);
        else {
          this.queue.addAfter(name, retryMicros);
          done("done");
        }
        return;
      }
      this.clear(path, (remaining) => {
        isEmpty &&= !remaining;
        step(at + 1);
      });
    };
    step(0);
  }

  private clear(path: string, done: (remaining: boolean) => void): void {
    const first = { method: "GET", path, query: "limit=1" };
    this.client.call(first, (listed) => {
      if (!mayHold(listed)) {
        done(false);
        return;
      }
      this.client.call({ method: "DELETE", path }, () => this.client.call(first, (left) => done(mayHold(left))));
    });
  }

  private finalize(name: string, done: Done): void {
    const path = `${collection}/${name}`;
    this.client.get(path, ({ status, object }) => {
      if (status !== 200 || object === undefined || !this.isHeld(object)) {
        done(status === 200 || status === 404 ? "done" : "again");
        return;
      }
      const { namespaceFinalizer } = this.options.dialect;
      const finalizers = finalizersOf(object).filter((finalizer) => finalizer !== namespaceFinalizer);
      const body = { ...object, spec: { ...(object["spec"] as JsonObject), finalizers } };
      this.client.call({ method: "PUT", path: `${path}/finalize`, body }, (answer) =>
        done(answer.status === 200 || answer.status === 404 ? "done" : "again"),
      );
    });
  }
}

function finalizersOf(namespace: JsonObject): readonly string[] {
  const spec = namespace["spec"] as JsonObject | undefined;
  return (spec?.["finalizers"] as readonly string[] | undefined) ?? [];
}

/** Null items are none, and what is served no longer has none; a list that fails says nothing. */
function mayHold({ status, object }: ControlAnswer): boolean {
  if (status !== 200) return status !== 404 && status !== 405;
  const items = object?.["items"] as readonly unknown[] | null | undefined;
  return items !== undefined && items !== null && items.length > 0;
}

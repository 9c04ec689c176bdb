/**
 * Empties namespaces that are being deleted and then lets them go: it deletes collections, pods before all others, says
 * in the namespace's status what is left, and at last takes its finalizer out of the namespace's spec.
 *
 * Simplification: a namespace whose content waits for finalizers is looked at again every second. The real
 * controller backs off by what the remaining content says of itself.
 * Source: document 1, States and transitions (a namespaced resource is deleted with its namespace).
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { Times } from "../contract/times.ts";
import type { Micros } from "../kernel/types.ts";
import { type ApiType, type ApiTypes, pathOf } from "./api-types.ts";
import type { ControlAnswer, ControlClient } from "../client/control-client.ts";
import { conditionsAfter, Remainder } from "./namespace-conditions.ts";
import type { Reflectors } from "../client/reflectors.ts";
import { oneByOne, type Outcome, WorkQueue } from "../client/work-queue.ts";

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
  private readonly times: Times;

  constructor(options: NamespaceControllerOptions) {
    const { client } = options;
    this.options = options;
    this.client = client;
    this.times = new Times(client.process.clock);
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

  /**
   * 1. Deletes the pods, and when none are left every other collection. 2. Says what is left. 3. When nothing is, lets
   * the namespace go; else looks again later.
   */
  private sync(name: string, done: Done): void {
    const contents = this.options.types
      .preferred()
      .filter(({ namespaced, verbs }) => namespaced && verbs.includes("deletecollection"))
      .sort((left, right) => Number(isPods(right)) - Number(isPods(left)));
    const remainder = new Remainder();
    oneByOne(this.client.process, (at, next) => {
      const type = contents[at];
      // Others may be what pods need to end in good order.
      if (type === undefined || (remainder.resources.size > 0 && isPods(contents[at - 1] as ApiType))) {
        this.tell(name, remainder, done);
        return;
      }
      this.clear(type, name, remainder, next);
    });
  }

  private clear(type: ApiType, namespace: string, remainder: Remainder, done: () => void): void {
    const path = pathOf(type, namespace, "");
    const note = (what: string, { status, object }: ControlAnswer): void => {
      const message = String(object?.["message"] ?? `no answer to ${what} ${path}`);
      if (status !== 200 && status !== 202) remainder.failures.push(message);
    };
    this.client.call({ method: "GET", path, query: "limit=1" }, (listed) => {
      if (!mayHold(listed)) {
        done();
        return;
      }
      const query = "propagationPolicy=Background";
      this.client.call({ method: "DELETE", path, query }, (deleted) => {
        note("DELETE", deleted);
        this.client.call({ method: "GET", path }, (left) => {
          if (mayHold(left)) note("GET", left);
          remainder.add(`${type.resource}.${type.group}`, itemsOf(left));
          done();
        });
      });
    });
  }

  private tell(name: string, remainder: Remainder, done: Done): void {
    const path = `${collection}/${name}`;
    this.client.get(path, ({ status: code, object }) => {
      if (code !== 200 || object === undefined || !this.isHeld(object)) {
        done(code === 200 || code === 404 ? "done" : "again");
        return;
      }
      const status = (object["status"] ?? {}) as JsonObject;
      const before = (status["conditions"] ?? []) as readonly JsonObject[];
      const conditions = conditionsAfter(before, remainder, this.times.now());
      const next = (): void => {
        if (remainder.isEmpty) this.finalize(name, done);
        else {
          this.queue.addAfter(name, retryMicros);
          done("done");
        }
      };
      const body = { ...object, status: { ...status, conditions } };
      if (conditions === before) next();
      else this.client.call({ method: "PUT", path: `${path}/status`, body }, next);
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

const isPods = ({ group, resource }: ApiType): boolean => group === "" && resource === "pods";

const itemsOf = ({ object }: ControlAnswer): readonly JsonObject[] =>
  (object?.["items"] ?? []) as readonly JsonObject[];

/** Null items are none, and what is served no longer has none; a list that fails says nothing. */
function mayHold({ status, object }: ControlAnswer): boolean {
  if (status !== 200) return status !== 404 && status !== 405;
  return itemsOf({ status, object }).length > 0;
}

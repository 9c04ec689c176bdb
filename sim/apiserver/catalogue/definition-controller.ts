/**
 * Gives definitions their names, establishes them, and takes them away with their instances when they are deleted.
 * It hears of definitions from the server that it lives in, and writes to it as a client.
 *
 * Simplification: the instances of a definition that serves no version are removed from the store without a word to
 * admission or to their finalizers, for no path leads to them. The real controller has paths of its own.
 * Source: document 1, states and transitions; recorded answers (crd-established, crd-delete).
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { groupInDialect } from "../../../wire/dialect.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { ApiHandler, JsonObject, Responder } from "../../contract/http-message.ts";
import { serverManager } from "../../objects/managed-fields.ts";
import { metadataOf } from "../../contract/objects.ts";
import { oneByOne } from "../../client/work-queue.ts";
import { Times } from "../../contract/times.ts";
import type { CustomResources } from "./custom-resources.ts";
import { type Condition, type Definition, isTrue, type Names, readDefinition } from "../../kinds/custom/definition.ts";
import {
  cleanupFinalizer,
  establishedCondition,
  isSettled,
  namingOf,
  withCondition,
} from "../../kinds/custom/naming.ts";

export interface DefinitionControllerOptions {
  readonly process: Process;
  readonly server: ApiHandler;
  readonly dialect: Dialect;
  readonly custom: CustomResources;
  /** Removes whatever a definition without a served version has left in the store. */
  readonly removeUnserved: (definition: Definition) => void;
}

/** Between hearing of a definition and each step with it. */
const stepMicros: Micros = 10_000;
/** Wait before instances that are still there are looked at again. */
const retryMicros: Micros = 1_000_000;

export class DefinitionController {
  private readonly options: DefinitionControllerOptions;
  private readonly times: Times;
  private readonly waiting = new Set<string>();

  constructor(options: DefinitionControllerOptions) {
    this.options = options;
    this.times = new Times(options.process.clock);
  }

  start(): void {
    const { custom } = this.options;
    custom.onDefinition((name) => {
      if (custom.definition(name) !== undefined) this.later(name, stepMicros);
      // Names that are free again may be what another definition waits for.
      else for (const other of custom.definitions()) this.later(readDefinition(other).name, stepMicros);
    });
    for (const object of custom.definitions()) this.later(readDefinition(object).name, stepMicros);
  }

  private later(name: string, micros: Micros): void {
    if (this.waiting.has(name)) return;
    this.waiting.add(name);
    this.options.process.clock.after(micros, () => {
      this.waiting.delete(name);
      const object = this.options.custom.definition(name);
      if (object !== undefined) this.look(object);
    });
  }

  private look(object: JsonObject): void {
    const definition = readDefinition(object);
    if (definition.deleting) {
      if (this.holds(object)) this.cleanUp(object, definition);
      return;
    }
    const others = this.options.custom.definitions().map(readDefinition);
    const naming = namingOf(definition, others, this.times.now());
    if (!isSettled(definition, naming)) this.writeStatus(object, naming.conditions, naming.acceptedNames);
    else if (isTrue(definition, "NamesAccepted") && !isTrue(definition, "Established")) {
      this.writeCondition(object, definition, establishedCondition);
    }
  }

  private holds(object: JsonObject): boolean {
    return (metadataOf(object).finalizers ?? []).includes(cleanupFinalizer(this.options.dialect));
  }

  /** 1. Says that it begins. 2. Deletes every instance. 3. Says that all are gone. 4. Lets the definition go. */
  private cleanUp(object: JsonObject, definition: Definition): void {
    const terminating = definition.conditions.find(({ type }) => type === "Terminating");
    if (terminating?.reason === "InstanceDeletionCompleted") {
      this.letGo(object);
      return;
    }
    if (terminating?.reason !== "InstanceDeletionInProgress") {
      this.writeCondition(object, definition, {
        type: "Terminating",
        status: "True",
        reason: "InstanceDeletionInProgress",
        message: "CustomResource deletion is in progress",
      });
      return;
    }
    this.deleteInstances(definition, (remaining) => {
      if (remaining) this.later(definition.name, retryMicros);
      else {
        this.writeCondition(object, definition, {
          type: "Terminating",
          status: "False",
          reason: "InstanceDeletionCompleted",
          message: "removed all instances",
        });
      }
    });
  }

  private deleteInstances(definition: Definition, done: (remaining: boolean) => void): void {
    const { group, names, namespaced } = definition;
    const version = definition.versions.find(({ served }) => served);
    if (version === undefined || !isTrue(definition, "Established")) {
      this.options.removeUnserved(definition);
      done(false);
      return;
    }
    const root = `/apis/${group}/${version.name}`;
    this.call("GET", `${root}/${names.plural}`, undefined, (list) => {
      const items = (list?.["items"] ?? []) as readonly JsonObject[];
      if (items.length === 0) {
        done(list === undefined);
        return;
      }
      const places = namespaced
        ? [...new Set(items.map((item) => metadataOf(item).namespace ?? ""))].map(
            (namespace) => `${root}/namespaces/${namespace}/${names.plural}`,
          )
        : [`${root}/${names.plural}`];
      oneByOne(this.options.process, (at, next) => {
        const place = places[at];
        if (place === undefined) done(true);
        else this.call("DELETE", place, undefined, next);
      });
    });
  }

  private letGo(object: JsonObject): void {
    const finalizer = cleanupFinalizer(this.options.dialect);
    const metadata = metadataOf(object);
    const finalizers = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
    this.put(object, "", { ...object, metadata: { ...metadata, finalizers } } as unknown as JsonObject);
  }

  private writeCondition(object: JsonObject, definition: Definition, condition: Condition): void {
    this.writeStatus(object, withCondition(definition.conditions, condition, this.times.now()));
  }

  private writeStatus(object: JsonObject, conditions: readonly Condition[], names?: Names): void {
    const status = { ...(object["status"] as JsonObject | undefined), conditions } as Record<string, unknown>;
    if (names !== undefined) status["acceptedNames"] = names;
    this.put(object, "/status", { ...object, status } as JsonObject);
  }

  /** A lost race is nothing: whoever was faster is heard of, and looked at. Anything else is tried again. */
  private put(object: JsonObject, subresource: string, body: JsonObject): void {
    const { name = "" } = metadataOf(object);
    const group = groupInDialect(this.options.dialect, "apiextensions.svc.io");
    const path = `/apis/${group}/v1/customresourcedefinitions/${name}${subresource}`;
    this.call("PUT", path, body, (answer) => {
      if (answer === undefined) this.later(name, retryMicros);
    });
  }

  /** `done` gets the object of a success, undefined otherwise. */
  private call(
    method: string,
    path: string,
    body: JsonObject | undefined,
    done: (object: JsonObject | undefined) => void,
  ): void {
    const responder: Responder = {
      respond: (status, _headers, payload) => done(status < 300 ? payload.object : undefined),
      open: () => {},
      frame: () => 0,
      close: () => {},
    };
    const headers = { "user-agent": `${serverManager(this.options.dialect)}/v1.33.3` };
    const clientCertificate = { commonName: "system:apiserver", organizations: ["system:masters"] };
    this.options.server.start({ method, path, query: "", headers, body, clientCertificate }, responder);
  }
}

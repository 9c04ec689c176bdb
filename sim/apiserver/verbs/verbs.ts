/** Which code carries out which verb on which resource, and the parts that they stand on. */
import { invariant } from "../../kernel/invariant.ts";
import type { Micros } from "../../kernel/types.ts";
import { type Equivalent, equivalentsOf } from "../admission/equivalents.ts";
import type { Params } from "../admission/policies.ts";
import { FrontEnd, type FrontEndOptions } from "../cache/front-end.ts";
import type { Source } from "../cache/source.ts";
import { type HistoryLimit, limitHistory } from "../cache/history-limit.ts";
import { startCompactor } from "../cache/compactor.ts";
import { startEventExpiry } from "../cache/event-expiry.ts";
import { groupFromDialect } from "../../../wire/dialect.ts";
import { DefinitionController } from "../catalogue/definition-controller.ts";
import type { Definition } from "../../kinds/custom/definition.ts";
import { requireCustomPatchType } from "../requests/custom-verbs.ts";
import { ApiError, methodNotAllowed } from "../../contract/errors.ts";
import type { ApiHandler, JsonObject } from "../../contract/http-message.ts";
import type { Gauges } from "../metrics/server-metrics.ts";
import { handOn, type ProxyPorts } from "../proxy/proxy.ts";
import { podConnections } from "../proxy/pod-connections.ts";
import { ReadVerbs } from "./read-verbs.ts";
import type { ResourcePlace, Verb } from "../requests/route.ts";
import type { Run } from "../requests/run.ts";
import { type ServedResource, storageKey } from "../catalogue/served-resource.ts";
import { ServedResources } from "../catalogue/served-resources.ts";
import type { ServerContext } from "./server-context.ts";
import type { RbacObjects } from "../access/rbac/policy.ts";
import { finishDraft, readBody, walkRead } from "../../objects/decode.ts";
import { requireFewValues } from "../../objects/value-limit.ts";
import { walkAheadSteps } from "../../objects/walk-ahead.ts";
import { keyOf } from "../reads/selection.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import {
  bootstrapApiServices,
  bootstrapNamespaces,
  bootstrapOwnService,
  bootstrapTokenTracking,
  bootstrapPriorityClasses,
  bootstrapRoles,
} from "./bootstrap.ts";
import { bodyTarget } from "./binding.ts";
import { warn } from "./body.ts";
import { create } from "./create.ts";
import { deleteCollection } from "./delete-collection.ts";
import { deleteOne } from "./delete.ts";
import { patch, requirePatchType } from "./patch.ts";
import { admitted } from "./steps.ts";
import { subresources } from "./subresources.ts";
import { update } from "./update.ts";
import { virtualResources } from "./virtual-resources.ts";
import { Writer } from "./writer.ts";

/** Built-in types whose every use is warned of, by group, version and plural. */
const deprecated: Readonly<Record<string, string>> = {
  "v1/componentstatuses": "v1 ComponentStatus is deprecated in v1.19+",
};

/** The writer that carries out a request, given the server's own. */
export type WriterFor = (writer: Writer, run: Run) => Writer;

export interface VerbsOptions {
  readonly historyWindowMicros: Micros;
  /** Undefined: as many as there are. */
  readonly historyBytesMax: number | undefined;
  readonly cacheLagMicros: Micros;
  readonly eventTtlMicros: Micros;
  /** Make the namespaces that every cluster has. */
  readonly bootstrap: boolean;
  /** Make the default roles and bindings, too. */
  readonly bootstrapRoles: boolean;
  /** Where the server is reached, if that is known from the start. */
  readonly advertisedUrl: string | undefined;
  /** Undefined: the server's own writer carries out all. */
  readonly writerFor?: WriterFor | undefined;
  /** What carries out reads, given the server's own. */
  readonly readsWith?: (reads: ReadVerbs) => ReadVerbs;
  /** Default: one that hears of what is stored as it is stored, but for its lag. */
  readonly makeFrontEnd?: ((options: FrontEndOptions) => FrontEnd) | undefined;
}

export class Verbs {
  private readonly context: ServerContext;
  /** Undefined: without a bound. */
  readonly oldVersions: HistoryLimit | undefined;
  private readonly frontEnd: FrontEnd;
  private readonly resources: ServedResources;
  private readonly reads: ReadVerbs;
  private readonly writer: Writer;
  private readonly writerFor: WriterFor | undefined;
  private readonly proxyPorts: ProxyPorts;
  private readonly makesOwnService: boolean;
  /** Of one kind, as the caches have them, by name. */
  readonly webhookConfigurations: (kind: "mutating" | "validating") => readonly JsonObject[];
  /** As the caches have them, by name. */
  readonly validatingPolicies: () => readonly JsonObject[];
  readonly validatingPolicyBindings: () => readonly JsonObject[];
  /** As the caches have them. */
  readonly priorityClasses: () => readonly JsonObject[];

  constructor(
    context: ServerContext,
    {
      historyWindowMicros,
      historyBytesMax,
      cacheLagMicros,
      eventTtlMicros,
      bootstrap,
      bootstrapRoles: withRoles,
      advertisedUrl,
      writerFor,
      readsWith,
      makeFrontEnd = (of) => new FrontEnd(of),
    }: VerbsOptions,
  ) {
    const { store, unreadable, process, profile } = context;
    this.context = context;
    this.resources = new ServedResources(profile, context.custom);
    this.writer = new Writer(context, this.resources);
    this.writerFor = writerFor;
    const chances = process.prng.stream("proxied requests");
    this.proxyPorts = {
      forward: context.forward,
      addressTypes: context.agentAddressTypes,
      stored: (...asked) => this.storedCore(...asked),
      admitted: (run, options, done) => {
        const { namespace, name } = run.resourcePlace;
        const connection = { operation: "CONNECT", oldObject: undefined, options: undefined } as const;
        const admission = { ...connection, namespace, name, object: { ...options } };
        admitted(this.writer, run, admission, (object) => done(object as JsonObject));
      },
      choose: (count) => chances.intInclusive(0, count - 1),
    };
    const admission = "admissionregistration.svc.io";
    const mutating = this.cached(admission, "mutatingwebhookconfigurations");
    const validating = this.cached(admission, "validatingwebhookconfigurations");
    this.webhookConfigurations = (kind) => (kind === "mutating" ? mutating() : validating());
    this.validatingPolicies = this.cached(admission, "validatingadmissionpolicies");
    this.validatingPolicyBindings = this.cached(admission, "validatingadmissionpolicybindings");
    this.priorityClasses = this.cached("scheduling.svc.io", "priorityclasses");
    // Before the caches begin: what every cluster has is older than anything that can be watched.
    if (bootstrap) bootstrapNamespaces(this.writer);
    if (bootstrap) bootstrapApiServices(this.writer);
    if (bootstrap) bootstrapPriorityClasses(this.writer);
    if (bootstrap && withRoles) bootstrapRoles(this.writer);
    this.makesOwnService = bootstrap && profile.ownService;
    if (advertisedUrl !== undefined) this.advertise(advertisedUrl);
    this.frontEnd = makeFrontEnd({ store, process, profile, historyWindowMicros, lagMicros: cacheLagMicros });
    const reads = new ReadVerbs(context, {
      profile,
      store,
      unreadable,
      frontEnd: this.frontEnd,
      process,
      listCounts: context.metrics.lists,
    });
    this.reads = readsWith === undefined ? reads : readsWith(reads);
    const { prefix } = this.resources.named("events.svc.io", "v1", "events").read;
    startEventExpiry({ process, store, prefix, ttlMicros: eventTtlMicros });
    startCompactor({ process, store, historyWindowMicros, compactionsPerWindow: profile.compactionsPerWindow });
    const forget = (revision: number): void => this.frontEnd.forgetThrough(revision);
    this.oldVersions =
      historyBytesMax === undefined ? undefined : limitHistory({ process, store, bytesMax: historyBytesMax, forget });
  }

  /** Where the server is reached, for its own service. */
  advertise(url: string): void {
    const [, bracketed, plain = "", port] = /^https?:\/\/(?:\[(.+)\]|([^:/]+))(?::(\d+))?/.exec(url) ?? [];
    if (!this.makesOwnService) return;
    bootstrapOwnService(this.writer, { host: bracketed ?? plain, port: Number(port ?? 443) });
    bootstrapTokenTracking(this.writer);
  }

  /** See `FrontEnd.setLag`. */
  setCacheLag(lagMicros: Micros, resource?: ServedResource): void {
    this.frontEnd.setLag(lagMicros, resource?.read.prefix);
  }

  /** See `FrontEnd.forgetHistory`. */
  forgetHistory(): void {
    this.frontEnd.forgetHistory();
  }

  /** What the metrics tell of what is stored and of the caches. */
  figures(): Pick<Gauges, "stored" | "caches" | "nameOf"> {
    const names = new Map<string, string>(); // what several versions or groups serve is stored once
    for (const { row, read, name } of this.resources.all()) {
      if (!row.verbs.includes("get") || names.has(read.prefix)) continue;
      names.set(read.prefix, name.group === "" ? name.resource : `${name.resource}.${name.group}`);
    }
    const count = (prefix: string): number => this.context.store.count(prefix, prefixEnd(prefix)) as number;
    return {
      stored: [...names].map(([prefix, name]) => [name, count(prefix)]),
      caches: this.frontEnd.figures().filter(({ prefix }) => names.has(prefix)),
      nameOf: (prefix) => names.get(prefix) ?? prefix,
    };
  }

  /** All objects of a resource, asked for at every write: where they lie is found out once. */
  private cached(group: string, resource: string): () => readonly JsonObject[] {
    const { prefix } = this.resources.named(group, "v1", resource).read;
    const end = prefixEnd(prefix);
    let source: Source | undefined;
    return () => (source ??= this.frontEnd.source(prefix, true)).objects(prefix, end);
  }

  /** Objects of a kind, named as the dialect does, as the caches have them; undefined when it is not served. */
  objectsOfKind(apiVersion: string, kind: string): Params | undefined {
    const found = this.resources
      .all()
      .find(({ row, read }) => read.apiVersion === apiVersion && row.kind === kind && row.verbs.includes("list"));
    if (found === undefined) return undefined;
    const { namespaced, prefix, cached } = found.read;
    const within = (namespace: string): string => (namespaced ? `${prefix}${namespace}/` : prefix);
    const objects = (start: string, end: string) => this.frontEnd.source(prefix, cached).objects(start, end);
    return {
      namespaced,
      objects: (namespace) => objects(within(namespace), prefixEnd(within(namespace))),
      named: (namespace, name) => objects(within(namespace) + name, `${within(namespace)}${name}\0`),
    };
  }

  /** Where an object is stored. */
  keyOf({ row, namespace, name }: ResourcePlace): string {
    const resource = this.resources.of(row);
    invariant(resource !== undefined, "a place of a resource that is not served", row.resource);
    return storageKey(resource, namespace, name);
  }

  /** An object of the core group as it is stored now. */
  storedCore(resource: string, namespace: string, name: string): JsonObject | undefined {
    return this.writer.live(this.resources.named("", "v1", resource), namespace, name)?.object;
  }

  /** A namespace's object now; undefined when there is none. */
  namespace(name: string): JsonObject | undefined {
    return this.writer.namespace(name);
  }

  /** Other versions in which the objects at a place are served. */
  equivalentsOf(place: ResourcePlace): readonly Equivalent[] {
    return equivalentsOf(this.resources, place);
  }

  /** An object that came from elsewhere, read as a body that a place takes; a large one in steps. Throws 400 or 413. */
  *decodeSteps({ row, subresource }: ResourcePlace, object: JsonObject, isLarge: boolean): Generator<void, JsonObject> {
    const resource = this.resources.of(row);
    invariant(resource !== undefined, "admission of a resource that is not served", row.resource);
    if (subresource?.subresource === "proxy") return object; // options without a schema: see `handOn`
    const target = subresource?.type === undefined ? resource.target : bodyTarget(subresource, resource);
    const ahead = isLarge ? yield* walkAheadSteps(target.type, object) : undefined;
    yield;
    const { draft } = walkRead(readBody(object, "json", target), object, target, "Ignore", undefined, ahead);
    yield;
    if (isLarge) requireFewValues(draft); // before there is more of it
    return finishDraft(draft, target) as JsonObject;
  }

  /** Roles and bindings as the caches have them. */
  rbacObjects(): RbacObjects {
    const read = (resource: string): ServedResource["read"] =>
      this.resources.named("rbac.authorization.svc.io", "v1", resource).read;
    const all = { roles: read("roles"), clusterRoles: read("clusterroles") };
    const bindings = { ofNamespaces: read("rolebindings"), ofCluster: read("clusterrolebindings") };
    return {
      roleAt: (namespace, name) => {
        const target = namespace === "" ? all.clusterRoles : all.roles;
        const key = keyOf(target, namespace, name);
        return {
          role: () => this.frontEnd.source(target.prefix, true).get(key)?.value as JsonObject | undefined,
        };
      },
      bindings: (namespace) => {
        const target = namespace === "" ? bindings.ofCluster : bindings.ofNamespaces;
        const start = keyOf(target, namespace, "");
        return this.frontEnd.source(target.prefix, true).objects(start, prefixEnd(start));
      },
    };
  }

  startDefinitionController(server: ApiHandler): void {
    const { process, profile, custom, store } = this.context;
    const removeUnserved = ({ names, group }: Definition): void => {
      const prefix = `/registry/${names.plural}.${groupFromDialect(profile.dialect, group)}/`;
      const left = store.range(prefix, prefixEnd(prefix), { count: false });
      if (typeof left !== "string") for (const { key, modRevision } of left.items) store.delete(key, modRevision);
    };
    new DefinitionController({ process, server, dialect: profile.dialect, custom, removeUnserved }).start();
  }

  /** Carries out a verb that the resource has at this place. Throws, or answers through the run now or later. */
  carryOut(run: Run, verb: Verb): void {
    const { row, subresource, name } = run.resourcePlace;
    // Whatever it asks for and brings along is for somebody else to judge.
    if (subresource?.subresource === "proxy") {
      handOn(this.proxyPorts, run);
      return;
    }
    const connect = subresource === undefined ? undefined : podConnections[subresource.subresource];
    if (connect !== undefined) {
      connect(this.proxyPorts, run);
      return;
    }
    const { featureGates } = this.context.profile;
    const resource = this.resources.of(row);
    if (row.custom) {
      if (verb === "patch") requireCustomPatchType(run, featureGates);
      if (resource?.custom?.warning !== undefined) warn(run, [resource.custom.warning]);
    } else {
      const warning = deprecated[`${row.groupVersion}/${row.resource}`];
      if (warning !== undefined) warn(run, [warning]);
      if (verb === "patch") requirePatchType(run, featureGates);
      this.context.negotiator.checkRoute(run.request.headers["accept"], name === "" && subresource === undefined);
    }
    if (resource === undefined) throw methodNotAllowed();
    const writer = this.writerFor === undefined ? this.writer : this.writerFor(this.writer, run);
    if (subresource !== undefined) {
      const handler = subresources[subresource.subresource];
      invariant(handler !== undefined, "a subresource that nobody carries out", subresource);
      handler({ run, verb, resource, reads: this.reads, writer });
      return;
    }
    if (!row.verbs.includes("get")) {
      const handler = virtualResources[row.resource];
      invariant(handler !== undefined, "a resource that nobody carries out", row.resource);
      handler({ run, resource, writer });
      return;
    }
    this.carryOutStored(run, verb, resource, writer);
  }

  private carryOutStored(run: Run, verb: Verb, resource: ServedResource, writer: Writer): void {
    const { reads } = this;
    switch (verb) {
      case "get":
        reads.get(run, resource);
        return;
      case "list":
        reads.list(run, resource);
        return;
      case "watch":
        this.watch(run, resource);
        return;
      case "create":
        create(writer, run, resource);
        return;
      case "update":
        update(writer, run, resource, "");
        return;
      case "patch":
        patch(writer, run, resource, "");
        return;
      case "delete":
        deleteOne(writer, run, resource);
        return;
      case "deletecollection":
        deleteCollection(writer, reads, run, resource);
        return;
      case "options": // of what is handed on alone
        throw methodNotAllowed();
    }
  }

  private watch(run: Run, resource: ServedResource): void {
    const { name, row } = resource;
    if (row.verbs.includes("watch")) {
      this.reads.watch(run, resource);
      return;
    }
    const subject = name.group === "" ? name.resource : `${name.resource}.${name.group}`;
    throw new ApiError(405, "MethodNotAllowed", `watch is not supported on resources of kind "${subject}"`, {
      ...(name.group === "" ? {} : { group: name.group }),
      kind: name.resource,
    });
  }
}

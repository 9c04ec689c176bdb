/**
 * The API of usage that `kubectl top` asks: in a real cluster an add-on, here in front of a server. Nothing is stored and
 * nobody polls: whoever asks is answered with what the agents of the nodes say at this moment (`/stats/summary`).
 * Whether the caller may is the server's own answer to the caller's own credentials.
 *
 * Simplification: the published add-on reads every 15 seconds, and answers with what it has read last.
 * Source: the published group `metrics`, version v1beta1; the published agent's summary of usage.
 */
import { failureStatus } from "../contract/errors.ts";
import { groupInDialect, type Dialect } from "../../wire/dialect.ts";
import { ApiClient } from "../client/api-client.ts";
import type { ApiHandler, ApiRequest, Json, JsonObject, Payload, Responder } from "../contract/http-message.ts";
import { isObject, metadataOf } from "../contract/objects.ts";
import { wrapped } from "../contract/responders.ts";
import type { Cancel, Micros, Process } from "../kernel/types.ts";

export interface UsageApiOptions {
  readonly server: ApiHandler;
  /** The server's own. */
  readonly process: Process;
  readonly dialect: Dialect;
}

const version = "v1beta1";
const agentMicros: Micros = 10_000_000;
const listMicros: Micros = 60_000_000;

const kinds: Readonly<Record<string, string>> = { nodes: "NodeMetrics", pods: "PodMetrics" };

interface Asked {
  readonly resource: "nodes" | "pods";
  /** Empty: all of them. */
  readonly namespace: string;
  /** Empty: a list. */
  readonly name: string;
  readonly query: string;
}

type Answer = (status: number, object: JsonObject, payload?: Payload) => void;

/** Of a list, in one event and in one piece of an answer. */
const itemsAtATime = 500;

export class UsageApi implements ApiHandler {
  private readonly options: UsageApiOptions;
  private readonly group: string;
  private readonly client: ApiClient;
  /** Agents that have been asked and have not answered, and who waits for it: whoever asks meanwhile is told the same. */
  private readonly asked = new Map<string, ((summary: Summary | undefined) => void)[]>();

  constructor(options: UsageApiOptions) {
    const { process, server, dialect } = options;
    this.options = options;
    this.group = groupInDialect(dialect, "metrics.svc.io");
    const identity = { commonName: "system:usage", organizations: ["system:masters"] };
    this.client = new ApiClient(process, server, identity, "usage");
  }

  get alive(): boolean {
    return this.options.process.alive;
  }

  start(request: ApiRequest, responder: Responder): Cancel {
    const { server } = this.options;
    if (request.path === "/apis" || request.path === "/apis/") return server.start(request, this.withGroup(responder));
    const own = `/apis/${this.group}`;
    if (request.path !== own && !request.path.startsWith(`${own}/`)) return server.start(request, responder);
    let isOver = false;
    const answer: Answer = (status, object, payload = jsonPayload(object)) => {
      if (isOver) return;
      isOver = true;
      responder.respond(status, { "cache-control": "no-cache, private" }, payload);
    };
    const [, , , asked = "", ...rest] = request.path.replace(/\/$/, "").split("/").map(decoded);
    const wanted = asked === "" || rest.length === 0 ? undefined : resourceOf(rest, request.query);
    const document =
      asked === "" ? this.groupFields() : asked === version && rest.length === 0 ? this.resources() : undefined;
    if (document === undefined && (asked !== version || wanted === undefined)) {
      answer(404, failureStatus(404, "NotFound", "the server could not find the requested resource"));
      return nothing;
    }
    if (request.method !== "GET" || /(^|&)watch=(true|1)(&|$)/.test(request.query)) {
      const what = "the server does not allow this method on the requested resource";
      answer(405, failureStatus(405, "MethodNotAllowed", what));
      return nothing;
    }
    const attributes =
      wanted === undefined
        ? { nonResourceAttributes: { path: request.path, verb: "get" } }
        : {
            resourceAttributes: {
              group: this.group,
              version,
              verb: wanted.name === "" ? "list" : "get",
              ...placeOf(wanted),
            },
          };
    const cancel = this.ifAllowed(request, attributes, answer, () => {
      if (wanted === undefined) answer(200, document as JsonObject);
      else this.usage(wanted, answer);
    });
    return () => {
      isOver = true;
      cancel();
    };
  }

  /** The server says who the caller is, and whether it may. */
  private ifAllowed(request: ApiRequest, attributes: JsonObject, answer: Answer, go: () => void): Cancel {
    const { server, dialect } = this.options;
    const { accept: _, "content-type": _type, ...headers } = request.headers;
    const group = groupInDialect(dialect, "authorization.svc.io");
    return server.start(
      {
        method: "POST",
        path: `/apis/${group}/v1/selfsubjectaccessreviews`,
        query: "",
        headers: { ...headers, accept: "application/json", "content-type": "application/json" },
        body: { apiVersion: `${group}/v1`, kind: "SelfSubjectAccessReview", spec: attributes },
        ...(request.clientCertificate === undefined ? {} : { clientCertificate: request.clientCertificate }),
      },
      {
        respond: (status, _headers, { object = {} }) => {
          const { allowed } = (object["status"] ?? {}) as { readonly allowed?: boolean };
          if (status === 201 && allowed === true) go();
          else if (status !== 201) answer(status, object);
          else answer(403, failureStatus(403, "Forbidden", "forbidden: the caller may not read usage"));
        },
        open: () => {},
        frame: () => 0,
        close: () => {},
      },
    );
  }

  private usage(asked: Asked, answer: Answer): void {
    const { resource, namespace, name, query } = asked;
    const isWide = resource === "nodes" || namespace === "";
    const at = isWide ? `/api/v1/${resource}` : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
    const path = name === "" ? at : `${at}/${encodeURIComponent(name)}`;
    this.client.call({ method: "GET", path, query: name === "" ? query : "" }, listMicros, (found) => {
      if (!found.ok || found.status !== 200) {
        answer(
          found.ok ? found.status : 503,
          found.ok ? found.object : failureStatus(503, "ServiceUnavailable", "no answer"),
        );
        return;
      }
      const objects = name === "" ? ((found.object["items"] ?? []) as readonly JsonObject[]) : [found.object];
      const nodeOf = (object: JsonObject): string =>
        resource === "nodes"
          ? (metadataOf(object).name ?? "")
          : String(((object["spec"] ?? {}) as JsonObject)["nodeName"] ?? "");
      const nodes = [...new Set(objects.map(nodeOf))].filter((node) => node !== "");
      this.summaries(nodes, (summaries) => {
        const items: JsonObject[] = [];
        const finish = (): void => {
          const [only] = items;
          if (name === "") {
            const kind = `${kinds[resource]}List`;
            const list = { kind, apiVersion: `${this.group}/${version}`, metadata: pageOf(found.object), items };
            answer(200, list, listPayload(list));
          } else if (only !== undefined) answer(200, only);
          else answer(404, failureStatus(404, "NotFound", `${resource}.${this.group} "${name}" not found`));
        };
        const goOn = (from: number): void => {
          for (const object of objects.slice(from, from + itemsAtATime)) {
            const summary = summaries.get(nodeOf(object));
            const usage = summary === undefined ? undefined : this.metricsOf(resource, object, summary);
            if (usage !== undefined) items.push(usage);
          }
          const next = from + itemsAtATime;
          if (next < objects.length) this.options.process.clock.after(0, () => goOn(next));
          else finish();
        };
        goOn(0);
      });
    });
  }

  /** By node; without those that do not answer. */
  private summaries(nodes: readonly string[], done: (found: ReadonlyMap<string, Summary>) => void): void {
    const found = new Map<string, Summary>();
    let left = nodes.length;
    if (left === 0) done(found);
    for (const node of nodes) {
      this.summary(node, (summary) => {
        if (summary !== undefined) found.set(node, summary);
        if (--left === 0) done(found);
      });
    }
  }

  private summary(node: string, done: (summary: Summary | undefined) => void): void {
    const waiting = this.asked.get(node);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    this.asked.set(node, [done]);
    const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/stats/summary`;
    this.client.call({ method: "GET", path }, agentMicros, (answer) => {
      const summary = answer.ok && answer.status === 200 ? parsed(answer.payload) : undefined;
      const told = this.asked.get(node) ?? [];
      this.asked.delete(node);
      // In events of their own: what breaks one of their answers breaks no other.
      for (const each of told) this.options.process.clock.after(0, () => each(summary));
    });
  }

  private metricsOf(resource: Asked["resource"], object: JsonObject, summary: Summary): JsonObject | undefined {
    const {
      name = "",
      namespace = "",
      uid,
      labels,
    } = metadataOf(object) as {
      readonly name?: string;
      readonly namespace?: string;
      readonly uid?: string;
      readonly labels?: Readonly<Record<string, string>>;
    };
    const pod = resource === "nodes" ? undefined : summary.pods.get(uid ?? "");
    const whole = resource === "nodes" ? summary.node : pod;
    const containers = (pod?.containers ?? []).flatMap((each) => {
      const usage = usageOf(each);
      return usage === undefined ? [] : [{ name: each.name ?? "", usage }];
    });
    const usage = usageOf(whole);
    if (whole === undefined || (resource === "nodes" ? usage === undefined : containers.length === 0)) return undefined;
    const timestamp = whole.cpu?.time ?? "";
    const metadata: JsonObject = {
      name,
      ...(resource === "nodes" ? {} : { namespace }),
      creationTimestamp: timestamp,
      ...(labels === undefined ? {} : { labels }),
    };
    const common = { kind: kinds[resource] as string, apiVersion: `${this.group}/${version}`, metadata, timestamp };
    return resource === "nodes"
      ? { ...common, window: "10s", usage: usage as JsonObject }
      : { ...common, window: "10s", containers };
  }

  private groupFields(): JsonObject {
    const entry = { groupVersion: `${this.group}/${version}`, version };
    return { kind: "APIGroup", apiVersion: "v1", name: this.group, versions: [entry], preferredVersion: entry };
  }

  private resources(): JsonObject {
    const resource = (name: string, namespaced: boolean): JsonObject => ({
      name,
      singularName: "",
      namespaced,
      kind: kinds[name] as string,
      verbs: ["get", "list"],
    });
    return {
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: `${this.group}/${version}`,
      resources: [resource("nodes", false), resource("pods", true)],
    };
  }

  /** What the server says of its groups, and this one; plain or aggregated. Answers that are no JSON stay as they are. */
  private withGroup(responder: Responder): Responder {
    return wrapped(responder, {
      respond: (status, headers, payload) => {
        const { object, contentType } = payload;
        const added =
          object === undefined || status !== 200 || !/json/.test(contentType) ? undefined : this.added(object);
        if (added === undefined) responder.respond(status, headers, payload);
        else responder.respond(status, withoutTag(headers), jsonPayload(added, contentType));
      },
    });
  }

  private added(object: JsonObject): JsonObject | undefined {
    if (object["kind"] === "APIGroupList") {
      const { kind: _, apiVersion: _version, ...fields } = this.groupFields();
      return { ...object, groups: [...((object["groups"] ?? []) as Json[]), fields] };
    }
    if (object["kind"] !== "APIGroupDiscoveryList") return undefined;
    const resource = (name: string, scope: string): JsonObject => ({
      resource: name,
      responseKind: { group: "", version: "", kind: kinds[name] as string },
      scope,
      singularResource: "",
      verbs: ["get", "list"],
    });
    const versions = [
      { version, resources: [resource("nodes", "Cluster"), resource("pods", "Namespaced")], freshness: "Current" },
    ];
    const item = { metadata: { name: this.group, creationTimestamp: null }, versions };
    return { ...object, items: [...((object["items"] ?? []) as Json[]), item] };
  }
}

/** Where a list goes on that was cut, as the server's own. */
function pageOf(list: JsonObject): JsonObject {
  const { continue: token, remainingItemCount } = (list["metadata"] ?? {}) as JsonObject;
  return {
    ...(token === undefined ? {} : { continue: token }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

interface Part {
  readonly name?: string;
  readonly cpu?: { readonly time?: string; readonly usageNanoCores?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}

type PodPart = Part & {
  readonly podRef?: { readonly uid?: string };
  readonly containers?: readonly Part[];
};

interface Summary {
  readonly node: Part | undefined;
  readonly pods: ReadonlyMap<string, PodPart>;
}

function usageOf({ cpu, memory }: Part = {}): JsonObject | undefined {
  const [nanos, bytes] = [cpu?.usageNanoCores, memory?.workingSetBytes];
  if (nanos === undefined || bytes === undefined) return undefined;
  return { cpu: `${Math.ceil(nanos)}n`, memory: `${Math.floor(bytes / 1024)}Ki` };
}

function resourceOf(parts: readonly string[], query: string): Asked | undefined {
  const [first = "", second = "", third, fourth = "", ...more] = parts;
  if (first === "nodes" && parts.length <= 2) return { resource: "nodes", namespace: "", name: second, query };
  if (first === "pods" && parts.length === 1) return { resource: "pods", namespace: "", name: "", query };
  const isInNamespace = first === "namespaces" && second !== "" && third === "pods" && more.length === 0;
  return isInNamespace ? { resource: "pods", namespace: second, name: fourth, query } : undefined;
}

const placeOf = ({ resource, namespace, name }: Asked): JsonObject => ({ resource, namespace, name });

/** Undefined for an agent that says something else: it has no figures. */
function parsed(payload: Payload | undefined): Summary | undefined {
  if (payload === undefined) return undefined;
  try {
    const { node, pods = [] } = JSON.parse(new TextDecoder().decode(payload.bytes())) as {
      readonly node?: Part;
      readonly pods?: readonly PodPart[];
    };
    if (!pods.every(({ containers = [] }) => containers.every(isObject))) return undefined;
    return { node: isObject(node) ? node : undefined, pods: new Map(pods.map((pod) => [pod.podRef?.uid ?? "", pod])) };
  } catch {
    return undefined;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The tag is that of what the server itself says. */
function withoutTag<Headers extends object>(headers: Headers): Headers {
  const { etag: _, ...rest } = headers as Headers & { readonly etag?: unknown };
  return rest as Headers;
}

function jsonPayload(object: JsonObject, contentType = "application/json"): Payload {
  const bytes = new TextEncoder().encode(JSON.stringify(object));
  return { object, contentType, bytes: () => bytes, sizeBytes: bytes.length };
}

/** A list in pieces of some of its items each. */
function listPayload(list: JsonObject & { readonly items: readonly JsonObject[] }): Payload {
  const { items, ...head } = list;
  function* slices(): Generator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(`${JSON.stringify(head).slice(0, -1)},"items":[`);
    for (let at = 0; at < items.length; at += itemsAtATime) {
      const text = JSON.stringify(items.slice(at, at + itemsAtATime)).slice(1, -1);
      yield encoder.encode(at === 0 ? text : `,${text}`);
    }
    yield encoder.encode("]}");
  }
  return {
    object: list,
    contentType: "application/json",
    bytes: () => new TextEncoder().encode(JSON.stringify(list)),
    slices: () => slices(),
  };
}

const nothing = (): void => {};

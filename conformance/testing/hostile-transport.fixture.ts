/**
 * A cluster that does, at random moments, all that a correct one may: its controllers write into new namespaces and take
 * pods away whose node is not there, its front-ends lag and their clocks differ, it is too busy, too late, or has
 * forgotten, it ends watches, says more than it must, and lets namespaces go slowly. No judge may mind.
 */
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import type { StreamSink, SuiteClock, Transport, WireRequest, WireResponse } from "../../wire/ports.ts";

type Document = Record<string, unknown>;

export interface FrontEnd {
  readonly transport: Transport;
  readonly skewMillis: number;
}

export interface HostileOptions {
  /** Front-ends of one store; the first runs the controllers. */
  readonly frontEnds: readonly [FrontEnd, ...FrontEnd[]];
  readonly clock: SuiteClock;
  readonly seed: number;
  /** Whether every create may be answered 200: where the documents name no status for it. */
  readonly anyCreateIs200: boolean;
}

/** Of a thousand requests or events that could meet it. */
const rates = {
  busy: 12,
  late: 8,
  forgotten: 4,
  watchEnds: 25,
  bookmark: 60,
  warning: 80,
  extraField: 150,
  created200: 300,
  slowNamespace: 300,
  touched: 200,
} as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A stream of draws that depends on the seed alone. */
function drawsFrom(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

export function hostileTransport(options: HostileOptions): Transport {
  return new HostileCluster(options);
}

class HostileCluster implements Transport {
  private readonly options: HostileOptions;
  private readonly draw: (below: number) => number;

  constructor(options: HostileOptions) {
    this.options = options;
    this.draw = drawsFrom(options.seed);
  }

  private happens(rate: keyof typeof rates): boolean {
    return this.draw(1000) < rates[rate];
  }

  async close(): Promise<void> {
    for (const { transport } of this.options.frontEnds) await transport.close();
  }

  open(request: WireRequest, sink: StreamSink): () => void {
    const { clock, frontEnds } = this.options;
    const [path = "", query = ""] = request.path.split("?");
    const parameters = new URLSearchParams(query);
    const isWatch = asksForWatch(request.path);
    const refusal = this.refusal(request, path, parameters, isWatch);
    if (refusal !== undefined) return refuse(clock, sink, refusal);
    const frontEnd = frontEnds[this.draw(frontEnds.length)] as FrontEnd;
    const namespace = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(path)?.[1];
    if (request.method === "DELETE" && namespace !== undefined) this.later(8000, () => this.release(namespace));
    const dated = this.dated(sink, frontEnd);
    return frontEnd.transport.open(
      this.changed(request, path),
      isWatch ? this.watching(dated, parameters) : this.answering(dated, request, path, parameters),
    );
  }

  /** What a correct server may say to anybody at any time. Nothing of it has changed anything. */
  private refusal(
    { method, as }: WireRequest,
    path: string,
    parameters: URLSearchParams,
    isWatch: boolean,
  ): Refusal | undefined {
    if (as !== undefined) return undefined;
    if (this.happens("busy")) return { status: 429, reason: "TooManyRequests", retryAfter: 1 + this.draw(2) };
    const isList = method === "GET" && !isWatch && /\/(configmaps|pods|podtemplates|events|leases)$/.test(path);
    if (!isList) return undefined;
    const isFuture = Number(parameters.get("resourceVersion") ?? 0) > 900_000_000;
    if (!isFuture && this.happens("late")) return { status: 504, reason: "Timeout", retryAfter: 1 };
    // What is no valid request is refused as that.
    const [version, token] = [parameters.get("resourceVersion") ?? "", parameters.get("continue")];
    const isExact = parameters.get("resourceVersionMatch") === "Exact" && /^[1-9]\d*$/.test(version);
    const isOld = token === null ? isExact : /^[\w=-]{20,}$/.test(token) && /^0?$/.test(version);
    // A real one's refusal of a token brings another, which this one cannot: not where that is judged.
    if (parameters.get("limit") === "10") return undefined;
    if (isOld && !isFuture && this.happens("forgotten")) return { status: 410, reason: "Expired" };
    return undefined;
  }

  /** A namespace may have to wait for somebody before it goes. */
  private changed(request: WireRequest, path: string): WireRequest {
    const isNamespace = request.method === "POST" && path === "/api/v1/namespaces" && !request.path.includes("dryRun");
    if (!isNamespace || typeof request.body !== "string" || !this.happens("slowNamespace")) return request;
    const body = JSON.parse(request.body) as Document;
    const metadata = body["metadata"] as Document;
    if (metadata["finalizers"] !== undefined) return request;
    return { ...request, body: JSON.stringify({ ...body, metadata: { ...metadata, finalizers: [slow] } }) };
  }

  private dated(sink: StreamSink, { skewMillis }: FrontEnd): StreamSink {
    const head: StreamSink["head"] = (status, headers) => {
      const date = new Date(this.options.clock.nowMillis() + skewMillis).toUTCString();
      sink.head(status, { ...headers, date });
    };
    const { chunk, end, failed } = sink;
    return { head, chunk: chunk.bind(sink), end: end.bind(sink), failed: failed.bind(sink) };
  }

  private answering(sink: StreamSink, request: WireRequest, path: string, parameters: URLSearchParams): StreamSink {
    const chunks: Uint8Array[] = [];
    let isPlain = false;
    const isCreate = request.method !== "DELETE" && request.method !== "GET";
    return {
      head: (status, headers) => {
        isPlain = String(headers["content-type"]).startsWith("application/json") && !("content-encoding" in headers);
        const { "content-length": _length, ...others } = headers;
        const may200 = status === 201 && isCreate && this.mayBe200(request, path);
        sink.head(may200 && this.happens("created200") ? 200 : status, this.warned(others));
      },
      chunk: (bytes) => (isPlain ? void chunks.push(bytes) : sink.chunk(bytes)),
      end: () => {
        const text = Buffer.concat(chunks).toString();
        const document = isPlain ? parsed(text) : undefined;
        // What is large may be compared with its packed form, which is left as it is.
        const mayAdd = document !== undefined && !parameters.has("pretty") && text.length < 50_000;
        const hasMore = mayAdd && this.addsField(document);
        if (isPlain) sink.chunk(encoder.encode(hasMore ? JSON.stringify(document) : text));
        if (document !== undefined && !parameters.has("dryRun")) this.react(request, path, document);
        sink.end();
      },
      failed: (cause) => sink.failed(cause),
    };
  }

  private mayBe200({ method, headers }: WireRequest, path: string): boolean {
    if (method === "PUT" || /apply-patch/.test(headers["content-type"] ?? "")) return true;
    if (path.endsWith("/events")) return true;
    return this.options.anyCreateIs200 && method === "POST" && /\/(configmaps|podtemplates|pods)$/.test(path);
  }

  private warned(headers: WireResponse["headers"]): WireResponse["headers"] {
    if (!this.happens("warning")) return headers;
    const others = headers["warning"] ?? [];
    return {
      ...headers,
      warning: [...(typeof others === "string" ? [others] : others), '299 - "maintenance tonight"'],
    };
  }

  /** A field that a list's metadata may have, and that says nothing. */
  private addsField(document: Document): boolean {
    if (!("items" in document) || !this.happens("extraField")) return false;
    (document["metadata"] as Document)["selfLink"] = "";
    return true;
  }

  /** What controllers make of it. */
  private react(request: WireRequest, path: string, document: Document): void {
    const metadata = (document["metadata"] ?? {}) as Document;
    const name = String(metadata["name"] ?? "");
    if (request.method === "POST" && path === "/api/v1/namespaces" && document["kind"] === "Namespace") {
      for (const furniture of furnishing) this.later(600, () => this.furnish(name, furniture));
    }
    const [, namespace = "", plural = ""] = /^\/api\/v1\/namespaces\/([^/]+)\/([^/]+)/.exec(path) ?? [];
    if (request.method === "DELETE" && (plural === "configmaps" || plural === "serviceaccounts")) {
      for (const furniture of furnishing) {
        if (furniture.plural === plural) this.later(300, () => this.furnish(namespace, furniture));
      }
    }
    const spec = (document["spec"] ?? {}) as Document;
    const node = String(spec["nodeName"] ?? "");
    if (document["kind"] !== "Pod" || node === "" || request.method === "DELETE") return;
    this.later(400, () =>
      this.ask("GET", `/api/v1/nodes/${node}`, undefined, (status) => {
        if (status === 404)
          this.ask("DELETE", `/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 });
      }),
    );
    if (this.happens("touched")) {
      const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime: null }];
      const pod = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
      this.later(700, () => this.ask("PATCH", pod, { status: { conditions } }));
    }
  }

  private furnish(namespace: string, { plural, body }: (typeof furnishing)[number]): void {
    const path = `/api/v1/namespaces/${namespace}/${plural}`;
    this.ask("POST", path, body, (status) => {
      if (status !== 201 || !this.happens("touched")) return;
      const annotations = { "example.com/touched": "yes" };
      this.later(2000, () => this.ask("PATCH", `${path}/${body.metadata.name}`, { metadata: { annotations } }));
    });
  }

  private release(namespace: string): void {
    const path = `/api/v1/namespaces/${namespace}`;
    this.ask("GET", path, undefined, (status, document) => {
      const finalizers = ((document?.["metadata"] ?? {}) as Document)["finalizers"] as readonly string[] | undefined;
      if (status !== 200 || finalizers?.includes(slow) !== true) return;
      this.ask("PATCH", path, { metadata: { finalizers: finalizers.filter((other) => other !== slow) } });
    });
  }

  private later(withinMillis: number, act: () => void): void {
    this.options.clock.after(this.draw(withinMillis), act);
  }

  /** A request of the cluster's own. */
  private ask(
    method: string,
    path: string,
    body?: unknown,
    done: (status: number, document: Document | undefined) => void = () => {},
  ): void {
    const chunks: Uint8Array[] = [];
    let answered = 0;
    // Others' conditions stay: lists are merged.
    const isStatus = path.endsWith("/status");
    const patch = isStatus ? "application/strategic-merge-patch+json" : "application/merge-patch+json";
    const type = method === "PATCH" ? patch : "application/json";
    this.options.frontEnds[0].transport.open(
      {
        method,
        path,
        headers: { accept: "application/json", "content-type": type, "user-agent": "controller/1" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      {
        head: (status) => void (answered = status),
        chunk: (bytes) => void chunks.push(bytes),
        end: () => done(answered, parsed(Buffer.concat(chunks).toString())),
        failed: () => {},
      },
    );
  }

  /** A watch that ends sooner, and has bookmarks where they are welcome. */
  private watching(sink: StreamSink, parameters: URLSearchParams): StreamSink {
    let isStream = false;
    let isOver = false;
    let rest = "";
    const marks = parameters.get("allowWatchBookmarks") === "true" && !parameters.has("sendInitialEvents");
    const fromVersion = Number(parameters.get("resourceVersion") ?? 0) > 0;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      sink.end();
    };
    return {
      head: (status, headers) => {
        isStream = status === 200 && String(headers["content-type"]).startsWith("application/json");
        sink.head(status, this.warned(headers));
        if (isStream && fromVersion && this.happens("watchEnds")) this.later(3000, end);
      },
      chunk: (bytes) => {
        if (isOver) return;
        if (!isStream) return sink.chunk(bytes);
        const lines = (rest + decoder.decode(bytes)).split("\n");
        rest = lines.pop() as string;
        for (const line of lines) {
          sink.chunk(encoder.encode(`${line}\n`));
          if (marks && fromVersion && this.happens("bookmark")) this.mark(sink, line);
        }
      },
      end,
      failed: (cause) => void (isOver || sink.failed(cause)),
    };
  }

  private mark(sink: StreamSink, line: string): void {
    const event = parsed(line);
    const object = event?.["object"] as Document | undefined;
    const version = (object?.["metadata"] as Document | undefined)?.["resourceVersion"];
    if (event?.["type"] === "ERROR" || object === undefined || typeof version !== "string") return;
    const { kind, apiVersion } = object;
    const bookmark = { type: "BOOKMARK", object: { kind, apiVersion, metadata: { resourceVersion: version } } };
    sink.chunk(encoder.encode(`${JSON.stringify(bookmark)}\n`));
  }
}

const slow = "hostile.example.com/slow";

const furnishing = [
  {
    plural: "configmaps",
    body: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kube-root-ca.crt" },
      data: { "ca.crt": "none" },
    },
  },
  { plural: "serviceaccounts", body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } } },
] as const;

function parsed(text: string): Document | undefined {
  if (/:\s*-?\d{16}/.test(text)) return undefined; // it would be rounded, which is not lawful
  try {
    return JSON.parse(text) as Document;
  } catch {
    return undefined;
  }
}

interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly retryAfter?: number;
}

function refuse(clock: SuiteClock, sink: StreamSink, { status, reason, retryAfter }: Refusal): () => void {
  const text = JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "not now",
    reason,
    code: status,
    ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: retryAfter } }),
  });
  return clock.after(1, () => {
    sink.head(status, {
      "content-type": "application/json",
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    });
    sink.chunk(encoder.encode(text));
    sink.end();
  });
}

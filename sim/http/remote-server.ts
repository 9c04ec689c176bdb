/**
 * An API server behind a URL, for clients that run in real time: what `start` is in process, over HTTP and HTTPS. Objects
 * go and come as protobuf where the type tables know their type, and as JSON otherwise; both are asked for in that order.
 * Source: document 3, --svc-api-content-type; document 1, Protobuf envelope and the media types of watches.
 */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import protobuf from "protobufjs/minimal.js";
import type { Dialect } from "../../wire/dialect.ts";
import { encodeJson } from "../../wire/go-strings.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
  openEnvelope,
  typeOfObject,
} from "../apiserver/encodings/protobuf/envelope.ts";
import type {
  ApiHandler,
  ApiRequest,
  JsonObject,
  Payload,
  Responder,
  ResponseHeaders,
} from "../contract/http-message.ts";
import type { CallFailure } from "../kernel/types.ts";

export interface RemoteServerOptions {
  /** With its path prefix, without a trailing slash. */
  readonly url: string;
  /** PEM; default: what the machine trusts. */
  readonly authority?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string | undefined;
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined;
  /** Sent with every request beside its own, such as credentials. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  readonly dialect: Dialect;
  /** Objects go as protobuf where they can. */
  readonly usesProtobuf: boolean;
  /** Runs what comes from outside as an event of the client. */
  readonly turn: (work: () => void) => void;
}

export interface RemoteServer extends ApiHandler {
  /** Shows this certificate from now on. Connections that know another are ended, watches with them. */
  present(pair: { readonly certificate: string; readonly key: string }): void;
  /** Ends connections, and forgets what was asked on them; nothing is sent any more. */
  close(): void;
}

/** An answer is read up to this; a server that says more has failed. */
const answerBytesMax = 256 * 1024 * 1024;
const frameBytesMax = 64 * 1024 * 1024;

export function remoteServer(options: RemoteServerOptions): RemoteServer {
  const { url, authority, insecureSkipTlsVerify = false, tlsServerName } = options;
  const isHttps = url.startsWith("https:");
  const agentWith = (pair: RemoteServerOptions["clientCertificate"]): HttpAgent =>
    isHttps
      ? new HttpsAgent({
          keepAlive: true,
          rejectUnauthorized: !insecureSkipTlsVerify,
          ...(authority === undefined ? {} : { ca: authority }),
          ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
          ...(pair === undefined ? {} : { cert: pair.certificate, key: pair.key }),
        })
      : new HttpAgent({ keepAlive: true });
  let agent = agentWith(options.clientCertificate);
  let isClosed = false;
  const live = new Set<Exchange>();
  return {
    start(request, responder) {
      // Nobody hears what comes after the end, nor asks for more because of it.
      if (isClosed) return () => {};
      const exchange = new Exchange(options, request, responder);
      live.add(exchange);
      exchange.send(isHttps ? requestHttps : requestHttp, agent, () => live.delete(exchange));
      return () => exchange.cancel();
    },
    present(pair) {
      const before = agent;
      agent = agentWith(pair);
      before.destroy();
    },
    close() {
      isClosed = true;
      for (const exchange of live) exchange.cancel();
      agent.destroy();
    },
  };
}

class Exchange {
  private readonly options: RemoteServerOptions;
  private readonly request: ApiRequest;
  private readonly responder: Responder;
  private isOver = false;
  private outgoing: ClientRequest | undefined;

  constructor(options: RemoteServerOptions, request: ApiRequest, responder: Responder) {
    this.options = options;
    this.request = request;
    this.responder = responder;
  }

  /** `gone`: its connection is free for others, or has ended. */
  send(request: typeof requestHttp, agent: HttpAgent, gone: () => void): void {
    const { method, path, query } = this.request;
    const { body, headers } = this.encoded();
    const outgoing = request(`${this.options.url}${path}${query === "" ? "" : `?${query}`}`, {
      method,
      agent,
      headers: {
        ...this.options.headers,
        ...headers,
        ...(body === undefined ? {} : { "content-length": String(body.length) }),
      },
    });
    outgoing.on("response", (incoming) => this.read(incoming));
    outgoing.on("error", (error) =>
      this.failed((error as NodeJS.ErrnoException).code === "ECONNREFUSED" ? "refused" : "disconnected"),
    );
    outgoing.on("close", gone);
    outgoing.end(body);
    this.outgoing = outgoing;
  }

  cancel(): void {
    this.isOver = true;
    this.outgoing?.destroy();
  }

  private encoded(): { body: Uint8Array | undefined; headers: Record<string, string> } {
    const { dialect, usesProtobuf } = this.options;
    const { body, query } = this.request;
    const headers: Record<string, string> = { ...this.request.headers };
    const isWatch = /(^|&)watch=true(&|$)/.test(query);
    if (usesProtobuf && headers["accept"] === "application/json") {
      const media = dialect.protobufMediaType;
      headers["accept"] = isWatch
        ? `${media};stream=watch,application/json;stream=watch,application/json`
        : `${media},application/json`;
    }
    if (body === undefined || body instanceof Uint8Array) return { body, headers };
    const type =
      usesProtobuf && headers["content-type"] === "application/json" ? typeOfObject(dialect, body) : undefined;
    if (type !== undefined) {
      headers["content-type"] = dialect.protobufMediaType;
      return { body: encodeProtobuf(type, body), headers };
    }
    return { body: Buffer.from(encodeJson(body)), headers };
  }

  private read(incoming: IncomingMessage): void {
    const { statusCode: status = 0, headers } = incoming;
    const contentType = headers["content-type"] ?? "";
    const isWatch = status === 200 && /(^|&)watch=true(&|$)/.test(this.request.query);
    incoming.on("error", () => this.failed("disconnected"));
    incoming.on("aborted", () => this.failed("disconnected"));
    if (isWatch) {
      this.stream(incoming, contentType, headers as ResponseHeaders);
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > answerBytesMax) incoming.destroy(new Error("the answer is too long"));
      else chunks.push(chunk);
    });
    incoming.on("end", () => {
      const bytes = Buffer.concat(chunks);
      this.finish(() => this.responder.respond(status, headers as ResponseHeaders, this.payload(bytes, contentType)));
    });
  }

  private stream(incoming: IncomingMessage, contentType: string, headers: ResponseHeaders): void {
    const isProtobuf = contentType.startsWith(this.options.dialect.protobufMediaType);
    let rest: Buffer = Buffer.alloc(0);
    this.tell(() => this.responder.open(200, headers));
    incoming.on("data", (chunk: Buffer) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (;;) {
        const end = isProtobuf ? frameEnd(rest) : rest.indexOf(10) + 1;
        if (end === 0 || end > rest.length) break;
        const frame = rest.subarray(isProtobuf ? 4 : 0, end);
        rest = rest.subarray(end);
        const object = isProtobuf ? this.watchEvent(frame) : parsed(frame);
        if (object !== undefined) this.tell(() => this.responder.frame(payloadOf(object, frame, contentType)));
      }
      if (rest.length > frameBytesMax) incoming.destroy(new Error("a frame is too long"));
    });
    incoming.on("end", () => this.finish(() => this.responder.close()));
  }

  private payload(bytes: Buffer, contentType: string): Payload {
    const isProtobuf = contentType.startsWith(this.options.dialect.protobufMediaType);
    return payloadOf(isProtobuf ? this.object(bytes) : parsed(bytes), bytes, contentType);
  }

  private object(bytes: Uint8Array): JsonObject | undefined {
    try {
      const body = openEnvelope(bytes);
      const type = typeOfObject(this.options.dialect, { kind: body.kind, apiVersion: body.apiVersion });
      return type === undefined ? undefined : decodeProtobuf(type, body);
    } catch {
      return undefined; // what cannot be read is no object; the status stands
    }
  }

  private watchEvent(frame: Uint8Array): JsonObject | undefined {
    try {
      const reader = protobuf.Reader.create(frame);
      let type = "";
      let raw = new Uint8Array();
      while (reader.pos < reader.len) {
        const tag = reader.uint32();
        if (tag >>> 3 === 1) type = reader.string();
        else if (tag >>> 3 === 2) {
          const end = reader.uint32() + reader.pos;
          while (reader.pos < end) {
            const inner = reader.uint32();
            if (inner >>> 3 === 1) raw = Uint8Array.from(reader.bytes());
            else reader.skipType(inner & 7);
          }
        } else reader.skipType(tag & 7);
      }
      const object = this.object(raw);
      return object === undefined ? undefined : { type, object };
    } catch {
      return undefined;
    }
  }

  private tell(work: () => void): void {
    if (!this.isOver) this.options.turn(work);
  }

  private finish(work: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    this.options.turn(work);
  }

  private failed(failure: CallFailure): void {
    this.finish(() => this.responder.failed?.(failure));
  }
}

/** Where the first frame ends; 0 while its length is not there yet. */
const frameEnd = (bytes: Buffer): number => (bytes.length < 4 ? 0 : 4 + bytes.readUInt32BE(0));

function parsed(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

const payloadOf = (object: JsonObject | undefined, bytes: Uint8Array, contentType: string): Payload => ({
  object,
  contentType,
  bytes: () => bytes,
});

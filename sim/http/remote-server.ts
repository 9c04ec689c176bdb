/**
 * An API server behind a URL, for clients that run in real time: what `start` is in process, over HTTP and HTTPS. Objects
 * go and come as protobuf where the type tables know their type, and as JSON otherwise; both are asked for in that order.
 * Source: document 3, --svc-api-content-type; document 1, Protobuf envelope and the media types of watches.
 */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Dialect } from "../../wire/dialect.ts";
import { encodeJson } from "../../wire/go-strings.ts";
import { encodeProtobuf, typeOfObject } from "../apiserver/encodings/protobuf/envelope.ts";
import type {
  ApiHandler,
  ApiRequest,
  JsonObject,
  Payload,
  Responder,
  ResponseHeaders,
} from "../contract/http-message.ts";
import type { CallFailure } from "../kernel/types.ts";
import { Gathered } from "../../wire/gathered.ts";
import { type AnswerReader, answerReader } from "./remote-answers.ts";
import { LostWatch, WatchFrames } from "./watch-frames.ts";

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
const answerBytesMax = 64 * 1024 * 1024;
/** Of all answers that are not whole yet. */
const heldBytesMax = 128 * 1024 * 1024;
/** One event of a watch. */
const frameBytesMax = 16 * 1024 * 1024;

/** What all exchanges with a server have in common. */
interface Room {
  heldBytes: number;
  readonly reader: AnswerReader;
}

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
  const room: Room = { heldBytes: 0, reader: answerReader(options.dialect) };
  return {
    start(request, responder) {
      // Nobody hears what comes after the end, nor asks for more because of it.
      if (isClosed) return () => {};
      const exchange = new Exchange(options, room, request, responder);
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
  private readonly room: Room;
  private readonly request: ApiRequest;
  private readonly responder: Responder;
  private isOver = false;
  private outgoing: ClientRequest | undefined;

  constructor(options: RemoteServerOptions, room: Room, request: ApiRequest, responder: Responder) {
    this.options = options;
    this.room = room;
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
    const gathered = new Gathered();
    let held = 0;
    incoming.once("close", () => (this.room.heldBytes -= held));
    incoming.on("data", (chunk: Buffer) => {
      const more = gathered.add(chunk);
      held += more;
      this.room.heldBytes += more;
      const isTooLong = gathered.bytes > answerBytesMax || this.room.heldBytes > heldBytesMax;
      if (isTooLong) incoming.destroy(new Error("the answer is too long"));
    });
    incoming.on("end", () => {
      const bytes = gathered.joined();
      const object = this.room.reader.answer(this.request.path, bytes, this.isProtobuf(contentType));
      // What was done and cannot be read is as if the connection had broken.
      if (object === undefined && status >= 200 && status < 300) this.failed("disconnected");
      else
        this.finish(() =>
          this.responder.respond(status, headers as ResponseHeaders, payloadOf(object, bytes, contentType)),
        );
    });
  }

  /** A watch that tells what makes no sense has broken: nobody knows what it would have told. */
  private stream(incoming: IncomingMessage, contentType: string, headers: ResponseHeaders): void {
    const isProtobuf = this.isProtobuf(contentType);
    const frames = new WatchFrames(isProtobuf, frameBytesMax);
    this.tell(() => this.responder.open(200, headers));
    incoming.on("data", (chunk: Buffer) => {
      try {
        for (const frame of frames.add(chunk)) {
          if (frame.length === 0) continue;
          const event = this.room.reader.event(this.request.path, frame, isProtobuf);
          if (event === undefined) throw new LostWatch("an event makes no sense");
          this.tell(() => this.responder.frame(payloadOf(event, frame, contentType)));
        }
      } catch (error) {
        if (!(error instanceof LostWatch)) throw error;
        incoming.destroy(error);
      }
    });
    incoming.on("end", () => this.finish(() => this.responder.close()));
  }

  private isProtobuf(contentType: string): boolean {
    return contentType.startsWith(this.options.dialect.protobufMediaType);
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

const payloadOf = (object: JsonObject | undefined, bytes: Uint8Array, contentType: string): Payload => ({
  object,
  contentType,
  bytes: () => bytes,
});

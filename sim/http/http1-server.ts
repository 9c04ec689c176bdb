/**
 * An `ApiHandler` on a real socket, over HTTP/1.1. The adapter knows nothing of the API: it reads a request,
 * enters the simulated clock's present instant (`turn`), and writes out what the handler calls back.
 *
 * Where node's parser decides: a method that it does not know never reaches the handler; a well-formed
 * request line with such a method is answered 405 here, as the real server does for any token.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { AnswerFlush } from "./answer-flush.ts";
import { WatchFlush } from "./watch-flush.ts";
import type { AccessEntry, ExchangeContext, Patience } from "./exchange.ts";
import { MemoryLimit, type OldVersions } from "./memory-limit.ts";
import { Room } from "../kernel/room.ts";
import { http1Requests } from "./http1-requests.ts";
import { paceSocket } from "./paced-socket.ts";
import type { ApiHandler } from "../contract/http-message.ts";
import type { Upgrades } from "./upgrades.ts";

export interface HttpServerOptions {
  readonly handler: ApiHandler;
  /** Runs `work` at the present instant of the handler's clock: the clock is advanced first. Every socket event goes through it. */
  readonly turn: (work: () => void) => void;
  /** Bytes of a request body that are read, at least 1. One byte more is handed on, so that the handler can refuse it. Default 3 MiB. */
  readonly bodyBytesMax?: number;
  /** Bytes of request line and headers; more is answered 431. Default 1 MiB, the real server's. */
  readonly headerBytesMax?: number;
  /** Memory that the process may use: near it, requests are refused. Default: what the engine's heap may have. */
  readonly memoryBytesMax?: number;
  /** What can be forgotten when memory is scarce. Default: nothing. */
  readonly oldVersions?: OldVersions;
  /** How long a client may take. Default: `defaultPatience`. */
  readonly patience?: Partial<Patience>;
  /** Whether a complete response is sent gzipped. Default: never. */
  readonly compress?: ExchangeContext["compress"];
  /** Requests that may be handed on with their connection. Default: none. */
  readonly upgrades?: Upgrades;
  /** Called once for each request that ended, whatever the end. */
  readonly accessLog?: (entry: AccessEntry) => void;
}

/** The real server's: 32 s for a head, 60 s for a request and for its answer, 90 s without one. */
const defaultPatience: Patience = {
  headMillisMax: 32_000,
  bodyMillisMax: 60_000,
  answerMillisMax: 60_000,
  idleMillisMax: 90_000,
};

/** Of bodies that are not complete yet. */
const bodyRoomBytes = 128 * 1024 * 1024;
/** Of large answers that nobody has read yet. */
const unreadRoomBytes = 256 * 1024 * 1024;

/** A server that accepts connections. */
export interface Listening {
  /** `http://address:port`, the address as bound; an IPv6 address in brackets. */
  readonly url: string;
  readonly port: number;
  /** Of a listener over TLS: connections from now on are shown this pair, in PEM. */
  readonly present?: (pair: { readonly certificate: string; readonly privateKey: string }) => void;
  /**
   * Stops accepting, ends watches after what they have waiting, lets other requests finish, and cuts what
   * is left after `graceMillis` (default 10,000). Idempotent.
   */
  close(graceMillis?: number): Promise<void>;
}

/** What the adapters for HTTP/1.1 and HTTP/2 share. */
export function exchangeContext(options: HttpServerOptions): ExchangeContext {
  return {
    handler: options.handler,
    turn: options.turn,
    bodyBytesMax: options.bodyBytesMax ?? 3 * 1024 * 1024,
    patience: { ...defaultPatience, ...options.patience },
    compress: options.compress ?? (() => false),
    accessLog: options.accessLog,
    live: new Set(),
    watches: new WatchFlush(),
    answers: new AnswerFlush(),
    bodies: new Room(bodyRoomBytes),
    unread: new Room(unreadRoomBytes),
    memory: new MemoryLimit(options.memoryBytesMax, options.oldVersions),
    lastDeletions: new Set(),
    draining: false,
  };
}

/** Listens; rejects with node's error (`EADDRINUSE`, `EACCES`, …) when it cannot. `port` 0 takes any free one. */
export async function listenHttp1(options: HttpServerOptions, port: number, address: string): Promise<Listening> {
  const context = exchangeContext(options);
  const server = createHttp1Server(context, options.headerBytesMax);
  server.on("connection", paceHttp1);
  await listening(server, port, address);
  return {
    ...boundTo(server.address() as AddressInfo, "http"),
    close: closer(context, server, () => server.closeAllConnections()),
  };
}

/** Of a request's line and headers together. */
export const headBytesMax = 1024 * 1024;

export function createHttp1Server(context: ExchangeContext, headerBytesMax = headBytesMax): Server {
  const server = createServer({ maxHeaderSize: headerBytesMax, noDelay: true, ...timeoutsOf(context.patience) });
  server.on("request", http1Requests(context));
  server.on("clientError", refuseMalformed);
  server.on("connect", (_request: IncomingMessage, socket: Socket) =>
    socket.end(plainAnswer("405 Method Not Allowed")),
  );
  return server;
}

/** For a socket that node's parser has just been given: it would read by itself, as much as there is, past all that a stream does. */
export function paceHttp1(socket: Socket): void {
  paceSocket(socket);
  socket.on("data", () => {}); // who listens has node read through the stream
}

/** As node's classes for HTTP/1.1 take them. Bodies are timed by `Exchange`, for both versions alike. */
export function timeoutsOf({ headMillisMax, idleMillisMax }: Patience): {
  headersTimeout: number;
  requestTimeout: number;
  keepAliveTimeout: number;
  connectionsCheckingInterval: number;
} {
  return {
    headersTimeout: headMillisMax,
    requestTimeout: 0,
    keepAliveTimeout: idleMillisMax,
    connectionsCheckingInterval: Math.ceil(headMillisMax / 4),
  };
}

/** A request that never became one. Nothing is said on a socket that is already answering. */
export function refuseMalformed(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
  const message = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage;
  // What comes behind a request that ends the connection is nobody's: its answer is still to be given, and then it ends.
  if (error.code === "HPE_CLOSED_CONNECTION" && message !== undefined) return;
  if (!socket.writable || message?.headersSent === true) {
    socket.destroy();
    return;
  }
  socket.end(plainAnswer(statusOfParseError(error)));
}

const requestLineWithAnyMethod = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;

function statusOfParseError(error: NodeJS.ErrnoException & { rawPacket?: Buffer; reason?: string }): string {
  if (error.code === "HPE_HEADER_OVERFLOW") return "431 Request Header Fields Too Large";
  if (error.code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "413 Payload Too Large";
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "408 Request Timeout";
  // The same code for a length beside the coding: such a request has no certain end.
  const isCoding = error.code === "HPE_INVALID_TRANSFER_ENCODING" && !/Content-Length/i.test(error.reason ?? "");
  if (isCoding) return "501 Not Implemented";
  const start = error.rawPacket?.toString("latin1", 0, 8192) ?? "";
  if (error.code === "HPE_INVALID_METHOD" && requestLineWithAnyMethod.test(start)) return "405 Method Not Allowed";
  return "400 Bad Request";
}

function plainAnswer(status: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ${status.length}\r\n\r\n${status}`;
}

/** What listens: `http.Server`, `net.Server` and `tls.Server` alike. */
interface Listener {
  listen(port: number, address: string, done: () => void): unknown;
  once(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
  close(done: () => void): unknown;
}

export function listening(server: Listener, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

export function boundTo(bound: AddressInfo, scheme: "http" | "https"): Pick<Listening, "url" | "port"> {
  const host = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return { url: `${scheme}://${host}:${bound.port}`, port: bound.port };
}

/** The graceful end that `Listening.close` promises. `cut` destroys every connection that is left. */
export function closer(context: ExchangeContext, server: Listener, cut: () => void): Listening["close"] {
  let closed: Promise<void> | undefined;
  return (graceMillis = 10_000) => {
    closed ??= new Promise((resolve) => {
      context.draining = true;
      const bound = setTimeout(cut, graceMillis);
      server.close(() => {
        clearTimeout(bound);
        resolve();
      });
      for (const exchange of [...context.live]) exchange.drain();
    });
    return closed;
  };
}

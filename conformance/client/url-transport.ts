import type { ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { buildConnector, type Dispatcher, Pool } from "undici";
import type { StreamSink, Transport, WireRequest, WireResponse } from "../../wire/ports.ts";
import { asksForWatch } from "../../wire/asks-for-watch.ts";
import { AnswerRoom } from "./answer-room.ts";
import { saysAsWhom } from "./exchange.ts";
import { onOpenedStream, whenSent } from "./opened-stream.ts";

export interface UrlTransportOptions {
  /** Sent as `Authorization: Bearer …`. Asked for each request, so that it may be renewed. Default none. */
  readonly token?: string | (() => string);
  /** Headers that say as whom to act; not sent with what others ask, or with what says so itself. Default none. */
  readonly impersonation?: Readonly<Record<string, string | string[]>>;
  /** PEM of the authority that signed the server's certificate. Default: the system's authorities. */
  readonly certificateAuthority?: string;
  /** PEM of a client certificate and its key. Default none. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  /** Accept any server certificate. Default false. */
  readonly insecureSkipTlsVerify?: boolean;
  /** Name that the server's certificate must have, and that is asked for. Default: the URL's host. */
  readonly tlsServerName?: string;
  /**
   * `1.1` never offers HTTP/2; `2` speaks nothing else, in the clear without asking first. Default: under TLS what both
   * sides agree on (ALPN), HTTP/2 first; in the clear 1.1.
   */
  readonly http?: "1.1" | "2";
  /** Connections for plain requests, and again as many for watches. Over HTTP/1.1 a watch holds one. Default 64, at least 1. */
  readonly connectionsMax?: number;
}

export interface UrlTransport extends Transport {
  /** Of the last connection made: `HTTP/1.1`, `HTTP/2 over TLSv1.3`. Undefined before the first. */
  protocol(): string | undefined;
}

/** Below what servers commonly allow (the known one: 100 without credentials); a further connection takes the rest. */
const streamsMax = 90;

/**
 * A server at a URL, over HTTP/1.1 or HTTP/2. The only place of the suite with sockets. Nothing here times out: how
 * long to wait is the suite's question, asked of its own clock. A path in the URL is put before every request's path.
 */
export function urlTransport(url: string, options: UrlTransportOptions = {}): UrlTransport {
  const { origin, pathname, protocol: scheme } = new URL(url);
  const prefix = pathname.replace(/\/+$/, "");
  let negotiated: string | undefined;
  const useH2c = options.http === "2" && scheme === "http:";
  const sockets = new Set<Socket>();
  const remember = (protocol: string, socket: Socket): void => {
    negotiated = protocol;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  };
  let closing = false;
  const open = { isOver: () => closing, tell: remember };
  const connect = connector(options, useH2c, open);
  const pool = (connectBy: buildConnector.connector, connections = options.connectionsMax ?? 64): Pool =>
    new Pool(origin, {
      connections,
      allowH2: options.http !== "1.1",
      h2Options: { maxConcurrentStreams: streamsMax, useH2c },
      bodyTimeout: 0,
      headersTimeout: 0,
      connect: connectBy,
    });
  const requests = pool(connect);
  const watches = pool(connect); // apart, so that idle watches never starve the writes that would wake them
  // A client certificate belongs to its connection: what others ask goes over connections without one.
  const { clientCertificate: _own, ...strange } = options;
  const others = options.clientCertificate === undefined ? requests : pool(connector(strange, useH2c, open), 4);
  const { token } = options;
  const live = new Set<() => void>();
  const room = new AnswerRoom();
  return {
    open(request, sink) {
      const target = request.as !== undefined ? others : asksForWatch(request.path) ? watches : requests;
      const own = typeof token === "function" ? token() : token;
      const value = request.as === undefined ? own : request.as === "nobody" ? undefined : request.as.token;
      const credentials = {
        ...(value === undefined ? {} : { authorization: `Bearer ${value}` }),
        ...(request.as === undefined && !saysAsWhom(request) ? options.impersonation : {}),
      };
      return dispatch(target, request, { prefix, credentials, live, room }, sink);
    },
    async close() {
      closing = true;
      for (const cut of live) cut();
      await soon(); // the cuts are made
      // Without an error: undici would give its own to HTTP/2 streams that have ended and that nobody listens to.
      // And before the pools: an HTTP/2 session that ends after its pool throws when requests were still under way.
      const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
      await soon(); // undici has heard of it
      await Promise.all([requests, watches, ...(others === requests ? [] : [others])].map((each) => each.destroy()));
    },
    protocol: () => negotiated,
  };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Opens connections as undici does, and tells what was agreed on. None any more when all is over. */
function connector(
  options: UrlTransportOptions,
  useH2c: boolean,
  { isOver, tell }: { isOver: () => boolean; tell: (protocol: string, socket: Socket) => void },
): buildConnector.connector {
  const connect = buildConnector({
    allowH2: options.http !== "1.1",
    preferH2: true,
    ...(options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority }),
    ...(options.clientCertificate === undefined
      ? {}
      : { cert: options.clientCertificate.certificate, key: options.clientCertificate.key }),
    ...(options.tlsServerName === undefined ? {} : { servername: options.tlsServerName }),
    rejectUnauthorized: options.insecureSkipTlsVerify !== true,
  });
  return (to, callback) => {
    // Not at once: undici takes no answer before it has noted that it connects.
    if (isOver()) return queueMicrotask(() => callback(new Error("the transport is closed"), null));
    return connect(to, (...outcome) => {
      const [failed, socket] = outcome;
      if (failed !== null || socket === null) return callback(...outcome);
      if (isOver()) {
        socket.destroy();
        return callback(new Error("the transport is closed"), null);
      }
      // undici tells errors to its own listeners, and takes those away before the last one, its own end of a session.
      socket.on("error", () => {});
      const tls = "getProtocol" in socket ? socket : undefined;
      const isHttp2 = useH2c || (tls !== undefined && tls.alpnProtocol === "h2");
      if (options.http === "2" && !isHttp2) {
        socket.destroy();
        return callback(new Error("HTTP/2 was asked for, and the server did not agree to it"), null);
      }
      // Without TLS nothing is agreed on: undici reads from this property how to speak.
      if (useH2c) Object.assign(socket, { alpnProtocol: "h2" });
      tell(`${isHttp2 ? "HTTP/2" : "HTTP/1.1"}${tls === undefined ? "" : ` over ${tls.getProtocol()}`}`, socket);
      return callback(...outcome);
    });
  };
}

interface Ways {
  readonly prefix: string;
  readonly credentials: Readonly<Record<string, string | string[]>>;
  /** Cuts what is under way. */
  readonly live: Set<() => void>;
  readonly room: AnswerRoom;
}

function dispatch(
  target: Pool,
  request: WireRequest,
  { prefix, credentials, live, room }: Ways,
  sink: StreamSink,
): () => void {
  let over = false;
  let cut: (() => void) | undefined;
  let stream: ClientHttp2Stream | undefined;
  const once = (tell: () => void) => {
    if (over) return;
    over = true;
    tell();
  };
  const cancel = (): void => {
    over = true;
    place.leave();
    // Not before the request has been sent, as whoever cuts it means it.
    setImmediate(() => {
      if (stream === undefined) cut?.();
      else whenSent(stream, () => cut?.());
    });
  };
  const place = room.enter((why) => {
    once(() => sink.failed(new Error(why)));
    cancel();
  });
  const ended = () => {
    live.delete(cancel);
    place.leave();
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      cut = () => controller.abort(new Error("cut by the suite"));
      if (over)
        cut(); // cancelled while it waited for a connection
      else onOpenedStream((opened) => (stream = opened));
    },
    onResponseStart(controller, status, headers) {
      request.onReader?.(controller);
      if (!over) sink.head(status, headers as WireResponse["headers"]);
    },
    onResponseData(_controller, chunk) {
      place.take(chunk.length);
      if (!over) sink.chunk(chunk);
    },
    onResponseEnd() {
      ended();
      once(() => sink.end());
    },
    onResponseError(_controller, cause) {
      ended();
      once(() => sink.failed(cause));
    },
  };
  const headers = { ...request.headers, ...credentials };
  const path = prefix + request.path;
  live.add(cancel); // first: a request that HTTP cannot carry has ended when `dispatch` returns
  try {
    target.dispatch({ path, method: request.method, headers, body: request.body ?? null }, handler);
  } catch (error) {
    ended();
    once(() => sink.failed(error as Error)); // the pool is closed
  }
  return cancel;
}

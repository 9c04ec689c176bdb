/**
 * HTTP/1.1 and HTTP/2 on one port. In the clear a connection tells itself apart by its first bytes (the HTTP/2
 * preface); under TLS the client and the server agree by ALPN. Both speak through the same `Exchange`.
 */
import { createSecureServer, createServer as createHttp2Server, type Http2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { SecureVersion } from "node:tls";
import { Exchange, type ExchangeContext } from "./exchange.ts";
import { clientCertificates } from "./client-certificate.ts";
import { http1Requests } from "./http1-requests.ts";
import { PlainConnection } from "./plain-connection.ts";
import {
  boundTo,
  closer,
  createHttp1Server,
  exchangeContext,
  type HttpServerOptions,
  type Listening,
  listening,
  paceHttp1,
  refuseMalformed,
  timeoutsOf,
  headBytesMax,
} from "./http1-server.ts";
import { serveUpgrades } from "./upgrades.ts";
import { loopShare, pacedSessions } from "./wall.ts";

export interface TlsOptions {
  /** PEM. Empty, as its key: there is none yet, and every handshake fails until one is presented. */
  readonly certificate: string;
  /** PEM. */
  readonly privateKey: string;
  /** PEM of the authorities of client certificates, which are then asked for and not demanded. Default: none is asked for. */
  readonly clientAuthorities?: string;
  /** Oldest version. Default TLSv1.2. */
  readonly minVersion?: SecureVersion;
  /** OpenSSL's names, joined by colons, of suites before TLS 1.3. Default: node's. */
  readonly ciphers?: string;
}

/** Listens for both versions; rejects with node's error when it cannot. `port` 0 takes any free one. */
export function listenHttp(
  options: HttpServerOptions,
  port: number,
  address: string,
  tls?: TlsOptions,
): Promise<Listening> {
  return tls === undefined ? listenPlain(options, port, address) : listenTls(options, port, address, tls);
}

/** What an HTTP/2 client always sends first; no HTTP/1 method begins like it. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n");

async function listenPlain(options: HttpServerOptions, port: number, address: string): Promise<Listening> {
  const context = exchangeContext(options);
  const server = createHttp1Server(context, options.headerBytesMax);
  if (options.upgrades !== undefined) serveUpgrades(server, context, options.upgrades);
  const http2 = createHttp2Server(http2Settings(options));
  const sessions = serveHttp2(http2, context);
  const undecided = new Set<Socket>();
  const plain = new Map<Socket, PlainConnection>();
  const [asHttp1] = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket) => {
    undecided.add(socket);
    socket.on("close", () => {
      undecided.delete(socket);
      plain.delete(socket);
    });
    sniff(socket, context.patience.headMillisMax, (isHttp2, seen) => {
      undecided.delete(socket);
      if (isHttp2) {
        // Only HTTP/1.1 goes on with half a connection: here it is the end, even while the peer owes us leave to write.
        socket.allowHalfOpen = false;
        putBack(socket, seen);
        http2.emit("connection", socket);
        return;
      }
      const connection = new PlainConnection(context, socket, (unread) => {
        plain.delete(socket);
        const behind = putInFront(socket, unread);
        asHttp1?.call(server, socket);
        paceHttp1(socket);
        for (const piece of behind) socket.push(piece);
        socket.resume();
      });
      plain.set(socket, connection);
      socket.resume();
      connection.take(seen);
    });
  });
  await listening(server, port, address);
  const end = closer(context, server, () => {
    server.closeAllConnections();
    for (const socket of plain.keys()) socket.destroy();
    for (const session of sessions) session.destroy();
  });
  return {
    ...boundTo(server.address() as AddressInfo, "http"),
    close(graceMillis) {
      const ended = end(graceMillis);
      for (const socket of undecided) socket.destroy();
      for (const connection of plain.values()) connection.endWhenIdle();
      for (const session of sessions) session.close(); // GOAWAY: no new streams, the open ones may finish
      return ended;
    },
  };
}

async function listenTls(
  options: HttpServerOptions,
  port: number,
  address: string,
  tls: TlsOptions,
): Promise<Listening> {
  const { clientAuthorities } = tls;
  const context: ExchangeContext = {
    ...exchangeContext(options),
    ...(clientAuthorities === undefined ? {} : { clientCertificate: clientCertificates() }),
  };
  const timeouts = timeoutsOf(context.patience);
  const secureWith = ({ certificate, privateKey }: Pick<TlsOptions, "certificate" | "privateKey">) => ({
    ...(certificate === "" ? {} : { cert: certificate, key: privateKey }),
    ...(clientAuthorities === undefined ? {} : { ca: clientAuthorities }),
    minVersion: tls.minVersion ?? "TLSv1.2",
    ...(tls.ciphers === undefined ? {} : { ciphers: tls.ciphers }),
  });
  const server = createSecureServer({
    ...http2Settings(options),
    allowHTTP1: true,
    ...secureWith(tls),
    // Who it is, if anybody, is the authenticator's question: the connection stands in any case.
    ...(clientAuthorities === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
    handshakeTimeout: context.patience.headMillisMax,
    // Read by the HTTP/1.1 side of the same server.
    ...{ maxHeaderSize: options.headerBytesMax ?? headBytesMax, ...timeouts },
  });
  Object.assign(server, { headersTimeout: timeouts.headersTimeout, requestTimeout: timeouts.requestTimeout });
  if (options.upgrades !== undefined) serveUpgrades(server, context, options.upgrades);
  const sessions = serveHttp2(server, context);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("secureConnection", (socket) => {
    if (socket.alpnProtocol !== "h2") paceHttp1(socket);
  });
  server.on("clientError" as never, refuseMalformed as never);
  // Before the handshake there is nobody to whom anything could be said.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  await listening(server, port, address);
  const end = closer(context, server, () => {
    for (const socket of sockets) socket.destroy();
  });
  return {
    ...boundTo(server.address() as AddressInfo, "https"),
    present: (pair) => server.setSecureContext(secureWith(pair)),
    close(graceMillis) {
      const ended = end(graceMillis);
      for (const session of sessions) session.close();
      return ended;
    },
  };
}

function http2Settings(options: HttpServerOptions): {
  maxSessionMemory: number;
  settings: { maxConcurrentStreams: number; maxHeaderListSize: number };
} {
  const maxHeaderListSize = options.headerBytesMax ?? headBytesMax;
  // The real server allows 100 streams a connection without credentials and 250 with; memory in megabytes.
  return { maxSessionMemory: 64, settings: { maxConcurrentStreams: 250, maxHeaderListSize } };
}

function serveHttp2(
  server: ReturnType<typeof createHttp2Server> | ReturnType<typeof createSecureServer>,
  context: ExchangeContext,
): Set<Http2Session> {
  const sessions = new Set<Http2Session>();
  server.on("session", (session: Http2Session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => session.destroy()); // a broken peer; its streams have been told
    const { socket } = session;
    pacedSessions.opened(session, socket);
    session.on("stream", () => pacedSessions.opened(session, socket));
    endWhenIdle(session, context.patience.idleMillisMax);
  });
  // Under TLS the clients of HTTP/1.1 ask the same server.
  const http1 = http1Requests(context);
  server.on("request", (request, response) => {
    if (request.httpVersionMajor === 1) http1(request as never, response as never);
    else new Exchange(context, request as never, response as never).begin(request as never);
  });
  return sessions;
}

/** A watch may be silent for long; a session without any stream is nobody's. */
function endWhenIdle(session: Http2Session, idleMillisMax: number): void {
  let streams = 0;
  session.on("stream", (stream) => {
    streams++;
    stream.on("close", () => streams--);
  });
  session.setTimeout(idleMillisMax, () => {
    if (streams === 0) session.close();
  });
}

/** Looks at the first bytes. A connection that ends before it has said anything, or says too little for long, is nobody's. */
function sniff(socket: Socket, millisMax: number, decide: (isHttp2: boolean, seen: Buffer) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const look = (chunk: Buffer): void => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const compared = Math.min(seen.length, preface.length);
    const alike = seen.subarray(0, compared).equals(preface.subarray(0, compared));
    if (alike && compared < preface.length) return;
    clearTimeout(timer);
    // Thousands may come at once: until their turn has come nothing more is read.
    socket.off("data", look).pause();
    loopShare.begin(socket, () => {
      if (socket.destroyed) return;
      socket.off("end", giveUp).off("error", giveUp).off("close", giveUp);
      decide(alike, seen);
    });
  };
  const giveUp = (): void => {
    clearTimeout(timer);
    socket.destroy();
  };
  const timer = setTimeout(giveUp, millisMax);
  socket.on("data", look).on("end", giveUp).on("error", giveUp).on("close", giveUp);
}

/**
 * What is still to be pushed, in order: `unread`, and what has come while the socket was paused. Where the end has come as well,
 * nothing can be pushed, and all of it is put back.
 */
function putInFront(socket: Socket, unread: Buffer): readonly Buffer[] {
  if ((socket as unknown as { readonly _readableState: { readonly ended: boolean } })._readableState.ended) {
    putBack(socket, unread);
    return [];
  }
  const pieces = [unread];
  while (socket.readableLength > 0) pieces.push(socket.read() as Buffer);
  return pieces;
}

/** A tick later whoever reads has it, such as an HTTP/2 session by itself; a flowing socket would lose it. */
function putBack(socket: Socket, bytes: Buffer): void {
  socket.pause();
  if (bytes.length > 0) socket.unshift(bytes);
}

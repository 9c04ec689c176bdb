/**
 * How the server reaches what it calls: directly, or through the proxy that its egress selection names.
 * Source: document 2, EgressSelectorConfiguration; RFC 9110, 9.3.6 (CONNECT).
 */
import { readFileSync } from "node:fs";
import { connect, type NetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { EgressConnection, EgressName, EgressSettings, ProxyAddress } from "../../configuration/egress.ts";

/** Opens a stream of bytes to a host. `done` is called once, later. */
export type Dialer = (host: string, port: number, done: (error: Error | null, stream?: Duplex) => void) => void;

/** Who is called, by the name of its selection. Undefined: directly. */
export type Dialers = Readonly<Partial<Record<EgressName, Dialer>>>;

/** Reads the certificates that `settings` names; throws node's error for those that cannot be read. */
export function dialersOf(settings: EgressSettings): Dialers {
  return Object.fromEntries(
    [...settings].flatMap(([name, connection]) => {
      const dialer = dialerOf(connection);
      return dialer === undefined ? [] : [[name, dialer]];
    }),
  );
}

function dialerOf(connection: EgressConnection): Dialer | undefined {
  if (connection.is === "direct") return undefined;
  if (connection.is === "grpc") {
    const { socket } = connection;
    return (host, port, done) => dialGrpc(socket, `${bracketed(host)}:${port}`, done);
  }
  const open = proxyOpener(connection.to);
  return (host, port, done) => tunnel(open(), `${bracketed(host)}:${port}`, done);
}

/** gRPC is loaded when it is first dialled: few servers have such a proxy, and it is a tenth of a start. */
function dialGrpc(socket: string, address: string, done: Parameters<Dialer>[2]): void {
  import("../../grpc/tunnel.ts").then(({ openGrpcTunnel }) => openGrpcTunnel(socket, address, done), done);
}

const bracketed = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);

function proxyOpener(to: ProxyAddress): () => Duplex {
  if (to.is === "socket") return () => connect({ path: to.path });
  const { hostname, port, protocol } = new URL(to.url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const where: NetConnectOpts = { host, port: Number(port || (protocol === "https:" ? 443 : 80)) };
  if (to.tls === undefined) return () => connect(where);
  const { certificateAuthority, clientCertificate, clientKey } = to.tls;
  const credentials = {
    ...(certificateAuthority === undefined ? {} : { ca: readFileSync(certificateAuthority) }),
    cert: readFileSync(clientCertificate),
    key: readFileSync(clientKey),
  };
  return () => connectTls({ ...where, ...credentials, ...serverName(host) });
}

/** No name is sent to an address. */
export const serverName = (host: string): { readonly servername?: string } =>
  /^[\d.]+$|:/.test(host) ? {} : { servername: host };

/** A proxy's answer to CONNECT has a head and no more. */
const headBytesMax = 16 * 1024;
const answerMillisMax = 30_000;

function tunnel(proxy: Duplex, address: string, done: Parameters<Dialer>[2]): void {
  let head = Buffer.alloc(0);
  const end = (error: Error | null): void => {
    clearTimeout(timer);
    proxy.off("data", read).off("error", end).off("close", closed);
    if (error === null) {
      done(null, proxy);
      return;
    }
    proxy.on("error", () => {}); // nobody is left to hear of more
    proxy.destroy();
    done(error);
  };
  const closed = (): void => end(new Error("the proxy has closed the connection"));
  const read = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const at = head.indexOf("\r\n\r\n");
    if (at < 0) {
      if (head.length > headBytesMax) end(new Error(`the proxy's answer is longer than ${headBytesMax} bytes`));
      return;
    }
    const [line = ""] = head.toString("latin1").split("\r\n", 1);
    if (!/^HTTP\/1\.[01] 2\d\d(?: |$)/.test(line)) {
      end(new Error(`the proxy refuses to connect to ${address}: ${line.slice(0, 200)}`));
      return;
    }
    proxy.pause();
    const rest = head.subarray(at + 4);
    if (rest.length > 0) proxy.unshift(rest);
    end(null);
  };
  const timer = setTimeout(
    () => end(new Error(`the proxy has not answered within ${answerMillisMax / 1_000} s`)),
    answerMillisMax,
  );
  proxy.on("data", read).on("error", end).on("close", closed);
  proxy.write(`CONNECT ${address} HTTP/1.1\r\nHost: ${address}\r\n\r\n`);
}

interface ConnectionOptions {
  readonly host?: string | null;
  readonly hostname?: string | null;
  readonly port?: number | string | null;
}

type Created = (error: Error | null, stream: Duplex) => void;

/**
 * What `http.request` and `https.request` are given besides, so that they take this way; nothing for the direct one.
 * `secure`: TLS within the tunnel, by the request's own options.
 */
export function throughDialer(dial: Dialer | undefined, secure: boolean): object {
  if (dial === undefined) return { agent: false };
  return {
    createConnection(options: ConnectionOptions, created: Created): undefined {
      const host = options.hostname ?? options.host ?? "localhost";
      dial(host, Number(options.port ?? (secure ? 443 : 80)), (error, stream) => {
        if (error !== null || stream === undefined) created(error ?? new Error("no connection"), undefined as never);
        else if (secure) created(null, within(stream, host, options));
        else {
          created(null, stream);
          setImmediate(() => stream.resume()); // it was held until somebody listens
        }
      });
    },
  };
}

function within(stream: Duplex, host: string, options: ConnectionOptions): TLSSocket {
  return connectTls({ ...(options as object), ...serverName(host), socket: stream });
}

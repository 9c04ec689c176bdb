/** Real proxies of all three kinds, on sockets of this machine: they note whom they were asked to connect to. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import protobuf from "protobufjs";
import { selfSignedCertificate } from "../certificates/self-signed.ts";

export interface RunningProxy {
  /** `host:port`, in order. */
  readonly asked: string[];
  /** A URL, or the path of a socket. */
  readonly address: string;
  close(): Promise<void>;
}

const year = 365 * 86_400_000;

export const pairFor = (host: string, usage: "server" | "client" = "server") =>
  selfSignedCertificate({
    hosts: [host],
    notBeforeMillis: Date.now() - year,
    notAfterMillis: Date.now() + year,
    usage,
  });

export interface ProxyOptions {
  /** Answers every CONNECT with 403. */
  readonly refuses?: boolean;
  /** All go there instead of where they are asked to go, as a tunnel into another network does. */
  readonly port?: number;
}

/** CONNECT over TCP; with `client`, over TLS for whoever shows that certificate. */
export async function connectProxy(
  where: "tcp" | "socket" | { readonly client: string; readonly pair: ReturnType<typeof pairFor> },
  options: ProxyOptions = {},
): Promise<RunningProxy> {
  const asked: string[] = [];
  const isTls = typeof where === "object";
  const server = isTls
    ? createTlsServer({
        cert: where.pair.certificate,
        key: where.pair.privateKey,
        ca: where.client,
        requestCert: true,
        rejectUnauthorized: true,
      })
    : createServer();
  const open = new Set<Duplex>();
  server.on("connect", ({ url = "" }, socket: Duplex, head: Buffer) => {
    asked.push(url);
    open.add(socket);
    socket.on("error", () => {});
    if (options.refuses === true) {
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const to = dialled(url, options, (error) => socket.destroy(error));
    to.on("connect", () => {
      socket.write("HTTP/1.1 200 Connection established\r\nX-Proxy: test\r\n\r\n");
      if (head.length > 0) to.write(head);
      to.pipe(socket).pipe(to);
    });
    open.add(to);
  });
  const folder = mkdtempSync(join(tmpdir(), "touchstone-proxy-"));
  const path = join(folder, "proxy.sock");
  await new Promise<void>((resolve) =>
    where === "socket" ? server.listen(path, resolve) : server.listen(0, "127.0.0.1", resolve),
  );
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    address: where === "socket" ? path : `${isTls ? "https" : "http"}://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.closeAllConnections();
        server.close(() => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
      }),
  };
}

function dialled(address: string, { port }: ProxyOptions, failed: (error: Error) => void): Socket {
  const colon = address.lastIndexOf(":");
  const host = port === undefined ? address.slice(0, colon).replace(/^\[(.*)\]$/, "$1") : "127.0.0.1";
  return connect({ host, port: port ?? Number(address.slice(colon + 1)) }).on("error", failed);
}

/** As the published protocol writes it, so that the messages are not the ones under test. */
const { root } = protobuf.parse(
  `syntax = "proto3";
  enum PacketType { DIAL_REQ = 0; DIAL_RSP = 1; CLOSE_REQ = 2; CLOSE_RSP = 3; DATA = 4; DIAL_CLS = 5; DRAIN = 6; }
  message Packet {
    PacketType type = 1;
    oneof payload {
      DialRequest dialRequest = 2; DialResponse dialResponse = 3; Data data = 4;
      CloseRequest closeRequest = 5; CloseResponse closeResponse = 6;
    }
  }
  message DialRequest { string protocol = 1; string address = 2; int64 random = 3; }
  message DialResponse { string error = 1; int64 connectID = 2; int64 random = 3; }
  message CloseRequest { int64 connectID = 1; }
  message CloseResponse { string error = 1; int64 connectID = 2; }
  message Data { int64 connectID = 1; string error = 2; bytes data = 3; }`,
  { keepCase: true },
);
const packetType = root.lookupType("Packet");

interface Packet {
  readonly type?: string;
  readonly dialRequest?: { readonly protocol: string; readonly address: string; readonly random: string };
  readonly data?: { readonly connectID: string; readonly data: Uint8Array };
}

/** A tunnel server with the gRPC protocol of konnectivity, at a unix socket. */
export async function grpcProxy(options: ProxyOptions = {}): Promise<RunningProxy> {
  const asked: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "touchstone-tunnel-"));
  const path = join(folder, "tunnel.sock");
  const sockets = new Set<Socket>();
  const proxy = (stream: ServerDuplexStream<Packet, unknown>): void => {
    let to: Socket | undefined;
    stream.on("data", ({ type, dialRequest, data }: Packet) => {
      if (type === "DIAL_REQ" && dialRequest !== undefined) {
        asked.push(dialRequest.address);
        const { random } = dialRequest;
        if (options.refuses === true) {
          stream.write({ type: "DIAL_RSP", dialResponse: { error: "no agent available", random } });
          return;
        }
        to = dialled(dialRequest.address, options, ({ message }) =>
          stream.write({ type: "DIAL_RSP", dialResponse: { error: message, random } }),
        );
        sockets.add(to);
        to.on("connect", () => stream.write({ type: "DIAL_RSP", dialResponse: { connectID: "42", random } }));
        to.on("data", (bytes) => stream.write({ type: "DATA", data: { connectID: "42", data: bytes } }));
        to.on("end", () => stream.write({ type: "CLOSE_RSP", closeResponse: { connectID: "42" } }));
      } else if (type === "DATA" && data !== undefined) {
        if (data.connectID !== "42") stream.destroy(new Error(`bytes of connection ${data.connectID}`));
        to?.write(data.data);
      } else if (type === "CLOSE_REQ") to?.end();
    });
    stream.on("error", () => to?.destroy());
    stream.on("cancelled", () => to?.destroy());
  };
  const server = new Server();
  const how = {
    path: "/ProxyService/Proxy",
    requestStream: true,
    responseStream: true,
    requestDeserialize: (bytes: Buffer) =>
      packetType.toObject(packetType.decode(bytes), { enums: String, longs: String, defaults: false }),
    requestSerialize: (value: object) => Buffer.from(packetType.encode(packetType.fromObject(value)).finish()),
    responseDeserialize: (bytes: Buffer) => packetType.toObject(packetType.decode(bytes)),
    responseSerialize: (value: object) => Buffer.from(packetType.encode(packetType.fromObject(value)).finish()),
  };
  server.addService({ Proxy: { ...how, originalName: "proxy" } } as never, { Proxy: withType(proxy) } as never);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return {
    asked,
    address: path,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.forceShutdown();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The first type is 0, which is not sent. */
function withType(proxy: (stream: ServerDuplexStream<Packet, unknown>) => void) {
  return (stream: ServerDuplexStream<Packet, unknown>): void => {
    const on = stream.on.bind(stream);
    stream.on = ((event: string, heard: (packet: Packet) => void) =>
      on(
        event,
        event === "data" ? (packet: Packet) => heard({ ...packet, type: packet.type ?? "DIAL_REQ" }) : heard,
      )) as never;
    proxy(stream);
  };
}

/**
 * Where a container runtime's streams are reached: each at an address that is good once, within a minute. Clients change
 * the protocol to WebSocket or, older ones, to SPDY. Source: the published streaming library of container runtimes.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WebSocketServer } from "ws";
import type { AttachRequest, ExecRequest, PortForwardRequest } from "../../wire/cri-messages.ts";
import { type LiveSink, openAttach, openExec, type Opened, openPort } from "../runtime/live-sessions.ts";
import type { RuntimeState, StreamAddresses } from "../runtime/runtime-state.ts";
import type { ChannelName } from "./channels.ts";
import { commandOverSpdy, portsOverSpdy } from "./spdy-streams.ts";
import { chosenProtocol, commandOverWebSocket, portsOverWebSocket } from "./web-socket-streams.ts";

type Kind = "exec" | "attach" | "portforward";

interface Offer {
  readonly owner: () => StreamOwner | undefined;
  readonly kind: Kind;
  readonly request: object;
  readonly untilMillis: number;
}

const offerMillis = 60_000;
const offersMax = 1000;
const messageBytesMax = 1 << 20;

/** Whose streams these are, once it runs. */
export interface StreamOwner {
  readonly state: RuntimeState;
  /** Runs what comes from outside as an event of the machine. */
  readonly turn: (work: () => void) => void;
}

export class StreamServer implements StreamAddresses {
  readonly #server: Server;
  readonly #pace: (socket: Socket) => void;
  readonly #offers = new Map<string, Offer>();
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    clientTracking: false,
    handleProtocols: (offered, { url }) => chosenProtocol(offered, speaks(url)) ?? false,
  });
  readonly #sockets = new Set<Socket>();
  #owner: StreamOwner | undefined;

  private constructor(server: Server, pace: (socket: Socket) => void) {
    this.#server = server;
    this.#pace = pace;
  }

  /**
   * On the loopback, at any free port: whoever asks comes from an agent on the same machine. `pace` is shown each socket that
   * streams are read from, and may see to it that it is read a little at a time.
   */
  static async listen(pace: (socket: Socket) => void = () => {}): Promise<StreamServer> {
    const server = createServer((_request, response) => {
      response.writeHead(400, { "content-type": "text/plain", connection: "close" }).end("Upgrade request required\n");
    });
    const streams = new StreamServer(server, pace);
    server.on("upgrade", (request, socket, head) => streams.#upgrade(request, socket as Socket, head));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    return streams;
  }

  serve(owner: StreamOwner): void {
    this.#owner = owner;
  }

  /** For one of several machines. */
  addressesOf(owner: () => StreamOwner): StreamAddresses {
    return { url: (kind, request) => this.#offer(kind, request, owner) };
  }

  url(kind: Kind, request: object): string {
    return this.#offer(kind, request, () => this.#owner);
  }

  #offer(kind: Kind, request: object, owner: Offer["owner"]): string {
    const now = Date.now();
    for (const [token, { untilMillis }] of this.#offers) {
      if (untilMillis > now && this.#offers.size < offersMax) break;
      this.#offers.delete(token);
    }
    const token = randomBytes(12).toString("base64url");
    this.#offers.set(token, { owner, kind, request, untilMillis: now + offerMillis });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${kind}/${token}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#pace(socket);
    socket.on("error", () => socket.destroy());
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    const [, kind, token = ""] = /^\/([a-z]+)\/([\w-]+)$/.exec((request.url ?? "").split("?", 1)[0] as string) ?? [];
    const offer = this.#offers.get(token);
    const owner = offer?.owner();
    this.#offers.delete(token);
    if (offer === undefined || offer.kind !== kind || offer.untilMillis < Date.now() || owner === undefined) {
      refuse(socket, "404 Not Found", "no such stream, or it was used before");
      return;
    }
    const protocol = (request.headers.upgrade ?? "").toLowerCase();
    if (protocol === "websocket") this.#webSocket(request, socket, head, offer, owner);
    else if (protocol === "spdy/3.1") this.#spdy(request, socket, head, offer, owner);
    else refuse(socket, "400 Bad Request", "unable to upgrade: only WebSocket and SPDY/3.1 are spoken here");
  }

  #webSocket(request: IncomingMessage, socket: Socket, head: Buffer, offer: Offer, { state, turn }: StreamOwner): void {
    const kind = speaks(request.url);
    const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
    if (chosenProtocol(offered, kind) === undefined && offered.some((name) => name !== "")) {
      refuse(socket, "403 Forbidden", `none of these protocols is spoken here: ${offered.join(", ")}`);
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (kind === "command") commandOverWebSocket(webSocket, opening(state, offer), turn);
      else {
        const { podSandboxId = "", port = [] } = offer.request as PortForwardRequest;
        portsOverWebSocket(webSocket, port, (number, sink) => openPort(state, podSandboxId, number, sink), turn);
      }
    });
  }

  #spdy(request: IncomingMessage, socket: Socket, head: Buffer, offer: Offer, { state, turn }: StreamOwner): void {
    const offered = (request.headers["x-stream-protocol-version"] ?? "") as string;
    const names = offered.split(",").map((name) => name.trim());
    const isPorts = offer.kind === "portforward";
    const chosen = names.find((name) => (isPorts ? /^portforward\./ : /^(v[2-5]\.)?channel\./).test(name));
    const accepted = chosen === undefined ? "" : `X-Stream-Protocol-Version: ${chosen}\r\n`;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${accepted}\r\n`);
    if (isPorts) {
      const { podSandboxId = "" } = offer.request as PortForwardRequest;
      portsOverSpdy(socket, (number, sink) => openPort(state, podSandboxId, number, sink), turn);
    } else {
      const version = Number(/^v(\d)/.exec(chosen ?? "")?.[1] ?? 1);
      commandOverSpdy(socket, wantedOf(offer.request as ExecRequest, version), version, opening(state, offer), turn);
    }
    if (head.length > 0) socket.unshift(head);
  }
}

const speaks = (url = ""): "command" | "ports" => (url.startsWith("/portforward/") ? "ports" : "command");

const opening =
  (state: RuntimeState, { kind, request }: Offer): ((sink: LiveSink) => Opened) =>
  (sink) =>
    kind === "exec" ? openExec(state, request as ExecRequest, sink) : openAttach(state, request as AttachRequest, sink);

function wantedOf({ stdin, stdout, stderr, tty }: ExecRequest, version: number): readonly ChannelName[] {
  return [
    "error",
    ...(stdin === true ? ["stdin" as const] : []),
    ...(stdout === true ? ["stdout" as const] : []),
    ...(stderr === true && tty !== true ? ["stderr" as const] : []),
    ...(tty === true && version >= 3 ? ["resize" as const] : []),
  ];
}

function refuse(socket: Socket, status: string, text: string): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${text.length + 1}\r\n\r\n${text}\n`,
  );
}

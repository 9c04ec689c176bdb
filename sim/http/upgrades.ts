/**
 * Requests that ask for another protocol. Whom the handler hands them on to is its word: until then they are requests like
 * any other, and what it answers itself goes out on the plain connection, which then ends.
 */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Payload, Responder, ResponseHeaders, TunnelTarget } from "../contract/http-message.ts";
import type { Cancel } from "../kernel/types.ts";
import type { AgentCredentials } from "./agent-credentials.ts";
import type { OnConnection } from "./client-certificate.ts";
import { type ExchangeContext, toApiRequest } from "./exchange.ts";
import { openTunnel } from "./tunnel.ts";

/** Paths below which a change of protocol means something: elsewhere the wish is passed over, as the real server does. */
export interface Upgrades {
  readonly path: RegExp;
  /** For those it is handed on to. */
  readonly credentials: AgentCredentials;
}

type HttpServer = Pick<Server, "on"> & { shouldUpgradeCallback?: (request: IncomingMessage) => boolean };

export function serveUpgrades(server: object, context: ExchangeContext, { path, credentials }: Upgrades): void {
  const listener = server as HttpServer;
  listener.shouldUpgradeCallback = ({ url = "", headers }) =>
    !/^h2c$/i.test(headers.upgrade ?? "") && path.test(url.split("?", 1)[0] as string);
  const open = new Set<Duplex>();
  listener.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    new UpgradeExchange(context, request, socket, head, credentials).begin();
  });
  listener.on("close", () => {
    for (const socket of open) socket.destroy();
  });
}

class UpgradeExchange implements Responder {
  readonly #context: ExchangeContext;
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #head: Buffer;
  readonly #credentials: AgentCredentials;
  #cancel: Cancel | undefined;
  #isOver = false;

  constructor(
    context: ExchangeContext,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    credentials: AgentCredentials,
  ) {
    this.#context = context;
    this.#request = request;
    this.#socket = socket;
    this.#head = head;
    this.#credentials = credentials;
  }

  begin(): void {
    const { handler, turn, clientCertificate } = this.#context;
    const certificate = clientCertificate?.(this.#request as unknown as OnConnection);
    const plain = toApiRequest(this.#request, undefined);
    const request = certificate === undefined ? plain : { ...plain, clientCertificate: certificate };
    turn(() => {
      const cancel = handler.start(request, this);
      if (!this.#isOver) this.#cancel = cancel;
    });
    this.#socket.once("close", () => {
      const cancel = this.#cancel;
      this.#cancel = undefined;
      if (!this.#isOver && cancel !== undefined) turn(cancel);
      this.#isOver = true;
    });
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    if (this.#isOver) return;
    const bytes = payload.bytes();
    this.#writeHead(status, {
      "content-type": payload.contentType,
      ...headers,
      "content-length": String(bytes.length),
    });
    this.#socket.end(bytes);
    this.#isOver = true;
  }

  open(status: number, headers: ResponseHeaders): void {
    if (!this.#isOver) this.#writeHead(status, headers);
  }

  frame(payload: Payload): number {
    if (!this.#isOver) this.#socket.write(payload.bytes());
    return this.#socket.writableLength;
  }

  whenTaken(resume: () => void): void {
    this.#socket.once("drain", () => this.#context.turn(resume));
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.end();
  }

  tunnel(to: TunnelTarget, done: (outcome: { readonly status: number } | { readonly error: string }) => void): Cancel {
    return openTunnel(this.#socket, this.#head, to, this.#credentials, (outcome) => {
      if ("status" in outcome) this.#isOver = true;
      this.#context.turn(() => done(outcome));
    });
  }

  #writeHead(status: number, headers: ResponseHeaders): void {
    const lines = Object.entries({ ...headers, connection: "close" }).flatMap(([name, value]) =>
      [value].flat().map((each) => `${name}: ${each}`),
    );
    this.#socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("\r\n")}\r\n\r\n`);
  }
}

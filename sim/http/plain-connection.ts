/**
 * An HTTP/1.1 connection whose requests come as nearly every client of an API sends them: a plain head and the
 * whole body in one piece. They are read and answered on the socket itself, at a fraction of what node's HTTP
 * classes cost. This reader never decides what is wrong: at the first request that is in any way unusual
 * (cut in two, chunked, an upgrade, a header twice, an odd byte) the connection goes to node's own parser, which
 * reads that request from its first byte, and everything after it.
 */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Exchange, type ExchangeContext, type Outgoing } from "./exchange.ts";
import { Sending } from "./sending.ts";
import { httpDate } from "./wall.ts";

/** What a plain request's head looks like, from its first byte to the empty line. */
const plainHead =
  /^(?:GET|POST|PUT|PATCH|DELETE) \/[!"$-~]* HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~]*\r\n)+\r\n$/;

/** Longer heads are node's to judge. */
const headBytesMax = 16 * 1024;

/** Read ahead behind a request that is still being answered; then the socket is left alone. */
const aheadBytesMax = 64 * 1024;

/** Names that change how a message is read, or what becomes of the connection. */
const unusualNames = new Set(["transfer-encoding", "expect", "upgrade", "trailer", "te", "set-cookie", "keep-alive"]);

type Headers = Readonly<Record<string, string>>;

interface Head {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly bodyBytes: number;
}

export class PlainConnection {
  readonly #context: ExchangeContext;
  readonly #socket: Socket;
  readonly #sending: Sending;
  readonly #handOver: (unread: Buffer) => void;
  #unread: Buffer = Buffer.alloc(0);
  #answer: PlainAnswer | undefined;
  #ending = false;
  /** The lines after the last request's first, and what they said: clients repeat themselves. */
  #lines = "";
  #headers: Headers = {};
  #bodyBytes = 0;

  /** `handOver` gets the bytes that were not read; this connection has let go of the socket by then. */
  constructor(context: ExchangeContext, socket: Socket, handOver: (unread: Buffer) => void) {
    this.#context = context;
    this.#socket = socket;
    this.#sending = new Sending(socket, context.answers);
    this.#handOver = handOver;
    socket.setTimeout(context.patience.idleMillisMax);
    socket.on("data", this.#take).on("drain", this.#goOn).on("end", this.#peerEnds);
    socket.on("timeout", this.#idle).on("close", this.#gone).on("error", this.#broken);
  }

  /** Bytes that the socket has brought. */
  take(chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    this.#read();
    if (this.#unread.length > aheadBytesMax) this.#socket.pause();
  }

  /** After the answer that is under way, if there is one, the connection ends. */
  endWhenIdle(): void {
    this.#ending = true;
    if (this.#answer === undefined) this.#sending.end();
  }

  readonly #take = (chunk: Buffer): void => this.take(chunk);
  readonly #peerEnds = (): void => this.#sending.end();
  readonly #broken = (): void => void this.#socket.destroy();
  readonly #gone = (): void => this.#answer?.connectionClosed();
  readonly #idle = (): void => {
    if (this.#answer === undefined || this.#answer.isSending) this.#socket.destroy();
  };
  readonly #goOn = (): void => {
    this.#socket.resume();
    this.#read();
  };

  /** One request after another, for as long as they are whole, each is answered at once, and the client reads. */
  #read(): void {
    while (this.#answer === undefined && this.#unread.length > 0 && !this.#ending) {
      if (this.#sending.needsDrain()) {
        this.#socket.pause();
        return;
      }
      const bytes = this.#unread;
      const end = bytes.indexOf("\r\n\r\n") + 4;
      const head = end < 4 || end > headBytesMax ? undefined : this.#parse(bytes.toString("latin1", 0, end));
      if (head === undefined || end + head.bodyBytes > bytes.length) {
        this.#letGo();
        return;
      }
      const body = head.bodyBytes === 0 ? undefined : bytes.subarray(end, end + head.bodyBytes);
      this.#unread = bytes.subarray(end + head.bodyBytes);
      this.#begin(head, body);
    }
  }

  #begin({ method, url, headers }: Head, body: Uint8Array | undefined): void {
    const answer = new PlainAnswer(this.#sending, this.#answered);
    this.#answer = answer;
    new Exchange(this.#context, { method, url, headers, httpVersionMajor: 1 }, answer).beginWith(body);
  }

  readonly #answered = (last: boolean): void => {
    this.#answer = undefined;
    if (last || this.#ending) {
      this.#ending = true;
      this.#sending.end();
    } else if (this.#unread.length > 0) {
      // Not from within the answer: a long line of requests would grow the stack.
      setImmediate(this.#goOn);
    }
  };

  #letGo(): void {
    const socket = this.#socket;
    const unread = this.#unread;
    this.#sending.flush();
    this.#unread = Buffer.alloc(0);
    socket.setTimeout(0);
    socket.off("data", this.#take).off("drain", this.#goOn).off("end", this.#peerEnds);
    socket.off("timeout", this.#idle).off("close", this.#gone).off("error", this.#broken);
    this.#handOver(unread);
  }

  /** Undefined for a head that is not plain. */
  #parse(text: string): Head | undefined {
    if (!plainHead.test(text)) return undefined;
    const lineEnd = text.indexOf("\r\n");
    const lines = text.slice(lineEnd);
    if (lines !== this.#lines && !this.#parseLines(lines)) return undefined;
    const methodEnd = text.indexOf(" ");
    const url = text.slice(methodEnd + 1, lineEnd - " HTTP/1.1".length);
    return { method: text.slice(0, methodEnd), url, headers: this.#headers, bodyBytes: this.#bodyBytes };
  }

  /** Header lines, each after a line break. False when one of them is unusual. */
  #parseLines(lines: string): boolean {
    const headers: Record<string, string> = {};
    for (let at = 2, next: number; (next = lines.indexOf("\r\n", at)) > at; at = next + 2) {
      const colon = lines.indexOf(":", at);
      const name = lines.slice(at, colon).toLowerCase();
      if (unusualNames.has(name) || Object.hasOwn(headers, name) || name === "__proto__") return false;
      headers[name] = lines.slice(colon + 1, next).trim();
    }
    const { host, connection = "keep-alive", "content-length": length = "0" } = headers;
    if (host === undefined || connection.toLowerCase() !== "keep-alive" || !/^\d{1,9}$/.test(length)) return false;
    const bodyBytes = Number(length);
    if (bodyBytes > this.#context.bodyBytesMax) return false;
    this.#lines = lines;
    this.#headers = headers;
    this.#bodyBytes = bodyBytes;
    return true;
  }
}

/** The answer to one request: what `Exchange` needs of node's response, on the bare socket. */
class PlainAnswer implements Outgoing {
  readonly #sending: Sending;
  readonly #done: (last: boolean) => void;
  #head = "";
  #chunked = false;
  #last = false;
  /** A part of the body is on its way, and more is made when it has left. */
  isSending = false;
  #closed: (() => void) | undefined;
  /** How many bytes the connection will have sent with the last of this answer. */
  #sentWith = 0;

  /** `done`: the answer is written; `last` when nothing may follow it. */
  constructor(sending: Sending, done: (last: boolean) => void) {
    this.#sending = sending;
    this.#done = done;
  }

  get writableLength(): number {
    return this.#sending.length;
  }

  isUnread(): boolean {
    const { bytesWritten, writableLength } = this.#sending.socket;
    return bytesWritten - writableLength < this.#sentWith;
  }

  destroy(): void {
    this.#sending.socket.destroy();
  }

  on(event: "close" | "error" | "finish", listener: () => void): void {
    if (event === "close") this.#closed = listener; // a broken socket closes, too
  }

  connectionClosed(): void {
    this.#closed?.();
  }

  writeHead(status: number, headers: Record<string, string | string[] | number>): void {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
    for (const name in headers) {
      const value = headers[name] as string | string[] | number;
      if (Array.isArray(value)) for (const each of value) head += `${name}: ${each}\r\n`;
      else head += `${name}: ${value}\r\n`;
    }
    this.#last = headers["connection"] === "close";
    this.#chunked = headers["content-length"] === undefined;
    if (this.#chunked) head += "Transfer-Encoding: chunked\r\n";
    if (headers["date"] === undefined) head += `Date: ${httpDate()}\r\n`; // one that was handed on has its own
    this.#head = `${head}\r\n`;
  }

  flushHeaders(): void {
    this.#sending.write(this.#head);
    this.#head = "";
  }

  /** Only for an answer without a length. `framed` is a chunk with its size and its end. */
  writeChunk(framed: Uint8Array, taken?: () => void): void {
    this.#sending.writeBytes(framed, taken);
  }

  writePieces(pieces: readonly Uint8Array[], size: number, taken: () => void): void {
    this.isSending = true;
    this.#sending.writeChunk(pieces, size, taken);
  }

  end(body?: Uint8Array | string): void {
    if (this.#chunked) {
      this.#sending.write(`${this.#head}0\r\n\r\n`);
      this.#sentWith = this.#sending.socket.bytesWritten;
    } else if (typeof body === "string") this.#sending.hold(this.#head + body);
    else {
      this.endGathered(body === undefined ? [] : [body]);
      return;
    }
    this.#finish();
  }

  endGathered(pieces: readonly Uint8Array[], left?: () => void): void {
    this.#sending.writeGathered(this.#head, pieces, left);
    this.#sentWith = this.#sending.socket.bytesWritten;
    this.#finish();
  }

  #finish(): void {
    this.#closed = undefined;
    this.#done(this.#last);
  }
}

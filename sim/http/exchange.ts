/**
 * One request and its answer on a socket, HTTP/1.1 or HTTP/2 (through node's compatibility layer): the body is
 * read under a limit, the handler is started inside a turn of its clock, and the answer is written out.
 * Watch events that come together leave in one write.
 */
import type { AnswerFlush } from "./answer-flush.ts";
import type { ClientCertificate, OnConnection } from "./client-certificate.ts";
import { constants } from "node:http2";
import { clearTimeout, setTimeout } from "node:timers";
import { gzip, gzipSync } from "node:zlib";
import type { Packing } from "../contract/compression.ts";
import type { ApiHandler, ApiRequest, Payload, Responder, ResponseHeaders } from "../contract/http-message.ts";
import type { Cancel } from "../kernel/types.ts";
import { deletesFew } from "./few-deletions.ts";
import { Gathered } from "../../wire/gathered.ts";
import type { MemoryLimit } from "./memory-limit.ts";
import type { Holder, Room } from "../kernel/room.ts";
import { sendSlices, type SlicedSink } from "./sliced-body.ts";
import { packedOnce } from "./packed-once.ts";
import { RequestCosts } from "./request-costs.ts";
import { loopShare, wallPorts, pacedSessions } from "./wall.ts";
import type { WatchFlush } from "./watch-flush.ts";

/** How long a client may take, in milliseconds > 0, before its connection is ended: nobody can hold one for nothing. */
export interface Patience {
  /** Until the head of a request is complete, from the connection on or from its first byte. */
  readonly headMillisMax: number;
  /** Until a body is complete, from the end of its head on; then 408. */
  readonly bodyMillisMax: number;
  /** Until a large answer is read, from its first byte on, or a watch from its end on. */
  readonly answerMillisMax: number;
  /** With nothing asked and nothing read. */
  readonly idleMillisMax: number;
}

/** What is known of a request when it has ended. */
export interface AccessEntry {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  /** 0 when the client went away before there was an answer. */
  readonly status: number;
  /** Body bytes handed to the socket, before compression. */
  readonly bodyBytes: number;
  readonly durationMicros: number;
  readonly outcome: "answered" | "client-gone" | "drained" | "cut";
  readonly userAgent: string | undefined;
}

/** Shared by the exchanges of one server. */
export interface ExchangeContext {
  readonly handler: ApiHandler;
  readonly turn: (work: () => void) => void;
  readonly bodyBytesMax: number;
  readonly patience: Patience;
  /** Who the connection's certificate says that the client is. Undefined: nobody was asked for one. */
  readonly clientCertificate?: ((request: OnConnection) => ClientCertificate) | undefined;
  readonly compress: (request: ApiRequest, status: number, headers: ResponseHeaders, bodyBytes: number) => Packing;
  readonly accessLog: ((entry: AccessEntry) => void) | undefined;
  /** Exchanges that the handler has not finished. */
  readonly live: Set<Exchange>;
  readonly watches: WatchFlush<Batch>;
  readonly answers: AnswerFlush;
  /** For bodies that are not complete yet. */
  readonly bodies: Room;
  /** For large answers that nobody has read yet. */
  readonly unread: Room;
  readonly memory: MemoryLimit;
  /** Deletions that are under way though there is no memory left. */
  readonly lastDeletions: Set<Exchange>;
  draining: boolean;
}

/** A request's head. Both of node's request classes are one. */
interface IncomingHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly httpVersionMajor: number;
  /** Of HTTP/2 alone. */
  readonly stream?: { readonly session?: object | undefined };
  /** The connection; of HTTP/2 a stand-in that cannot be ended. */
  readonly socket?: object;
}

/** A request whose body is still to come. */
interface Incoming extends IncomingHead {
  /** Of HTTP/2 alone. */
  readonly stream?: { readonly session?: { readonly socket: object } | undefined; close(): void };
  /** The connection; of HTTP/2 a stand-in that cannot be ended. */
  readonly socket?: { destroy(): void };
  on(event: string, listener: (...values: never[]) => void): unknown;
}

/** What an answer is written to. Both of node's response classes are one. */
export interface Outgoing {
  writeHead(status: number, headers: Record<string, string | string[] | number>): unknown;
  flushHeaders(): void;
  /** `taken` is called once the bytes have left for the peer. */
  write?(bytes: Uint8Array, taken?: () => void): boolean;
  /** Instead of `write`: takes a chunk of HTTP/1.1's coding as it stands on the wire. */
  writeChunk?(framed: Uint8Array, taken?: () => void): void;
  /** Instead of `write`: pieces, which have `size` bytes, in one chunk of HTTP/1.1's coding, without a copy. */
  writePieces?(pieces: readonly Uint8Array[], size: number, taken: () => void): void;
  /** Instead of `end`: the whole body in pieces, without a copy. */
  endGathered?(pieces: readonly Uint8Array[], left?: () => void): void;
  end(bytes?: Uint8Array): unknown;
  end(text: string, encoding: "latin1"): unknown;
  readonly writableLength?: number;
  /** Whether a part of the answer still waits for the client to read. Instead of `writableLength`, where other answers wait as well. */
  isUnread?(): boolean;
  /** Ends the connection, whatever waits. */
  destroy(): unknown;
  /** Of HTTP/2 alone. */
  readonly stream?: { close(code: number): void };
  on(event: "close" | "error" | "finish", listener: () => void): unknown;
}

const nothing = new Uint8Array(0);
/** Of all servers of this process, as the loop is. */
const requestCosts = new RequestCosts();
const alwaysAnswered = /^\/(?:livez|readyz|healthz|metrics)(?:[/?]|$)/;

/** Who goes on sending what was given up may hear that it was refused, and then its connection ends. */
const forgottenBytesMax = 256 * 1024;

/** What a request takes that waits for its body, beside its head and what has come. */
const unfinishedBytes = 4 * 1024;

/** From here on a request's first step takes so long that small requests come before it. */
const largeRequestBytesMin = 16 * 1024;

/** When there is no memory left, so many deletions of little may be under way at a time. */
const lastDeletionsMax = 16;

/** From here on copying a body costs more than a second buffer in the write. */
const gatheredBytesMin = 8192;

export class Exchange implements Responder {
  readonly #context: ExchangeContext;
  readonly #incoming: IncomingHead;
  readonly #outgoing: Outgoing;
  readonly #startedMicros: number;
  #request: ApiRequest | undefined;
  #cancel: Cancel | undefined;
  #state: "reading" | "started" | "streaming" | "sending" | "done" = "reading";
  #status = 0;
  #bodyBytes = 0;
  #frames: Uint8Array[] = [];
  #frameBytes = 0;
  /** Written and not yet taken by the socket, when the first of the frames came. */
  #backlogBytes = 0;
  /** A body over HTTP/1.1 was refused before it was complete. */
  #isGivenUp = false;
  /** Of what is sent in parts. */
  #holder: Holder | undefined;
  /** Told when the frames that wait have left. */
  #resume: (() => void) | undefined;

  constructor(context: ExchangeContext, incoming: IncomingHead, outgoing: Outgoing) {
    this.#context = context;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#startedMicros = context.accessLog === undefined ? 0 : wallPorts.nowMicros();
  }

  /** Reads the body, where there is one, and starts. `incoming` is what this exchange was made with. */
  begin(incoming: Incoming): void {
    this.#context.live.add(this);
    if (hasBody(incoming)) this.#readBody(incoming);
    else this.#start(undefined);
    this.#listen();
  }

  /** Starts with a body that has come whole, and is within the limit. */
  beginWith(body: Uint8Array | undefined): void {
    this.#context.live.add(this);
    this.#start(body);
    this.#listen();
  }

  #listen(): void {
    // Registered late on purpose: most requests are finished by now and need no listener.
    if ((this.#state as string) !== "done") {
      this.#outgoing.on("close", () => this.#clientGone());
      this.#outgoing.on("error", () => this.#clientGone());
    }
  }

  #readBody(incoming: Incoming): void {
    const body = new Gathered();
    const { bodyBytesMax: max, bodies, patience } = this.#context;
    const timer = setTimeout(() => this.#endSlowBody(incoming), patience.bodyMillisMax);
    timer.unref(); // it outlives a client that goes away, and then does nothing
    const holder = {
      evicted: () => {
        body.clear();
        this.#endBody(incoming, 429, "Too many requests, please try again later.");
      },
    };
    bodies.hold(holder, unfinishedBytes + headLength(incoming));
    let isTooLong = false;
    let forgotten = 0;
    const session = incoming.stream?.session;
    const came = session === undefined ? undefined : pacedSessions.begin(session, session.socket);
    incoming.on("data", (chunk: Uint8Array) => {
      came?.();
      // Already refused or about to be; the rest is read and forgotten, of a body that was given up a little of it.
      if (isTooLong || this.#state !== "reading") {
        forgotten += chunk.length;
        if (forgotten > forgottenBytesMax && this.#isGivenUp) incoming.socket?.destroy();
        return;
      }
      const held = body.add(chunk);
      if (body.bytes <= max) {
        if (held > 0) bodies.hold(holder, held);
        return;
      }
      isTooLong = true;
      bodies.release(holder);
      this.#start(body);
    });
    incoming.on("end", () => {
      clearTimeout(timer);
      bodies.release(holder);
      if (!isTooLong) this.#start(body);
    });
    incoming.on("close", () => {
      bodies.release(holder);
      if (session !== undefined) pacedSessions.end(session);
    });
    incoming.on("error", () => this.#clientGone());
  }

  #endSlowBody(incoming: Incoming): void {
    if (this.#state !== "reading") {
      // Refused, and it goes on.
      if (incoming.stream === undefined) incoming.socket?.destroy();
      else incoming.stream.close();
      return;
    }
    this.#endBody(incoming, 408, "408 Request Timeout");
  }

  /** The body is not complete, and will not be waited for. */
  #endBody(incoming: Incoming, status: number, text: string): void {
    this.#isGivenUp = incoming.stream === undefined;
    this.#status = status;
    this.#finish("answered");
    const headers = {
      "content-type": "text/plain; charset=utf-8",
      "content-length": text.length,
      ...(status === 429 ? { "retry-after": "1" } : {}),
    };
    const isHttp1 = this.#incoming.httpVersionMajor === 1;
    this.#outgoing.writeHead(status, isHttp1 ? { ...headers, connection: "close" } : headers);
    this.#outgoing.end(text, "latin1");
    // A stream of HTTP/2 would stay open for the rest of the body.
    incoming.stream?.close();
  }

  #start(body: Uint8Array | Gathered | undefined): void {
    if (this.#state !== "reading") return;
    const size = body === undefined ? 0 : body instanceof Gathered ? body.bytes : body.length;
    const isLarge = (this.#incoming.url?.length ?? 0) + size >= largeRequestBytesMin;
    loopShare.begin(
      this.#connection(),
      () => this.#startNow(body instanceof Gathered ? this.#joined(body) : body),
      () => isLarge || requestCosts.isLong(this.#incoming),
    );
  }

  /** A byte more than is allowed is enough to be refused. */
  #joined(body: Gathered): Uint8Array {
    const all = body.joined().subarray(0, this.#context.bodyBytesMax + 1);
    body.clear();
    return all;
  }

  /** Whose turn it is when this begins. */
  #connection(): object {
    const { stream, socket } = this.#incoming;
    return stream?.session ?? socket ?? this;
  }

  #startNow(body: Uint8Array | undefined): void {
    if (this.#state !== "reading") return;
    const level = this.#context.memory.level();
    if (level !== "free" && this.#isRefusedAt(level, body?.length ?? 0)) return;
    this.#state = "started";
    const { clientCertificate } = this.#context;
    const certificate = clientCertificate?.(this.#incoming as OnConnection);
    const plain = toApiRequest(this.#incoming, body);
    const request = certificate === undefined ? plain : { ...plain, clientCertificate: certificate };
    this.#request = request;
    this.#context.turn(() => {
      const began = wallPorts.nowMicros();
      const cancel = this.#context.handler.start(request, this);
      requestCosts.took(this.#incoming, wallPorts.nowMicros() - began);
      if (this.#state !== "done") this.#cancel = cancel;
    });
  }

  /** Probes and the figures are answered to the last, and what frees memory as long as that is possible. */
  #isRefusedAt(level: "scarce" | "none", bodyBytes: number): boolean {
    const { method, url = "" } = this.#incoming;
    if (alwaysAnswered.test(url)) return false;
    if (method === "DELETE" && (level === "scarce" || this.#isLastDeletion(url, bodyBytes))) return false;
    const status = level === "scarce" ? 429 : 503;
    const text =
      level === "scarce" ? "Too many requests, please try again later.\n" : "The server has no memory left.\n";
    this.#status = status;
    this.#finish("answered");
    const headers = { "content-type": "text/plain; charset=utf-8", "content-length": text.length, "retry-after": "1" };
    this.#outgoing.writeHead(status, headers);
    this.#outgoing.end(text, "latin1");
    return true;
  }

  #isLastDeletion(url: string, bodyBytes: number): boolean {
    const { lastDeletions } = this.#context;
    const isFit = lastDeletions.size < lastDeletionsMax && bodyBytes < largeRequestBytesMin && deletesFew(url);
    if (isFit) lastDeletions.add(this);
    return isFit;
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    if (this.#state === "done" || this.#state === "sending") return;
    this.#status = status;
    const isBare = payload.isVerbatim === true || this.#request?.method === "HEAD";
    if (!isBare && payload.isLasting === true && this.#respondPacked(status, headers, payload)) return;
    const slices = isBare ? undefined : payload.slices?.();
    if (slices !== undefined) {
      sendSlices(
        counted(slices, payload),
        this.#sliced(status, headers, payload),
        this.#context.patience.answerMillisMax,
      );
      if (this.#state === "started") this.#state = "sending";
      return;
    }
    const gathers = this.#outgoing.endGathered !== undefined;
    const pieces = (gathers ? payload.pieces?.() : undefined) ?? [payload.bytes()];
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#respondWhole(status, headers, payload, pieces, size);
  }

  /** With what was packed for others. False where nothing is packed. */
  #respondPacked(status: number, headers: ResponseHeaders, payload: Payload): boolean {
    const { sizeBytes = 0 } = payload;
    if (this.#context.compress(this.#request as ApiRequest, status, headers, sizeBytes) !== true) return false;
    const pieces = payload.pieces?.() ?? [payload.bytes()];
    this.#bodyBytes = sizeBytes;
    this.#finish("answered");
    packedOnce(payload, pieces, (zipped) => {
      const sent = zipped === undefined ? pieces : [zipped];
      const size = zipped?.length ?? sizeBytes;
      const wireHeaders = { ...this.#wireHeaders(headers, payload), vary: "Accept-Encoding", "content-length": size };
      const packed = zipped === undefined ? {} : { "content-encoding": "gzip" };
      this.#outgoing.writeHead(status, { ...wireHeaders, ...packed });
      this.#end(sent, size);
    });
    return true;
  }

  /** An answer that may be too long to be made and sent at once. */
  #sliced(status: number, headers: ResponseHeaders, payload: Payload): SlicedSink {
    const outgoing = this.#outgoing;
    const { unread } = this.#context;
    const giveUp = (): void => this.#endUnread();
    const holder = { evicted: giveUp };
    this.#holder = holder;
    return {
      isOver: () => this.#state === "done",
      whole: (pieces, bytes) => this.#respondWhole(status, headers, payload, pieces, bytes),
      begin: (bytes) => {
        const wireHeaders = this.#wireHeaders(headers, payload);
        const packs = this.#context.compress(this.#request as ApiRequest, status, headers, bytes) !== false;
        if (packs) Object.assign(wireHeaders, { "content-encoding": "gzip", vary: "Accept-Encoding" });
        outgoing.writeHead(status, wireHeaders);
        outgoing.flushHeaders();
        return packs;
      },
      write: (pieces, taken) => {
        const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
        this.#bodyBytes += bytes;
        unread.hold(holder, bytes);
        const done = (): void => {
          unread.release(holder);
          taken();
        };
        if (outgoing.writePieces !== undefined) outgoing.writePieces(pieces, bytes, done);
        else outgoing.write?.(pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces, bytes), done);
      },
      end: () => {
        this.#finish("answered");
        outgoing.end();
      },
      giveUp,
      broke: (error) => {
        giveUp();
        this.#context.turn(() => {
          throw error;
        });
      },
    };
  }

  /** Nobody reads the answer, or it cannot be finished: its connection ends, or over HTTP/2 its stream. */
  #endUnread(): void {
    if (this.#state !== "done") this.#finish("client-gone");
    const { stream } = this.#outgoing;
    if (stream === undefined) this.#outgoing.destroy();
    else stream.close(constants.NGHTTP2_CANCEL);
  }

  #wireHeaders(headers: ResponseHeaders, payload: Payload): Record<string, string | string[] | number> {
    const wireHeaders: Record<string, string | string[] | number> = {
      "content-type": payload.contentType,
      ...onTheWire(headers),
    };
    if (this.#context.draining && this.#incoming.httpVersionMajor === 1) wireHeaders["connection"] = "close";
    return wireHeaders;
  }

  #respondWhole(
    status: number,
    headers: ResponseHeaders,
    payload: Payload,
    pieces: readonly Uint8Array[],
    size: number,
  ): void {
    const request = this.#request as ApiRequest;
    this.#bodyBytes = size;
    this.#finish("answered");
    const wireHeaders = this.#wireHeaders(headers, payload);
    const { isVerbatim = false } = payload;
    const packing = !isVerbatim && this.#context.compress(request, status, headers, size);
    if (packing === false) {
      if (!isVerbatim || headers["content-length"] === undefined) wireHeaders["content-length"] = size;
      this.#outgoing.writeHead(status, wireHeaders);
      this.#end(pieces, size);
      return;
    }
    const bytes = Buffer.concat(pieces, size);
    // Off this thread: a list of some megabytes must not hold up every other client.
    gzip(packing === "twice" ? gzipSync(bytes) : bytes, { level: 1 }, (error, zipped) => {
      const sent = error === null ? zipped : bytes;
      if (error === null) wireHeaders["content-encoding"] = "gzip";
      wireHeaders["vary"] = "Accept-Encoding";
      wireHeaders["content-length"] = sent.length;
      this.#outgoing.writeHead(status, wireHeaders);
      this.#outgoing.end(sent);
      this.#limitReading();
    });
  }

  /** As Latin-1 text a short body leaves in one write with the headers; as bytes it would take a gathered write. */
  #end(pieces: readonly Uint8Array[], size: number): void {
    const outgoing = this.#outgoing;
    const isShort = size <= gatheredBytesMin && this.#incoming.httpVersionMajor === 1;
    if (isShort && pieces.length <= 1) {
      const bytes = pieces[0] ?? nothing;
      outgoing.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"), "latin1");
      return;
    }
    const { unread } = this.#context;
    const holder = { evicted: () => this.#endUnread() };
    const left = (): void => unread.release(holder);
    if (size > gatheredBytesMin) unread.hold(holder, size);
    if (outgoing.endGathered !== undefined) outgoing.endGathered(pieces, left);
    else {
      outgoing.on("finish", left);
      outgoing.on("close", left);
      outgoing.end(pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces, size));
    }
    if (size > gatheredBytesMin) this.#limitReading();
  }

  /**
   * A large answer, or what an ended watch has left, that is not read in time ends its connection: nobody may hold its
   * bytes by reading now and then.
   */
  #limitReading(): void {
    const outgoing = this.#outgoing;
    const isUnread = (): boolean => outgoing.isUnread?.() ?? (outgoing.writableLength ?? 0) > 0;
    if (!isUnread()) return;
    const end = (): void => {
      if (isUnread()) this.#endUnread();
    };
    setTimeout(end, this.#context.patience.answerMillisMax).unref();
  }

  open(status: number, headers: ResponseHeaders): void {
    if (this.#state !== "started") return;
    this.#state = "streaming";
    this.#status = status;
    this.#outgoing.writeHead(status, onTheWire(headers));
    // Node flushes a bare head as UTF-8, which would encode a warning twice; with bytes behind it, it does not.
    if (headers["warning"] !== undefined && this.#outgoing.write !== undefined) this.#outgoing.write(nothing);
    else this.#outgoing.flushHeaders();
    if (this.#context.draining) queueMicrotask(() => this.drain());
  }

  frame(payload: Payload): number {
    if (this.#state !== "streaming") return 0;
    const bytes = payload.bytes();
    if (this.#frames.length === 0) {
      this.#context.watches.add(this);
      this.#backlogBytes = this.#outgoing.writableLength ?? 0; // nothing of this leaves before the flush
    }
    this.#frames.push(bytes);
    this.#frameBytes += bytes.length;
    this.#bodyBytes += bytes.length;
    return this.#frameBytes + this.#backlogBytes;
  }

  whenTaken(resume: () => void): void {
    this.#resume = resume;
  }

  close(): void {
    if (this.#state !== "streaming") return;
    this.flush();
    this.#finish("answered");
    this.#outgoing.end();
    this.#limitReading();
  }

  /** Chaos breaks the connection: what was sent may arrive, and nothing else does. */
  failed(): void {
    if (this.#state === "done") return;
    this.flush();
    this.#finish("cut");
    const { stream } = this.#outgoing;
    if (stream === undefined) this.#outgoing.destroy();
    else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** Writes what waits. `last` is what another exchange has just written: who has the same to say shares its bytes. */
  flush(last?: Batch): Batch | undefined {
    if (this.#frames.length === 0 || this.#state !== "streaming") return last;
    const batch = last?.isOf(this.#frames) === true ? last : new Batch(this.#frames, this.#frameBytes);
    this.#frames = [];
    this.#frameBytes = 0;
    const taken = this.#resume === undefined ? undefined : this.#whenLeft(this.#resume);
    this.#resume = undefined;
    if (this.#outgoing.writeChunk === undefined) this.#outgoing.write?.(batch.bytes, taken);
    else this.#outgoing.writeChunk(batch.framed, taken);
    return batch;
  }

  #whenLeft(resume: () => void): () => void {
    return () => {
      if (this.#state === "streaming") this.#context.turn(resume);
    };
  }

  /** The server is going: a watch ends after what it has waiting; anything else may finish. */
  drain(): void {
    if (this.#state !== "streaming") return;
    this.flush();
    const cancel = this.#cancel;
    this.#finish("drained");
    this.#outgoing.end();
    if (cancel !== undefined) this.#context.turn(cancel);
  }

  #clientGone(): void {
    if (this.#state === "done") return;
    const cancel = this.#cancel;
    this.#frames = [];
    this.#finish("client-gone");
    if (cancel !== undefined) this.#context.turn(cancel);
  }

  #finish(outcome: AccessEntry["outcome"]): void {
    this.#state = "done";
    if (this.#holder !== undefined) this.#context.unread.release(this.#holder);
    this.#holder = undefined;
    this.#cancel = undefined;
    const { accessLog, lastDeletions, live } = this.#context;
    live.delete(this);
    if (lastDeletions.size > 0) lastDeletions.delete(this);
    if (accessLog === undefined) return;
    accessLog({
      method: this.#incoming.method ?? "",
      url: this.#incoming.url ?? "",
      status: this.#status,
      bodyBytes: this.#bodyBytes,
      durationMicros: wallPorts.nowMicros() - this.#startedMicros,
      outcome,
      userAgent: this.#incoming.headers["user-agent"] as string | undefined,
    });
  }
}

/** Tells the payload how many bytes its slices had. */
function counted(slices: Iterator<Uint8Array>, payload: Payload): Iterator<Uint8Array> {
  let bytes = 0;
  return {
    next() {
      const next = slices.next();
      if (next.done === true) payload.sized?.(bytes);
      else bytes += next.value.length;
      return next;
    },
  };
}

/** Watch events that leave together. */
class Batch {
  readonly #frames: readonly Uint8Array[];
  /** As a chunk on the wire: its size in hexadecimal, the events, a line break. */
  readonly framed: Uint8Array;
  /** The events alone. */
  readonly bytes: Uint8Array;

  constructor(frames: readonly Uint8Array[], size: number) {
    const head = `${size.toString(16)}\r\n`;
    const framed = Buffer.allocUnsafe(head.length + size + 2);
    let at = framed.write(head, "latin1");
    for (const frame of frames) {
      framed.set(frame, at);
      at += frame.length;
    }
    framed.write("\r\n", at, "latin1");
    this.#frames = frames;
    this.framed = framed;
    this.bytes = framed.subarray(head.length, at);
  }

  /** Whether these are the very same events: watchers of one collection share their encodings. */
  isOf(frames: readonly Uint8Array[]): boolean {
    return frames.length === this.#frames.length && frames.every((frame, at) => frame === this.#frames[at]);
  }
}

function hasBody({ headers }: Incoming): boolean {
  const length = headers["content-length"];
  if (length !== undefined) return length !== "0";
  // HTTP/2 may send a body without saying so; only methods that never carry one are spared the wait.
  return (
    headers["transfer-encoding"] !== undefined || (headers[":method"] !== undefined && headers[":method"] !== "GET")
  );
}

export function toApiRequest(incoming: IncomingHead, body: Uint8Array | undefined): ApiRequest {
  const url = originForm(incoming.url ?? "/");
  const mark = url.indexOf("?");
  const { headers } = incoming as { headers: Record<string, string> };
  // The one header that node hands over as an array; no client of an API sends it.
  if (headers["set-cookie"] !== undefined) delete headers["set-cookie"];
  return {
    method: incoming.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    headers,
    body,
  };
}

/** A proxy's absolute form names scheme and authority too; the handler sees the path alone. */
function originForm(url: string): string {
  if (url.charCodeAt(0) === 47) return url;
  const path = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*(.*)$/.exec(url)?.[1];
  if (path === undefined) return url;
  return path.startsWith("/") ? path : `/${path}`;
}

/** About how many characters its line and headers have. */
function headLength({ url = "", headers }: IncomingHead): number {
  let length = url.length;
  for (const name in headers) length += name.length + (headers[name]?.length ?? 0);
  return length;
}

/** Node writes one byte a character, and only a warning has others: it becomes the bytes of its UTF-8. */
function onTheWire(headers: ResponseHeaders): ResponseHeaders {
  const { warning } = headers;
  if (warning === undefined) return headers;
  const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");
  return { ...headers, warning: Array.isArray(warning) ? warning.map(bytes) : bytes(warning) };
}

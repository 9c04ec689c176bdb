/**
 * The server's side of SPDY/3.1, as far as commands and ports are streamed by it: streams that the client opens, data in both
 * directions, pings. Windows are not counted: the published clients and servers of this use do not either, and the
 * connection's own flow is what holds a sender back.
 * Source: the SPDY protocol, draft 3.1, framing; the published stream library.
 */
import { constants, createInflate } from "node:zlib";
import { spdyDictionary } from "./spdy-dictionary.ts";

/** What carries the bytes: a socket, or messages of a WebSocket. */
export interface Carrier {
  /** False: no more until it says that it was emptied. */
  write(bytes: Uint8Array): boolean;
  end(): void;
}

export interface SpdyStream {
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  onData: (bytes: Uint8Array) => void;
  /** The client sends no more on it, or has given it up. */
  onEnd: () => void;
  write(bytes: Uint8Array): void;
  end(): void;
  reset(): void;
}

const types = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7, headers: 8 } as const;
const flagFin = 1;
const cancelled = 5;

const frameBytesMax = 1 << 20;
const headerBytesMax = 64 * 1024;
const streamsMax = 1000;

export class SpdyConnection {
  readonly #carrier: Carrier;
  readonly #opened: (stream: SpdyStream) => void;
  readonly #streams = new Map<number, Stream>();
  readonly #inflate = createInflate({ dictionary: spdyDictionary });
  #unread: Buffer = Buffer.alloc(0);
  /** Header blocks are unpacked in their order; what came behind one waits. */
  #isUnpacking = false;
  #inflated: Buffer[] = [];
  #inflatedBytes = 0;
  #hasReplied = false;
  #isOver = false;

  /** `opened` is called for each stream of the client, which is accepted. */
  constructor(carrier: Carrier, opened: (stream: SpdyStream) => void) {
    this.#carrier = carrier;
    this.#opened = opened;
    this.#inflate.on("data", (chunk: Buffer) => {
      this.#inflatedBytes += chunk.length;
      if (this.#inflatedBytes > headerBytesMax) this.close();
      else this.#inflated.push(chunk);
    });
    this.#inflate.on("error", () => this.close());
  }

  receive(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    this.#read();
  }

  /** Ends every stream, and the connection. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#inflate.close();
    for (const stream of this.#streams.values()) stream.over();
    this.#streams.clear();
    this.#carrier.end();
  }

  #read(): void {
    let at = 0;
    while (!this.#isUnpacking && !this.#isOver && this.#unread.length - at >= 8) {
      const length = this.#unread.readUIntBE(at + 5, 3);
      if (length > frameBytesMax) {
        this.close();
        return;
      }
      if (this.#unread.length - at < 8 + length) break;
      const head = this.#unread.readUInt32BE(at);
      const flags = this.#unread[at + 4] as number;
      const body = this.#unread.subarray(at + 8, at + 8 + length);
      at += 8 + length;
      if (head < 0x80000000) this.#data(head, flags, body);
      else this.#control(head & 0xffff, flags, body);
    }
    this.#unread = this.#unread.subarray(at);
  }

  #data(id: number, flags: number, bytes: Buffer): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (bytes.length > 0) stream.onData(bytes);
    if ((flags & flagFin) !== 0) stream.over();
  }

  #control(type: number, flags: number, body: Buffer): void {
    if (type === types.synStream && body.length >= 10) {
      const id = body.readUInt32BE(0) & 0x7fffffff;
      this.#unpack(body.subarray(10), (headers) => this.#begin(id, flags, headers));
    } else if (type === types.headers && body.length >= 4) this.#unpack(body.subarray(4), () => {});
    else if (type === types.rstStream && body.length >= 8) {
      const id = body.readUInt32BE(0) & 0x7fffffff;
      this.#streams.get(id)?.over();
      this.#streams.delete(id);
    } else if (type === types.ping && body.length >= 4 && (body.readUInt32BE(0) & 1) === 1)
      this.#send(types.ping, 0, body);
    else if (type === types.goAway && this.#streams.size === 0) this.close();
  }

  #begin(id: number, flags: number, headers: ReadonlyMap<string, string>): void {
    if (this.#streams.has(id) || this.#streams.size >= streamsMax) {
      this.close();
      return;
    }
    const stream = new Stream(headers, {
      data: (bytes, isLast) => this.#sendData(id, bytes, isLast),
      reset: () => {
        const body = Buffer.alloc(8);
        body.writeUInt32BE(id);
        body.writeUInt32BE(cancelled, 4);
        this.#send(types.rstStream, 0, body);
      },
      gone: () => this.#streams.delete(id),
    });
    this.#streams.set(id, stream);
    const reply = Buffer.alloc(4);
    reply.writeUInt32BE(id);
    this.#send(types.synReply, 0, Buffer.concat([reply, this.#noHeaders()]));
    this.#opened(stream);
    if ((flags & flagFin) !== 0) stream.over();
  }

  /**
   * An empty list of headers, stored rather than compressed, which every reader of the format takes; then an empty block,
   * at which readers hand on what they have.
   */
  #noHeaders(): Buffer {
    const block = Buffer.from([0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    const isFirst = !this.#hasReplied;
    this.#hasReplied = true;
    return isFirst ? Buffer.concat([Buffer.from([0x78, 0x01]), block]) : block;
  }

  #unpack(block: Buffer, done: (headers: ReadonlyMap<string, string>) => void): void {
    this.#isUnpacking = true;
    this.#inflate.write(block);
    // What was unpacked is handed over in events of its own, which come first.
    const unpacked = (): void => {
      if (this.#isOver) return;
      const headers = readHeaders(Buffer.concat(this.#inflated));
      this.#inflated = [];
      this.#inflatedBytes = 0;
      this.#isUnpacking = false;
      if (headers === undefined) {
        this.close();
        return;
      }
      done(headers);
      this.#read();
    };
    this.#inflate.flush(constants.Z_SYNC_FLUSH, () => setImmediate(unpacked));
  }

  #sendData(id: number, bytes: Uint8Array, isLast: boolean): void {
    for (let at = 0; at < bytes.length || at === 0; at += frameBytesMax) {
      const part = bytes.subarray(at, at + frameBytesMax);
      const head = Buffer.alloc(8);
      head.writeUInt32BE(id);
      head.writeUIntBE(part.length, 5, 3);
      if (isLast && at + frameBytesMax >= bytes.length) head[4] = flagFin;
      this.#write(Buffer.concat([head, part]));
    }
  }

  #send(type: number, flags: number, body: Buffer): void {
    const head = Buffer.alloc(8);
    head.writeUInt16BE(0x8003);
    head.writeUInt16BE(type, 2);
    head[4] = flags;
    head.writeUIntBE(body.length, 5, 3);
    this.#write(Buffer.concat([head, body]));
  }

  #write(bytes: Buffer): void {
    if (!this.#isOver) this.#carrier.write(bytes);
  }
}

interface StreamPorts {
  data(bytes: Uint8Array, isLast: boolean): void;
  reset(): void;
  gone(): void;
}

class Stream implements SpdyStream {
  readonly headers: ReadonlyMap<string, string>;
  onData: (bytes: Uint8Array) => void = () => {};
  onEnd: () => void = () => {};
  readonly #send: StreamPorts;
  #theirsOver = false;
  #oursOver = false;

  constructor(headers: ReadonlyMap<string, string>, send: StreamPorts) {
    this.headers = headers;
    this.#send = send;
  }

  write(bytes: Uint8Array): void {
    if (!this.#oursOver && bytes.length > 0) this.#send.data(bytes, false);
  }

  end(): void {
    if (this.#oursOver) return;
    this.#oursOver = true;
    this.#send.data(new Uint8Array(0), true);
    if (this.#theirsOver) this.#send.gone();
  }

  reset(): void {
    this.#oursOver = true;
    this.#send.reset();
    this.#send.gone();
  }

  /** The client's half has ended. */
  over(): void {
    if (this.#theirsOver) return;
    this.#theirsOver = true;
    if (this.#oursOver) this.#send.gone();
    this.onEnd();
  }
}

/** Undefined: the block is not what it says it is. */
function readHeaders(block: Buffer): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  let at = 4;
  if (block.length < 4) return undefined;
  const text = (): string | undefined => {
    if (block.length < at + 4) return undefined;
    const length = block.readUInt32BE(at);
    at += 4 + length;
    return at > block.length ? undefined : block.toString("latin1", at - length, at);
  };
  for (let left = block.readUInt32BE(0); left > 0; left--) {
    const [name, value] = [text(), text()];
    if (name === undefined || value === undefined) return undefined;
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

/**
 * A closed-loop HTTP/1.1 load generator on raw sockets: every connection has one request in flight and sends the
 * next as soon as the answer is complete. It knows just enough HTTP to find the end of an answer
 * (Content-Length or chunked), so that it can do more than the servers that it measures.
 */
import { connect, type Socket } from "node:net";

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  /** Requests in all; they are shared out among the connections as they become free. */
  readonly requests: number;
  /** The bytes of request `index`, head and body. Called once per request. */
  request(index: number): Buffer;
}

export interface LoadResult {
  /** Answers per second over the whole run. */
  readonly perSecond: number;
  readonly seconds: number;
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly bytes: number;
}

/** Runs the load to its end. Rejects when a connection breaks or an answer can't be read. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const statuses: Record<number, number> = {};
  let next = 0;
  let bytes = 0;
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(options.port)));
  const begin = process.hrtime.bigint();
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          const send = (): void => {
            if (next >= options.requests) resolve();
            else socket.write(options.request(next++));
          };
          const reader = new AnswerReader((status) => {
            statuses[status] = (statuses[status] ?? 0) + 1;
            send();
          });
          socket.on("error", reject).on("close", () => reject(new Error("the server closed a connection of the load")));
          socket.on("data", (chunk) => {
            bytes += chunk.length;
            try {
              reader.read(chunk);
            } catch (error) {
              reject(error as Error);
            }
          });
          send();
        }),
    ),
  );
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  for (const socket of sockets) socket.removeAllListeners().destroy();
  return { perSecond: options.requests / seconds, seconds, statuses, bytes };
}

/** A request's bytes with what HTTP/1.1 demands. */
export function requestBytes(
  method: string,
  path: string,
  body = "",
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body !== "") lines.push(`Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join("")}\r\n${body}`);
}

const open = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket.off("error", reject)));
    socket.once("error", reject);
  });

/** Finds where answers end in a stream of chunks. */
class AnswerReader {
  #buffer: Buffer = Buffer.alloc(0);
  readonly #done: (status: number) => void;

  constructor(done: (status: number) => void) {
    this.#done = done;
  }

  read(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const head = this.#buffer.indexOf("\r\n\r\n");
      if (head < 0) return;
      const end = answerEnd(this.#buffer, head);
      if (end < 0) return;
      const status = Number(this.#buffer.toString("latin1", 9, 12));
      this.#buffer = this.#buffer.subarray(end);
      this.#done(status);
    }
  }
}

/** Offset behind the answer whose head ends at `head`, or -1 while it is incomplete. */
function answerEnd(buffer: Buffer, head: number): number {
  const fields = buffer.toString("latin1", 0, head).toLowerCase();
  const at = fields.indexOf("\r\ncontent-length:");
  if (at >= 0) {
    const end = head + 4 + Number.parseInt(fields.slice(at + 17), 10);
    return end <= buffer.length ? end : -1;
  }
  if (!fields.includes("\r\ntransfer-encoding: chunked")) throw new Error(`an answer without a length: ${fields}`);
  return chunkedEnd(buffer, head + 4);
}

function chunkedEnd(buffer: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const line = buffer.indexOf("\r\n", at);
    if (line < 0) return -1;
    const size = Number.parseInt(buffer.toString("latin1", at, line), 16);
    at = line + 2 + size + 2;
    if (at > buffer.length) return -1;
    if (size === 0) return at;
  }
}

/** Room that a read finds at least, in bytes: a read fills what there is. */
const roomBytesMin = 1024 * 1024;

/**
 * One connection that asks one thing after another and gets the whole answer, head and body. The socket reads into
 * the place where the answer is kept: a list of some megabytes is not copied, and takes few reads.
 */
export class OneConnection {
  readonly #socket: Socket;
  #buffer = Buffer.allocUnsafeSlow(2 * roomBytesMin);
  #size = 0;
  /** Bytes of the whole answer; 0 while its head has not come. */
  #expected = 0;
  #done: (answer: Buffer) => void = () => {};
  #failed: (error: Error) => void = () => {};

  constructor(port: number) {
    const onread = {
      buffer: () => this.#room(),
      callback: (count: number) => {
        this.#take(count);
        return true;
      },
    };
    // The types know no buffer but one that is always the same; node takes a function as well.
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true, onread: onread as never });
    this.#socket.on("error", (error) => this.#failed(error));
    this.#socket.on("close", () => this.#failed(new Error("the server closed the connection")));
  }

  /** The answer is to be read before the next request: its place is used again. */
  ask(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.removeAllListeners().destroy();
  }

  /** Where the next bytes go: behind those that have come. */
  #room(): Buffer {
    if (this.#buffer.length - this.#size < roomBytesMin) {
      const larger = Buffer.allocUnsafeSlow(2 * this.#buffer.length);
      this.#buffer.copy(larger, 0, 0, this.#size);
      this.#buffer = larger;
    }
    return this.#buffer.subarray(this.#size);
  }

  #take(count: number): void {
    this.#size += count;
    if (this.#expected === 0) {
      const head = this.#buffer.subarray(0, this.#size).indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.#buffer.toString("latin1", 0, head))?.[1];
      if (length === undefined) {
        this.#failed(new Error("an answer without a length"));
        return;
      }
      this.#expected = head + 4 + Number(length);
    }
    if (this.#size < this.#expected) return;
    const answer = this.#buffer.subarray(0, this.#expected);
    this.#size = 0;
    this.#expected = 0;
    this.#done(answer);
  }
}

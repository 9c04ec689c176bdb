/** Raw watches that read and count: one line of the body is one event, and its content is nobody's concern. */
import { connect, type Socket } from "node:net";
import { requestBytes } from "./load-generator.ts";

export interface WatchReaders {
  /** Events that all readers have got so far. */
  readonly eventCount: number;
  /** Resolves when `eventCount` has reached `count`. Rejects when a watch ends before. */
  reached(count: number): Promise<void>;
  close(): void;
}

/** A system lets only so many connections wait for their server. */
const openedTogetherMax = 200;

/** Opens `watchers` watches on `path`; resolves when every one of them has its response's head. */
export async function openWatches(port: number, path: string, watchers: number): Promise<WatchReaders> {
  const readers = new Readers();
  for (let left = watchers; left > 0; left -= openedTogetherMax) {
    await Promise.all(Array.from({ length: Math.min(left, openedTogetherMax) }, () => readers.add(port, path)));
  }
  return readers;
}

class Readers implements WatchReaders {
  eventCount = 0;
  private wanted = Number.POSITIVE_INFINITY;
  private resolve: () => void = () => {};
  private reject: (error: Error) => void = () => {};
  private readonly sockets: Socket[] = [];

  add(port: number, path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1" }, () => void socket.write(requestBytes("GET", path)));
      const lines = new ChunkedLines();
      const failed = (error: Error): void => {
        reject(error);
        this.reject(error);
      };
      socket.on("error", failed).on("close", () => failed(new Error("a watch ended")));
      socket.on("data", (chunk) => {
        try {
          this.eventCount += lines.countIn(chunk);
        } catch (error) {
          failed(error as Error);
        }
        if (lines.begun) resolve();
        if (this.eventCount >= this.wanted) this.resolve();
      });
      this.sockets.push(socket);
    });
  }

  reached(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.wanted = count;
      this.resolve = resolve;
      this.reject = reject;
      if (this.eventCount >= count) resolve();
    });
  }

  close(): void {
    for (const socket of this.sockets) socket.removeAllListeners().destroy();
  }
}

const newline = 0x0a;

/** Counts newlines in the body of one chunked response, however it is cut into packets. */
class ChunkedLines {
  /** The head has been read. */
  begun = false;
  /** The start of a head or of a chunk's size that its packet did not finish. */
  private rest: Buffer = Buffer.alloc(0);
  /** Bytes of the open chunk that are still to come. */
  private left = 0;

  countIn(packet: Buffer): number {
    let bytes = this.rest.length === 0 ? packet : Buffer.concat([this.rest, packet]);
    this.rest = Buffer.alloc(0);
    if (!this.begun) {
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0) {
        this.rest = bytes;
        return 0;
      }
      const head = bytes.toString("latin1", 0, end);
      if (!/^HTTP\/1\.1 200 .*\r\ntransfer-encoding: *chunked/is.test(head)) throw new Error(`no watch: ${head}`);
      this.begun = true;
      bytes = bytes.subarray(end + 2); // the break before the first size is read like the one after a chunk
    }
    return this.countChunks(bytes);
  }

  private countChunks(bytes: Buffer): number {
    let count = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.left === 0) {
        const end = bytes.indexOf("\r\n", at + 2);
        if (end < 0) {
          this.rest = bytes.subarray(at);
          break;
        }
        this.left = Number.parseInt(bytes.toString("latin1", at + 2, end), 16);
        if (!(this.left > 0)) throw new Error("a watch ended");
        at = end + 2;
      }
      const end = Math.min(bytes.length, at + this.left);
      for (
        let found = bytes.indexOf(newline, at);
        found >= 0 && found < end;
        found = bytes.indexOf(newline, found + 1)
      ) {
        count++;
      }
      this.left -= end - at;
      at = end;
    }
    return count;
  }
}

/** Bodies of answers that this server gets from others. Who sends them chooses in how many pieces. */
import type { IncomingMessage } from "node:http";
import process from "node:process";
import { Gathered } from "../../wire/gathered.ts";
import { loopShare } from "./wall.ts";

/** What is longer comes behind what is small. */
const smallBytesMax = 16 * 1024;

export interface WholeBody {
  /** All of it has come; in a turn of its own, since others may have ended with this one. */
  whole(body: Gathered): void;
  /** It has more bytes than it may. Called once, and nothing after it. */
  tooLong(): void;
  broken(error: Error): void;
  /** Told how many more bytes of memory are held, and may pause what comes. Default: nobody wants to know. */
  held?(bytes: number): void;
}

export function readWhole(
  incoming: IncomingMessage,
  bytesMax: number,
  { whole, tooLong, broken, held }: WholeBody,
): void {
  const body = new Gathered();
  let isTooLong = false;
  incoming.on("data", (piece: Buffer) => {
    if (isTooLong) return;
    isTooLong = body.bytes + piece.length > bytesMax;
    if (isTooLong) {
      body.clear();
      tooLong();
      return;
    }
    const more = body.add(piece);
    if (more > 0) held?.(more);
  });
  incoming.on("error", broken);
  incoming.on("end", () => {
    if (!isTooLong)
      loopShare.begin(
        incoming,
        () => whole(body),
        () => body.bytes > smallBytesMax,
      );
  });
}

/**
 * Hands on what comes as it comes, but together what came in one go. False from `take`: no more until `resume`, which it was
 * given, is called. `over` comes last, however it ended.
 */
export function readFlowing(
  incoming: IncomingMessage,
  take: (bytes: Uint8Array, resume: () => void) => boolean,
  over: () => void,
): void {
  const gathered = new Gathered();
  const flush = (): void => {
    if (gathered.bytes === 0) return;
    const bytes = gathered.joined();
    gathered.clear();
    if (!take(bytes, () => incoming.resume())) incoming.pause();
  };
  incoming.on("data", (piece: Buffer) => {
    if (gathered.bytes === 0) process.nextTick(flush);
    gathered.add(piece);
  });
  incoming.on("error", () => {}); // told by its close
  incoming.on("close", () => {
    flush();
    over();
  });
}

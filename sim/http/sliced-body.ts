/**
 * A body that is made and sent a little at a time: the loop is left to others after some milliseconds, and nothing more is
 * made before the peer has taken what there is.
 */
import { clearTimeout, setTimeout } from "node:timers";
import { createGzip } from "node:zlib";
import { append } from "../../wire/lists.ts";
import { loopShare, wallPorts } from "./wall.ts";

/** What is not longer leaves in one piece, with its length. */
const wholeBytesMax = 1024 * 1024;

/** Made before the peer must take it. */
const partBytes = 256 * 1024;

/** Before others have their turn. */
const turnMicros = 5_000;

/** The peer must take a megabyte in the time that it has for an answer. */
const measureBytes = 1024 * 1024;

interface TurnSink {
  isOver(): boolean;
  /** What a turn has given. */
  take(pieces: readonly Uint8Array[]): void;
  /** There is enough, or all. */
  done(isAll: boolean): void;
  broke(error: unknown): void;
}

/** Takes slices in turns until there are more than `bytesMax`, or no more. */
function takeTurns(slices: Iterator<Uint8Array>, bytesMax: number, sink: TurnSink, throwsAtFirst = false): void {
  let bytes = 0;
  const turn = (isFirst: boolean): void => {
    if (sink.isOver()) return;
    const pieces: Uint8Array[] = [];
    const began = wallPorts.nowMicros();
    let isAll = false;
    try {
      while (bytes <= bytesMax && wallPorts.nowMicros() - began < turnMicros) {
        const { value, done = false } = slices.next();
        isAll = done;
        if (done) break;
        if (value.length === 0) continue;
        pieces.push(value);
        bytes += value.length;
      }
    } catch (error) {
      if (isFirst && throwsAtFirst) throw error;
      sink.broke(error);
      return;
    }
    sink.take(pieces);
    if (isAll || bytes > bytesMax) sink.done(isAll);
    else loopShare.later(sink, () => turn(false));
  };
  turn(true);
}

export interface SlicedSink {
  /** The answer has ended otherwise. */
  isOver(): boolean;
  /** All of it, if it is no more than `wholeBytesMax`. */
  whole(pieces: readonly Uint8Array[], bytes: number): void;
  /** It is longer: the head has to leave. True for a body that is to be packed. */
  begin(bytes: number): boolean;
  /** `taken` is called when the peer has them. */
  write(pieces: readonly Uint8Array[], taken: () => void): void;
  end(): void;
  /** The peer does not read. */
  giveUp(): void;
  /** Making it failed, in a later turn. */
  broke(error: unknown): void;
}

/** Sends what `slices` give. */
export function sendSlices(slices: Iterator<Uint8Array>, sink: SlicedSink, answerMillisMax: number): void {
  const pieces: Uint8Array[] = [];
  const broke = (error: unknown): void => sink.broke(error);
  takeTurns(
    slices,
    wholeBytesMax,
    {
      isOver: () => sink.isOver(),
      take: (more) => append(pieces, more),
      broke,
      done(isAll) {
        const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
        if (isAll && bytes <= wholeBytesMax) sink.whole(pieces, bytes);
        else if (sink.begin(bytes)) sendPacked(slices, pieces, sink, answerMillisMax);
        else sendParts(slices, pieces, isAll, sink, answerMillisMax);
      },
    },
    true, // whoever answers can still say that it failed
  );
}

function sendParts(
  slices: Iterator<Uint8Array>,
  first: readonly Uint8Array[],
  isAll: boolean,
  sink: SlicedSink,
  answerMillisMax: number,
): void {
  const reading = new ReadingLimit(sink, answerMillisMax);
  const send = (pieces: readonly Uint8Array[], isLast: boolean): void => {
    if (sink.isOver()) return;
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    const next = (): void => {
      reading.taken(bytes);
      if (sink.isOver()) reading.over();
      else if (isLast) {
        reading.over();
        sink.end();
      } else loopShare.later(sink, part); // a peer that takes all at once would have the loop to itself
    };
    if (bytes === 0) next();
    else sink.write(pieces, next);
  };
  const part = (): void => {
    const pieces: Uint8Array[] = [];
    takeTurns(slices, partBytes, {
      isOver: () => sink.isOver(),
      take: (more) => append(pieces, more),
      done: (isLast) => send(pieces, isLast),
      broke: (error) => sink.broke(error),
    });
  };
  send(first, isAll);
}

/** Off this thread, and no faster than the peer reads. */
function sendPacked(
  slices: Iterator<Uint8Array>,
  first: readonly Uint8Array[],
  sink: SlicedSink,
  answerMillisMax: number,
): void {
  const reading = new ReadingLimit(sink, answerMillisMax);
  const packed = createGzip({ level: 1 });
  packed.on("data", (chunk: Uint8Array) => {
    packed.pause();
    if (sink.isOver()) {
      reading.over();
      packed.destroy();
      return;
    }
    sink.write([chunk], () => {
      reading.taken(chunk.length);
      packed.resume();
    });
  });
  packed.on("end", () => {
    reading.over();
    if (!sink.isOver()) sink.end();
  });
  packed.on("error", () => {}); // destroyed
  const feed = (pieces: readonly Uint8Array[], isLast: boolean): void => {
    let isTaken = true;
    for (const piece of pieces) isTaken = packed.write(piece);
    if (isLast) packed.end();
    else if (isTaken) loopShare.later(sink, part);
    else packed.once("drain", part);
  };
  const part = (): void => {
    const pieces: Uint8Array[] = [];
    takeTurns(slices, partBytes, {
      isOver: () => sink.isOver(),
      take: (more) => append(pieces, more),
      done: (isLast) => feed(pieces, isLast),
      broke: (error) => sink.broke(error),
    });
  };
  feed(first, false);
}

/** Nobody may hold an answer by reading now and then. */
class ReadingLimit {
  readonly #sink: SlicedSink;
  readonly #millisMax: number;
  #timer: NodeJS.Timeout;
  #bytes = 0;

  constructor(sink: SlicedSink, millisMax: number) {
    this.#sink = sink;
    this.#millisMax = millisMax;
    this.#timer = this.#start();
  }

  taken(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < measureBytes) return;
    this.#bytes = 0;
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  over(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => {
      if (!this.#sink.isOver()) this.#sink.giveUp();
    }, this.#millisMax).unref();
  }
}

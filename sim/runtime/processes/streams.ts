/** What a process reads from and writes to. */
import type { Micros } from "../../kernel/types.ts";
import type { FileError, FileNode, FileTree, Piece } from "../file-tree.ts";

export interface Pipe {
  pieces: Piece[];
  bytes: number;
  writers: number;
  readers: number;
  /** A terminal is at its other end: shells ask for commands with a prompt. */
  readonly isTerminal?: boolean;
  /** Told when room is made in a pipe that was full. */
  emptied?: () => void;
}

export type Stream =
  | { readonly is: "null" }
  | { readonly is: "zeros" }
  | { readonly is: "random" }
  | { readonly is: "file"; readonly tree: FileTree; readonly path: string; readonly file: FileNode; offset: number }
  | { readonly is: "pipe"; readonly pipe: Pipe }
  /** What a container's first process writes: 1 or 2 of its log. */
  | { readonly is: "log"; readonly number: 1 | 2 }
  /** What somebody outside reads while it is written; `isFull`: they have not taken what there is. */
  | { readonly is: "live"; readonly take: (piece: Piece) => void; readonly isFull: () => boolean }
  /** Collected, as the answer to an exec or for a substitution, up to `maxBytes`; the rest is dropped. */
  | { readonly is: "capture"; text: string; readonly maxBytes: number };

/** A pipe holds so much before its writers wait. */
const PIPE_BYTES = 65_536;

export const newPipe = (): Pipe => ({ pieces: [], bytes: 0, writers: 0, readers: 0 });

export const pipeIsFull = (stream: Stream): boolean =>
  (stream.is === "pipe" && stream.pipe.readers > 0 && stream.pipe.bytes >= PIPE_BYTES) ||
  (stream.is === "live" && stream.isFull());

export const isTerminal = (stream: Stream): boolean => stream.is === "pipe" && stream.pipe.isTerminal === true;

export type WriteFailure = FileError | "Broken pipe";

/** Adds a piece to a stream; `log` takes what goes to a container's log. */
export function writeStream(
  stream: Stream,
  piece: Piece,
  nowMicros: Micros,
  log: (number: 1 | 2, piece: Piece) => void,
): WriteFailure | undefined {
  switch (stream.is) {
    case "null":
    case "zeros":
    case "random":
      return undefined;
    case "log":
      log(stream.number, piece);
      return undefined;
    case "live":
      stream.take(piece);
      return undefined;
    case "file":
      return stream.tree.append(stream.path, stream.file, piece, nowMicros);
    case "capture": {
      const room = stream.maxBytes - stream.text.length;
      stream.text += typeof piece === "string" ? piece.slice(0, room) : "\0".repeat(Math.min(piece, room));
      return undefined;
    }
    case "pipe": {
      const { pipe } = stream;
      if (pipe.readers === 0) return "Broken pipe";
      pipe.pieces.push(piece);
      pipe.bytes += typeof piece === "number" ? piece : piece.length;
      return undefined;
    }
  }
}

/** Up to `maxBytes` of what a stream holds next, its end, or nothing yet. */
export function readStream(
  stream: Stream,
  maxBytes: number,
  random: () => number,
): { readonly piece: Piece } | "end" | "wait" {
  switch (stream.is) {
    case "null":
    case "log":
    case "live":
    case "capture":
      return "end";
    case "zeros":
      return { piece: maxBytes };
    case "random": {
      let text = "";
      while (text.length < Math.min(maxBytes, 4096)) text += String.fromCharCode(random() & 255);
      return { piece: text };
    }
    case "file": {
      const piece = pieceAt(stream.file, stream.offset, maxBytes);
      if (piece === undefined) return "end";
      stream.offset += typeof piece === "number" ? piece : piece.length;
      return { piece };
    }
    case "pipe": {
      const { pipe } = stream;
      const first = pipe.pieces[0];
      if (first === undefined) return pipe.writers === 0 ? "end" : "wait";
      const length = typeof first === "number" ? first : first.length;
      if (pipe.bytes >= PIPE_BYTES && pipe.bytes - Math.min(length, maxBytes) < PIPE_BYTES) pipe.emptied?.();
      if (length <= maxBytes) {
        pipe.pieces.shift();
        pipe.bytes -= length;
        return { piece: first };
      }
      pipe.pieces[0] = typeof first === "number" ? first - maxBytes : first.slice(maxBytes);
      pipe.bytes -= maxBytes;
      return { piece: typeof first === "number" ? maxBytes : first.slice(0, maxBytes) };
    }
  }
}

function pieceAt(file: FileNode, offset: number, maxBytes: number): Piece | undefined {
  let at = 0;
  for (const piece of file.pieces) {
    const length = typeof piece === "number" ? piece : piece.length;
    if (at + length > offset) {
      const from = offset - at;
      return typeof piece === "number" ? Math.min(maxBytes, length - from) : piece.slice(from, from + maxBytes);
    }
    at += length;
  }
  return undefined;
}

/** A second holder of a stream: pipes count theirs. */
export function shareStream(stream: Stream, writes: boolean): Stream {
  if (stream.is === "pipe") {
    if (writes) stream.pipe.writers++;
    else stream.pipe.readers++;
  }
  return stream;
}

export function releaseStream(stream: Stream, writes: boolean): void {
  if (stream.is !== "pipe") return;
  if (writes) stream.pipe.writers--;
  else stream.pipe.readers--;
}

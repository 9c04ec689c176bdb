/**
 * What keeps containers alive when their runtime's process is killed. A simulated runtime is a function of the calls that
 * changed it and of when they came; they are written down before they are carried out, and a new process plays them again
 * on virtual time, up to now. Identifiers, addresses, start times and what scripts have done come out as they were.
 *
 * A file that has grown is written anew: the state of what is over, and the calls that what runs has still to live through.
 */
import {
  appendFileSync,
  truncateSync,
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { CriRequest } from "../../wire/cri.ts";
import type { Micros } from "../kernel/types.ts";

export interface JournalHead {
  readonly version: 2;
  readonly seed: string;
  readonly epochUnixMillis: number;
  /** What the runtime was made from; another start has to be made from the same. */
  readonly options: unknown;
  /** Lines that are the state from which the entries go on; they were all written before the file had its name. */
  readonly stateLines?: number;
}

export type JournalEntry =
  | { readonly atMicros: Micros; readonly number: number; readonly call: CriRequest }
  /** Who had made the call of that number went away before there was an answer. */
  | { readonly atMicros: Micros; readonly gone: number }
  | { readonly atMicros: Micros; readonly control: string };

/** What every journal begins with: a file of one unfinished line that begins otherwise is somebody else's. */
const headPrefix = '{"version":2,"seed":';
const headBytesMax = 1 << 20;
/** A file that is no longer is left as it is. */
const COMPACT_BYTES = 1 << 20;
/** Of a new file, in one turn. */
const WRITTEN_AT_A_TIME = 1 << 20;

/** What is on the way to a new file, so that a test can end the process there. */
export type CompactStep = "begun" | "half" | "written" | "synced" | "renamed";

export class Journal {
  readonly head: JournalHead;
  private readonly path: string;
  private bytes: number;
  /** From this length on it is to be written anew. */
  private dueBytes: number;
  private readonly compactBytes: number;

  private constructor(path: string, head: JournalHead, bytes: number, compactBytes: number) {
    this.path = path;
    this.head = head;
    this.bytes = bytes;
    this.compactBytes = compactBytes;
    this.dueBytes = Math.max(compactBytes, bytes);
  }

  /**
   * Begins a journal, or opens the one that is there: from `state`, `entries` are then to be played again. Throws `SyntaxError` when
   * it is no journal.
   */
  static open(
    path: string,
    head: JournalHead,
    compactBytes = COMPACT_BYTES,
  ): { readonly journal: Journal; readonly state: readonly unknown[]; readonly entries: readonly JournalEntry[] } {
    // A process that was killed while it wrote the file anew had not done so yet.
    rmSync(newPathOf(path), { force: true });
    // What stands after the last end of line was being written when the process was killed: it was never carried out.
    if (existsSync(path) && !statSync(path).isFile()) throw new SyntaxError("it is no file");
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
    if (whole.length === 0) {
      const begins = bytes.toString("utf8", 0, headPrefix.length);
      if (!`${JSON.stringify(head)}\n`.startsWith(begins) || bytes.length > headBytesMax)
        throw new SyntaxError("it does not begin as one");
      const line = `${JSON.stringify(head)}\n`;
      writeFileSync(path, line, { mode: 0o600 });
      return { journal: new Journal(path, head, line.length, compactBytes), state: [], entries: [] };
    }
    const lines = [...linesOf(whole)].map(parse);
    const first = lines[0] as JournalHead;
    if ((first.version as number) !== head.version) throw new SyntaxError("it is of another version");
    const entriesAt = 1 + (first.stateLines ?? 0);
    if (lines.length < entriesAt) throw new SyntaxError("it ends before its state is whole");
    if (whole.length < bytes.length) writeFileSync(path, whole);
    return {
      journal: new Journal(path, first, whole.length, compactBytes),
      state: lines.slice(1, entriesAt),
      entries: lines.slice(entriesAt) as JournalEntry[],
    };
  }

  /** Throws where it cannot be written, as on a full disk: the journal is then as it was. */
  append(entry: JournalEntry): void {
    const line = lineOf(entry);
    try {
      appendFileSync(this.path, line);
    } catch (error) {
      // What there was room for would be the beginning of the next line.
      truncateSync(this.path, this.bytes);
      throw error;
    }
    this.bytes += Buffer.byteLength(line);
  }

  /** It has grown to twice what it was when it was written anew, or opened. */
  get isDue(): boolean {
    return this.bytes >= this.dueBytes;
  }

  /** It stays as it is for now. */
  putOff(): void {
    this.dueBytes = Math.max(this.compactBytes, 2 * this.bytes);
  }

  /**
   * Writes it anew, beside the old one, which it then replaces in one step: whoever opens it has the one or the other. A megabyte or
   * one line at a time; between two of them entries may be appended to the old one, and to `entries`, all of which are in the new
   * one. `state` is asked for twice, and says the same. `step` is told what has been done.
   */
  *compacting(
    state: () => Iterable<unknown>,
    entries: readonly JournalEntry[],
    step: (done: CompactStep) => void = () => {},
  ): Generator<undefined, void> {
    const newPath = newPathOf(this.path);
    let stateLines = 0;
    for (const _ of state()) stateLines++;
    rmSync(newPath, { force: true });
    const file = openSync(newPath, "wx", 0o600);
    let [bytes, syncedBytes, lines] = [0, 0, 0];
    const write = (line: unknown): boolean => {
      const text = lineOf(line);
      writeFileSync(file, text); // all of it, or it throws
      bytes += Buffer.byteLength(text);
      if (lines++ === (stateLines + entries.length) >> 1) step("half");
      if (bytes - syncedBytes < WRITTEN_AT_A_TIME) return false;
      // Or else the last of them would wait for the disk to have all.
      fdatasyncSync(file);
      syncedBytes = bytes;
      return true;
    };
    let isWhole = false;
    try {
      step("begun");
      write({ ...this.head, stateLines });
      for (const line of state()) if (write(line)) yield;
      for (let at = 0; at < entries.length; at++) if (write(entries[at])) yield;
      step("written");
      fsyncSync(file);
      step("synced");
      isWhole = true;
    } finally {
      closeSync(file);
      // On a disk that is full it would be in the way.
      if (!isWhole) rmSync(newPath, { force: true });
    }
    renameSync(newPath, this.path);
    syncDirectory(dirname(this.path));
    this.bytes = bytes;
    this.putOff();
    step("renamed");
  }
}

const newPathOf = (path: string): string => `${path}.new`;

function lineOf(line: unknown): string {
  // By whoever holds them: a buffer would be made a list of numbers before it is asked what it shall be.
  const text = JSON.stringify(line, (_key, value: unknown) => {
    if (Array.isArray(value)) return value.some(isBytes) ? value.map(written) : value;
    if (typeof value !== "object" || value === null || value instanceof WrittenBytes) return value;
    if (isAsBytesAre(value)) return { base64: [value.base64] };
    if (!Object.values(value).some(isBytes)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, written(each)]));
  });
  return `${text}\n`;
}

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
const written = (value: unknown): unknown => (isBytes(value) ? new WrittenBytes(value) : value);

class WrittenBytes {
  readonly base64: string;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.base64 = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  }
}

/** Bytes are an object of this one key; one that somebody else has made so, as labels are, has its value in a list. */
function isAsBytesAre(value: object): value is { readonly base64: unknown } {
  return "base64" in value && Object.keys(value).length === 1 && !isBytes(value.base64);
}

/** So that a name outlives a machine that stops. */
function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** One by one: all together they may be longer than a text can be. */
function* linesOf(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\n", at);
    yield bytes.toString("utf8", at, end);
    at = end + 1;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line, (_key, value: unknown) => revived(value));
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError("lists stand in one another too deep");
    throw error;
  }
}

function revived(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !isAsBytesAre(value)) return value;
  const { base64 } = value;
  if (typeof base64 === "string") return Uint8Array.from(Buffer.from(base64, "base64"));
  return Array.isArray(base64) ? { base64: base64[0] as unknown } : value;
}

/**
 * The objects of a dump, one by one: a list as `kubectl get -o json` prints it, a single object, or many of both after one
 * another. Nothing but one object is held at a time, however long the file is.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { unreadable } from "./file-problem.ts";
import { UsageError } from "./usage-error.ts";

export interface DumpItem {
  readonly object: Readonly<Record<string, unknown>>;
  /** Of the list that it is in, `PodList`; empty where it is in none, or the list has not said it yet. */
  readonly listKind: string;
  /** Of its first byte. */
  readonly line: number;
}

const chunkBytes = 1 << 20;
const objectBytesMax = 64 << 20;
const depthMax = 200;
const pipeMillis = 10;
const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));
const advice = "expected JSON as `kubectl get nodes,pods,pdb,priorityclasses -A -o json` prints it";

/** As `readSync`. */
type ReadsFile = (descriptor: number, into: Buffer, offset: number, length: number, position: null) => number;

/** `-` is what comes in on standard input. Throws `UsageError` with the line. */
export function* dumpItems(path: string, read: ReadsFile = readSync): Generator<DumpItem> {
  let descriptor: number;
  try {
    descriptor = path === "-" ? 0 : openSync(path, "r");
  } catch (error) {
    throw new UsageError(`${path}: ${unreadable(error)}`);
  }
  const scanner = new DumpScanner(path === "-" ? "standard input" : path);
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      let count: number;
      try {
        count = read(descriptor, chunk, 0, chunkBytes, null);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EOF") break;
        // A pipe whose writer is slow, as kubectl is: there is nothing in it yet.
        if (code === "EAGAIN") {
          Atomics.wait(nobodyWakes, 0, 0, pipeMillis);
          continue;
        }
        throw new UsageError(`${path}: ${unreadable(error)}`);
      }
      if (count === 0) break;
      yield* scanner.push(chunk.subarray(0, count));
    }
    scanner.end();
  } finally {
    if (path !== "-") closeSync(descriptor);
  }
}

/** Counts braces outside of strings. What is between them is left to the reader of JSON. */
export class DumpScanner {
  private readonly name: string;
  private line = 1;
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private isList = false;
  private isInItems = false;
  /** Depth outside of the object that is being gathered. */
  private outside = 0;
  private parts: Buffer[] = [];
  private partBytes = 0;
  private startLine = 1;
  private isGathering = false;
  private text: number[] = [];
  private key = "";
  private isValue = false;
  private listKind = "";

  constructor(name: string) {
    this.name = name;
  }

  /** The objects that these bytes complete. */
  *push(chunk: Buffer): Generator<DumpItem> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === newline) this.line++;
      if (this.isInString) {
        this.inString(byte);
        continue;
      }
      if (byte === quote) {
        if (this.depth === 0) this.refuse();
        if (this.isInItems && this.depth === 2) this.refuseItem();
        this.isInString = true;
        this.text = [];
      } else if (byte === openBrace || byte === openBracket) {
        if (this.depth === 0 && byte !== openBrace) this.refuse();
        if (++this.depth > depthMax)
          throw new UsageError(`${this.name}:${this.line}: nested more than ${depthMax} deep.`);
        if (byte === openBracket && this.depth === 2 && this.key === "items" && this.isValue && !this.isList) {
          // What was gathered was the head of a list, and not an object by itself.
          this.isList = true;
          this.isInItems = true;
          this.drop();
        } else if (
          !this.isGathering &&
          byte === openBrace &&
          this.depth === (this.isInItems ? 3 : this.isList ? -1 : 1)
        ) {
          if (this.depth === 1) this.begin();
          this.isGathering = true;
          this.outside = this.depth - 1;
          this.startLine = this.line;
          from = at;
        } else if (this.isInItems && !this.isGathering && this.depth === 3) this.refuseItem();
      } else if (byte === closeBrace || byte === closeBracket) {
        if (--this.depth < 0) this.refuse();
        if (this.isGathering && this.depth === this.outside) {
          this.keep(chunk.subarray(from, at + 1));
          yield this.item();
        }
        if (this.depth === 1) this.isInItems = false;
        if (this.depth === 0) this.isList = false;
      } else if (this.depth === 1) this.atTop(byte);
      else if (this.depth === 2 && this.isInItems && byte !== comma && !spaces.has(byte)) this.refuseItem();
      else if (this.depth === 0 && !spaces.has(byte)) this.refuse();
    }
    if (this.isGathering) this.keep(chunk.subarray(from));
  }

  end(): void {
    if (this.depth > 0 || this.isInString)
      throw new UsageError(`${this.name}:${this.line}: it ends in the middle of an object: it was cut short.`);
  }

  private begin(): void {
    this.key = "";
    this.isValue = false;
    this.listKind = "";
  }

  private atTop(byte: number): void {
    if (byte === colon) {
      this.key = Buffer.from(this.text).toString();
      this.isValue = true;
    } else if (byte === comma) this.isValue = false;
  }

  private inString(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === backslash) this.isEscaped = true;
    else if (byte === quote) {
      this.isInString = false;
      if (this.depth === 1 && this.isValue && this.key === "kind") this.listKind = Buffer.from(this.text).toString();
      return;
    }
    if (this.depth === 1 && this.text.length < 200) this.text.push(byte);
  }

  private keep(bytes: Buffer): void {
    this.partBytes += bytes.length;
    if (this.partBytes > objectBytesMax)
      throw new UsageError(`${this.name}:${this.startLine}: an object of more than ${objectBytesMax >> 20} MiB.`);
    // The chunk is filled anew.
    this.parts.push(Buffer.from(bytes));
  }

  private drop(): void {
    this.parts = [];
    this.partBytes = 0;
    this.isGathering = false;
  }

  private item(): DumpItem {
    const text = (this.parts.length === 1 ? (this.parts[0] as Buffer) : Buffer.concat(this.parts)).toString("utf8");
    this.drop();
    try {
      const object = JSON.parse(text) as DumpItem["object"];
      return { object, listKind: this.isList ? this.listKind : "", line: this.startLine };
    } catch (error) {
      throw new UsageError(`${this.name}:${this.startLine}: not JSON: ${(error as Error).message}`);
    }
  }

  private refuseItem(): never {
    throw new UsageError(
      `${this.name}:${this.line}: an item of a list is no object: give the list as kubectl prints it, or take the item out.`,
    );
  }

  private refuse(): never {
    throw new UsageError(`${this.name}:${this.line}: ${advice}.`);
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const colon = 0x3a;
const comma = 0x2c;
const newline = 0x0a;
const spaces: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, newline]);

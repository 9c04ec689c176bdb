/**
 * Bytes of shared objects, made on demand and kept while a byte budget lasts: a list concatenates them, a watch sends
 * the same ones to every client. What is dropped is made again; history holds objects only.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { encodeJson, jsonPieces } from "../../../wire/go-strings.ts";
import { isLargeObject } from "../../objects/value-limit.ts";
import { ListBlocks, type WriteBlock } from "./list-blocks.ts";

const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

const lineEnd = utf8("\n");

/** Encodings lie side by side in slabs of this size: an array of its own costs more than most of them. */
const slabBytes = 256 * 1024;

/** UTF-8 takes at most so many bytes for a UTF-16 unit. */
const bytesOfUnitMax = 3;

/** The blocks of lists take at most so much of the budget, and so do the items of lists in YAML, and the first events of watches. */
const shareOfOthers = 1 / 4;

export class Encodings {
  private readonly budgetBytes: number;
  private readonly lines = new KeptBytes<JsonObject>();
  private readonly yamlItems = new KeptBytes<JsonObject>();
  private readonly initialEvents = new KeptBytes<JsonObject>();
  private readonly blocks = new ListBlocks();

  /** `budgetBytes` ≥ 0. */
  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes;
  }

  /** A line of JSON: with its final newline. `object` must be frozen for good: its bytes are remembered by identity. */
  lineOf(object: JsonObject): Uint8Array {
    const known = this.lines.get(object);
    if (known !== undefined) return known;
    const bytes = this.lines.encode(object, `${encodeJson(object)}\n`);
    this.keepWithin();
    return bytes;
  }

  /** The same in parts, which are then kept as a whole. Undefined for what need not be made in parts. */
  slicesOf(object: JsonObject): Generator<Uint8Array> | undefined {
    return isLargeObject(object) && this.lines.get(object) === undefined ? this.slices(object) : undefined;
  }

  private *slices(object: JsonObject): Generator<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (const piece of jsonPieces(object, false)) {
      const part = utf8(piece);
      parts.push(part);
      yield part;
    }
    parts.push(lineEnd);
    yield lineEnd;
    this.lines.add(object, concatenated(parts));
    this.keepWithin();
  }

  /** An item of a list in YAML, made by `pieces` once, and in parts where it is long. `object` is as frozen as a line's. */
  *yamlItemOf(object: JsonObject, pieces: (object: JsonObject) => Generator<string>): Generator<Uint8Array> {
    const known = this.yamlItems.get(object);
    if (known !== undefined) yield known;
    else if (isLargeObject(object)) {
      const parts: Uint8Array[] = [];
      for (const piece of pieces(object)) {
        const part = utf8(piece);
        parts.push(part);
        yield part;
      }
      this.yamlItems.add(object, concatenated(parts));
      this.keepYamlWithin();
    } else {
      const item = this.yamlItems.encode(object, [...pieces(object)].join(""));
      this.keepYamlWithin();
      yield item;
    }
  }

  private keepYamlWithin(): void {
    this.yamlItems.keepWithin(this.budgetBytes * shareOfOthers);
    this.keepWithin();
  }

  /** The line of JSON that tells a new watch of `object`, made by `write` once: most watches begin with the same ones. */
  initialEventOf(object: JsonObject, write: (object: JsonObject) => Uint8Array): Uint8Array {
    const known = this.initialEvents.get(object);
    if (known !== undefined) return known;
    const bytes = write(object);
    this.initialEvents.add(object, bytes);
    this.initialEvents.keepWithin(this.budgetBytes * shareOfOthers);
    this.keepWithin();
    return bytes;
  }

  /** The items of a list in JSON, in pieces, each but the first with a comma before it; `write` makes one. */
  *piecesOf(items: readonly JsonObject[], write: WriteBlock): Generator<Uint8Array> {
    for (const piece of this.blocks.piecesOf(items, write)) {
      this.blocks.keepWithin(this.budgetBytes * shareOfOthers);
      this.keepWithin();
      yield piece;
    }
  }

  /** Lines make room for the others: they are made again most cheaply. */
  private keepWithin(): void {
    this.lines.keepWithin(this.budgetBytes - this.yamlItems.bytes - this.blocks.bytes - this.initialEvents.bytes);
  }
}

/** Encodings by what they are of, in the order in which they were made. */
class KeptBytes<Key extends object> {
  bytes = 0;
  private readonly kept = new Map<Key, Uint8Array>();
  private slab = new Uint8Array(0);
  private slabUsed = 0;

  get(key: Key): Uint8Array | undefined {
    return this.kept.get(key);
  }

  add(key: Key, bytes: Uint8Array): void {
    this.bytes += bytes.length;
    this.kept.set(key, bytes);
  }

  encode(key: Key, text: string): Uint8Array {
    const bytes = this.encoded(text);
    this.add(key, bytes);
    return bytes;
  }

  /** Drops the oldest. Slabs are left in the order in which they were filled, so each is free when its last encoding is dropped. */
  keepWithin(bytesMax: number): void {
    if (this.bytes <= bytesMax) return;
    for (const [oldest, oldBytes] of this.kept) {
      if (this.bytes <= bytesMax) break;
      this.kept.delete(oldest);
      this.bytes -= oldBytes.length;
    }
  }

  private encoded(text: string): Uint8Array {
    const bytesMax = text.length * bytesOfUnitMax;
    if (bytesMax > slabBytes / 4) return utf8(text);
    if (this.slabUsed + bytesMax > this.slab.length) {
      this.slab = new Uint8Array(slabBytes);
      this.slabUsed = 0;
    }
    const start = this.slabUsed;
    this.slabUsed += encoder.encodeInto(text, this.slab.subarray(start)).written;
    return this.slab.subarray(start, this.slabUsed);
  }
}

export function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

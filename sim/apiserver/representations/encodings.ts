/**
 * Compact JSON bytes of shared objects, made on demand and kept while a byte budget lasts: a list concatenates
 * them, a watch sends the same ones to every client. What is dropped is made again; history holds objects only.
 */
import type { JsonObject } from "../http-message.ts";
import { encodeJson } from "../../../wire/go-strings.ts";

const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** Encodings lie side by side in slabs of this size: an array of its own costs more than most of them. */
const slabBytes = 256 * 1024;

/** UTF-8 takes at most so many bytes for a UTF-16 unit. */
const bytesOfUnitMax = 3;

export class Encodings {
  private readonly budgetBytes: number;
  private readonly kept = new Map<JsonObject, Uint8Array>();
  private keptBytes = 0;
  private slab = new Uint8Array(0);
  private slabUsed = 0;

  /** `budgetBytes` ≥ 0. */
  constructor(budgetBytes: number) {
    this.budgetBytes = budgetBytes;
  }

  /** A line: with its final newline. `object` must be frozen for good: its bytes are remembered by identity. */
  lineOf(object: JsonObject): Uint8Array {
    const known = this.kept.get(object);
    if (known !== undefined) return known;
    const bytes = this.encoded(`${encodeJson(object)}\n`);
    this.keptBytes += bytes.length;
    this.kept.set(object, bytes);
    if (this.keptBytes > this.budgetBytes) this.dropOldest();
    return bytes;
  }

  /** The slabs are left in the order in which they were filled, so each is free when its last encoding is dropped. */
  private dropOldest(): void {
    for (const [oldest, oldBytes] of this.kept) {
      if (this.keptBytes <= this.budgetBytes) break;
      this.kept.delete(oldest);
      this.keptBytes -= oldBytes.length;
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

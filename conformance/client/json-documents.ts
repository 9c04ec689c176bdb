/**
 * Splits a chunked stream into JSON documents as they arrive. The documents promise a stream of JSON documents and
 * no separator, so only the braces count; a document or a character may be cut anywhere by a chunk. Each byte is looked at
 * once, and read as text when its document is whole: who sends chooses the size of the chunks.
 */
import { Gathered } from "../../wire/gathered.ts";

export class JsonDocuments {
  private readonly decoder = new TextDecoder("utf-8", { fatal: true });
  /** Of the document that has begun, without the chunk that is looked at. */
  private readonly begun = new Gathered();
  private depth = 0;
  private inString = false;
  private escaped = false;

  /**
   * The documents that this chunk completes, as they came. Throws SyntaxError on bytes that cannot belong to a stream of
   * objects: what follows them makes no sense.
   */
  push(chunk: Uint8Array): Uint8Array[] {
    const complete: Uint8Array[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk[at] as number;
      if (this.depth === 0) {
        start = at;
        this.begin(code);
      } else if (this.inString) at = this.insideString(chunk, at);
      else if (code === quote) this.inString = true;
      else if (code === openBrace || code === openBracket) this.depth += 1;
      else if (code === closeBrace || code === closeBracket) {
        this.depth -= 1;
        if (this.depth === 0) complete.push(this.whole(chunk.subarray(start, at + 1)));
      }
    }
    if (this.depth > 0) this.begun.add(chunk.subarray(start));
    return complete;
  }

  /** A document as text. Throws TypeError for what is no UTF-8. */
  textOf(document: Uint8Array): string {
    return this.decoder.decode(document);
  }

  /** Whether a document has begun that is not whole: a stream ends between documents. */
  get isInside(): boolean {
    return this.depth > 0;
  }

  private begin(code: number): void {
    if (code === openBrace) this.depth = 1;
    else if (code !== space && code !== newline && code !== carriageReturn && code !== tab) {
      const shown = code < 0x80 ? JSON.stringify(String.fromCharCode(code)) : `the byte 0x${code.toString(16)}`;
      throw new SyntaxError(`no JSON object begins with ${shown}`);
    }
  }

  /** The place of the last byte that was looked at: the end of the string, or of the chunk. */
  private insideString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const code = chunk[at];
      if (this.escaped) this.escaped = false;
      else if (code === backslash) this.escaped = true;
      else if (code === quote) {
        this.inString = false;
        return at;
      }
    }
    return chunk.length;
  }

  /** What had come and the last piece. */
  private whole(last: Uint8Array): Uint8Array {
    if (this.begun.bytes === 0) return last;
    this.begun.add(last);
    const document = this.begun.joined();
    this.begun.clear();
    return document;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const space = 0x20;
const newline = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;

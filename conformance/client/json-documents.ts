/**
 * Splits a chunked stream into JSON documents as they arrive. The documents promise a stream of JSON documents and
 * no separator, so only the braces count; a document or a character may be cut anywhere by a chunk.
 */
export class JsonDocuments {
  private readonly decoder = new TextDecoder("utf-8", { fatal: true });
  private buffer = "";
  private position = 0;
  private start = -1;
  private depth = 0;
  private inString = false;
  private escaped = false;

  /** The texts of the documents that this chunk completes. Throws SyntaxError on bytes that cannot belong to a stream of objects. */
  push(bytes: Uint8Array): string[] {
    this.buffer += this.decoder.decode(bytes, { stream: true });
    const complete: string[] = [];
    let nextQuote = -1;
    let nextBackslash = -1;
    for (; this.position < this.buffer.length; this.position += 1) {
      if (this.inString && !this.escaped) {
        // Most bytes are inside strings: straight to what may end one. What was found beyond is not looked for again.
        if (nextQuote < this.position) nextQuote = this.next('"');
        if (nextBackslash < this.position) nextBackslash = this.next("\\");
        this.position = Math.min(nextQuote, nextBackslash);
        if (this.position === this.buffer.length) break;
      }
      const code = this.buffer.charCodeAt(this.position);
      if (this.start < 0) this.begin(code);
      else if (this.inString) this.insideString(code);
      else if (code === quote) this.inString = true;
      else if (code === openBrace || code === openBracket) this.depth += 1;
      else if (code === closeBrace || code === closeBracket) {
        this.depth -= 1;
        if (this.depth === 0) {
          complete.push(this.buffer.slice(this.start, this.position + 1));
          this.start = -1;
        }
      }
    }
    this.forget();
    return complete;
  }

  /** What is left over at the end of the stream: empty when it ended between documents. */
  rest(): string {
    return this.start < 0 ? "" : this.buffer.slice(this.start);
  }

  /** Where it comes next; the end of what is there when it does not. */
  private next(character: string): number {
    const at = this.buffer.indexOf(character, this.position);
    return at < 0 ? this.buffer.length : at;
  }

  private begin(code: number): void {
    if (code === openBrace) {
      this.start = this.position;
      this.depth = 1;
    } else if (code !== space && code !== newline && code !== carriageReturn && code !== tab) {
      throw new SyntaxError(`no JSON object begins with ${JSON.stringify(String.fromCharCode(code))}`);
    }
  }

  private insideString(code: number): void {
    if (this.escaped) this.escaped = false;
    else if (code === backslash) this.escaped = true;
    else if (code === quote) this.inString = false;
  }

  private forget(): void {
    const keepFrom = this.start < 0 ? this.position : this.start;
    this.buffer = this.buffer.slice(keepFrom);
    this.position -= keepFrom;
    if (this.start > 0) this.start = 0;
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

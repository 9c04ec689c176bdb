/**
 * From a text to the tokens of YAML 1.1, as the server's reader has them: its rules, its limits and the texts of its
 * errors. One look at each character: nothing here depends on how a text nests.
 * Source: the published reader's scanner.
 */

export type TokenKind =
  | "stream end"
  | "directive"
  | "document start"
  | "document end"
  | "block sequence start"
  | "block mapping start"
  | "block end"
  | "["
  | "]"
  | "{"
  | "}"
  | "-"
  | ","
  | "?"
  | ":"
  | "alias"
  | "anchor"
  | "tag"
  | "scalar";

export interface Token {
  readonly kind: TokenKind;
  /** Where it begins, from 0. */
  readonly line: number;
  readonly endLine: number;
  /** Of a scalar its content, of an anchor or alias its name, of a tag its suffix. */
  readonly text: string;
  /** Of a tag: `!`, `!!`, `!x!`, or "" for a verbatim one. */
  readonly handle: string;
  readonly isPlain: boolean;
}

/** What no reader gets past. The line is told, but for the first. */
export class YamlSyntaxError extends Error {
  constructor(problem: string, line: number) {
    super(line === 0 ? problem : `line ${line}: ${problem}`);
  }
}

interface SimpleKey {
  isPossible: boolean;
  readonly isRequired: boolean;
  readonly number: number;
  readonly at: number;
  readonly line: number;
  readonly column: number;
}

const noKey: SimpleKey = { isPossible: false, isRequired: false, number: -1, at: 0, line: 0, column: 0 };

/** Deeper is refused. */
const depthMax = 10_000;
/** An implicit key ends on its line, within so many characters. */
const keyCharactersMax = 1024;

export class YamlScanner {
  private readonly text: string;
  private at = 0;
  private line = 0;
  private lineStart = 0;
  private readonly queue: Token[] = [];
  private head = 0;
  private parsedCount = 0;
  private flowLevel = 0;
  private indent = -1;
  private readonly indents: number[] = [];
  private mayBeginKey = true;
  private isOver = false;
  private readonly keys: SimpleKey[] = [{ ...noKey }];
  private readonly keyByToken = new Map<number, SimpleKey>();

  constructor(text: string) {
    this.text = text;
  }

  /** The next token, which stays the next. Throws `YamlSyntaxError`. */
  peek(): Token {
    this.fetch();
    return this.queue[this.head] as Token;
  }

  skip(): void {
    this.head++;
    this.parsedCount++;
    if (this.head < 1024) return;
    this.queue.splice(0, this.head);
    this.head = 0;
  }

  private get column(): number {
    return this.at - this.lineStart;
  }

  private fail(problem: string, contextLine: number): never {
    const line = this.line !== 0 ? this.line + 1 : contextLine;
    throw new YamlSyntaxError(problem, line);
  }

  private codeAfter(): number {
    this.at++;
    return this.code();
  }

  /** As long as the first token in the queue may turn out to be a key, more are needed. */
  private fetch(): void {
    for (;;) {
      if (this.head !== this.queue.length) {
        const key = this.keyByToken.get(this.parsedCount);
        if (key === undefined || !this.isStillKey(key)) return;
      }
      this.fetchNext();
    }
  }

  private isStillKey(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    if (key.line === this.line && key.at + keyCharactersMax >= this.at) return true;
    if (key.isRequired) this.fail("could not find expected ':'", key.line);
    key.isPossible = false;
    this.keyByToken.delete(key.number);
    return false;
  }

  private code(ahead = 0): number {
    const at = this.at + ahead;
    return at < this.text.length ? this.text.charCodeAt(at) : end;
  }

  private fetchNext(): void {
    this.skipToToken();
    this.unroll(this.column);
    const code = this.code();
    if (code === end) this.streamEnd();
    else if (this.column === 0 && code === percent) this.directive();
    else if (this.isDocumentMark(hyphen)) this.documentMark("document start");
    else if (this.isDocumentMark(dot)) this.documentMark("document end");
    else this.content(code);
  }

  private content(code: number): void {
    const isBlock = this.flowLevel === 0;
    const isEnd = isBlankOrEnd(this.code(1));
    if (code === 0x5b || code === 0x7b) this.flowStart(code === 0x5b ? "[" : "{");
    else if (code === 0x5d || code === 0x7d) this.flowEnd(code === 0x5d ? "]" : "}");
    else if (code === comma) this.flowEntry();
    else if (code === hyphen && isEnd) this.blockEntry();
    else if (code === question && (!isBlock || isEnd)) this.explicitKey();
    else if (code === colon && (!isBlock || isEnd)) this.value();
    else if (code === 0x2a || code === 0x26) this.anchor(code === 0x2a ? "alias" : "anchor");
    else if (code === exclamation) this.tag();
    else if (isBlock && (code === 0x7c || code === 0x3e)) this.blockScalar(code === 0x7c);
    else if (code === 0x27 || code === 0x22) this.quoted(code === 0x27);
    else if (
      !notPlainStart.has(code) ||
      (code === hyphen && !isBlank(this.code(1))) ||
      (isBlock && (code === question || code === colon) && !isEnd)
    ) {
      this.plain();
    } else this.fail("found character that cannot start any token", this.line);
  }

  private add(kind: TokenKind, line: number, text = "", handle = ""): void {
    this.queue.push({ kind, line, endLine: this.line, text, handle, isPlain: false });
  }

  private nextNumber(): number {
    return this.parsedCount + (this.queue.length - this.head);
  }

  private saveKey(): void {
    if (!this.mayBeginKey) return;
    const isRequired = this.flowLevel === 0 && this.indent === this.column;
    this.removeKey();
    const number = this.nextNumber();
    const key = { isPossible: true, isRequired, number, at: this.at, line: this.line, column: this.column };
    this.keys[this.keys.length - 1] = key;
    this.keyByToken.set(number, key);
  }

  private removeKey(): void {
    const key = this.keys[this.keys.length - 1] as SimpleKey;
    if (!key.isPossible) return;
    if (key.isRequired) this.fail("could not find expected ':'", key.line);
    key.isPossible = false;
    this.keyByToken.delete(key.number);
  }

  private roll(column: number, number: number, kind: TokenKind, line: number): void {
    if (this.flowLevel > 0 || this.indent >= column) return;
    this.indents.push(this.indent);
    this.indent = column;
    if (this.indents.length > depthMax) this.fail(`exceeded max depth of ${depthMax}`, line);
    const token: Token = { kind, line, endLine: line, text: "", handle: "", isPlain: false };
    if (number < 0) this.queue.push(token);
    else this.queue.splice(this.head + number - this.parsedCount, 0, token);
  }

  private unroll(column: number): void {
    if (this.flowLevel > 0) return;
    while (this.indent > column) {
      this.add("block end", this.line);
      this.indent = this.indents.pop() ?? -1;
    }
  }

  private streamEnd(): void {
    if (this.isOver) {
      this.add("stream end", this.line);
      return;
    }
    this.isOver = true;
    if (this.column !== 0) {
      this.lineStart = this.at;
      this.line++;
    }
    this.unroll(-1);
    this.removeKey();
    this.mayBeginKey = false;
    this.add("stream end", this.line);
  }

  private directive(): void {
    this.unroll(-1);
    this.removeKey();
    this.mayBeginKey = false;
    const { line, at } = this;
    while (!isBreakOrEnd(this.code())) this.at++;
    this.add("directive", line, this.text.slice(at + 1, this.at).replace(/[ \t]+#.*$/, ""));
  }

  private isDocumentMark(code: number): boolean {
    return (
      this.at === this.lineStart &&
      this.code() === code &&
      this.code(1) === code &&
      this.code(2) === code &&
      isBlankOrEnd(this.code(3))
    );
  }

  private documentMark(kind: TokenKind): void {
    this.unroll(-1);
    this.removeKey();
    this.mayBeginKey = false;
    this.at += 3;
    this.add(kind, this.line);
  }

  private flowStart(kind: "[" | "{"): void {
    this.saveKey();
    this.keys.push({ ...noKey });
    if (++this.flowLevel > depthMax) this.fail(`exceeded max depth of ${depthMax}`, this.line);
    this.mayBeginKey = true;
    this.at++;
    this.add(kind, this.line);
  }

  private flowEnd(kind: "]" | "}"): void {
    this.removeKey();
    if (this.flowLevel > 0) {
      this.flowLevel--;
      this.keyByToken.delete((this.keys.pop() as SimpleKey).number);
    }
    this.mayBeginKey = false;
    this.at++;
    this.add(kind, this.line);
  }

  private flowEntry(): void {
    this.removeKey();
    this.mayBeginKey = true;
    this.at++;
    this.add(",", this.line);
  }

  private blockEntry(): void {
    if (this.flowLevel === 0) {
      if (!this.mayBeginKey) this.fail("block sequence entries are not allowed in this context", this.line);
      this.roll(this.column, -1, "block sequence start", this.line);
    }
    this.removeKey();
    this.mayBeginKey = true;
    this.at++;
    this.add("-", this.line);
  }

  private explicitKey(): void {
    if (this.flowLevel === 0) {
      if (!this.mayBeginKey) this.fail("mapping keys are not allowed in this context", this.line);
      this.roll(this.column, -1, "block mapping start", this.line);
    }
    this.removeKey();
    this.mayBeginKey = this.flowLevel === 0;
    this.at++;
    this.add("?", this.line);
  }

  private value(): void {
    const key = this.keys[this.keys.length - 1] as SimpleKey;
    if (this.isStillKey(key)) {
      const token: Token = { kind: "?", line: key.line, endLine: key.line, text: "", handle: "", isPlain: false };
      this.queue.splice(this.head + key.number - this.parsedCount, 0, token);
      this.roll(key.column, key.number, "block mapping start", key.line);
      key.isPossible = false;
      this.keyByToken.delete(key.number);
      this.mayBeginKey = false;
    } else {
      if (this.flowLevel === 0) {
        if (!this.mayBeginKey) this.fail("mapping values are not allowed in this context", this.line);
        this.roll(this.column, -1, "block mapping start", this.line);
      }
      this.mayBeginKey = this.flowLevel === 0;
    }
    this.at++;
    this.add(":", this.line);
  }

  private anchor(kind: "alias" | "anchor"): void {
    this.saveKey();
    this.mayBeginKey = false;
    const { line } = this;
    const start = ++this.at;
    while (isWordCode(this.code())) this.at++;
    const code = this.code();
    if (this.at === start || !(isBlankOrEnd(code) || afterAnchor.has(code))) {
      this.fail("did not find expected alphabetic or numeric character", line);
    }
    this.add(kind, line, this.text.slice(start, this.at));
  }

  private tag(): void {
    this.saveKey();
    this.mayBeginKey = false;
    const { line } = this;
    let handle = "";
    let suffix: string;
    if (this.code(1) === 0x3c) {
      this.at += 2;
      suffix = this.tagUri("", line);
      if (this.code() !== 0x3e) this.fail("did not find the expected '>'", line);
      this.at++;
    } else {
      const start = this.at++;
      while (isWordCode(this.code())) this.at++;
      if (this.code() === exclamation) {
        this.at++;
        handle = this.text.slice(start, this.at);
        suffix = this.tagUri("", line);
      } else {
        suffix = this.tagUri(this.text.slice(start, this.at), line);
        handle = suffix === "" ? "" : "!";
        if (suffix === "") suffix = "!";
      }
    }
    if (!isBlankOrEnd(this.code())) this.fail("did not find expected whitespace or line break", line);
    this.add("tag", line, suffix, handle);
  }

  private tagUri(head: string, line: number): string {
    const start = this.at;
    while (isUriCode(this.code())) this.at++;
    const read = this.text.slice(start, this.at);
    if (head === "" && read === "") this.fail("did not find expected tag URI", line);
    if (/%(?![0-9a-fA-F]{2})/.test(read)) this.fail("did not find URI escaped octet", line);
    try {
      return head.slice(1) + decodeURIComponent(read);
    } catch {
      return this.fail("found an incorrect leading UTF-8 octet", line);
    }
  }

  private skipToToken(): void {
    for (;;) {
      let code = this.code();
      if (code === 0xfeff && this.at === this.lineStart) code = this.codeAfter();
      while (code === space || (code === tab && (this.flowLevel > 0 || !this.mayBeginKey))) {
        code = this.codeAfter();
      }
      if (code === hash) while (!isBreakOrEnd(code)) code = this.codeAfter();
      if (!isBreak(code)) return;
      this.breakLine();
      if (this.flowLevel === 0) this.mayBeginKey = true;
    }
  }

  /** Goes over a line's end, and gives it as content has it. */
  private breakLine(): string {
    const code = this.code();
    this.at += code === 13 && this.code(1) === 10 ? 2 : 1;
    this.line++;
    this.lineStart = this.at;
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : "\n";
  }

  private blockScalar(isLiteral: boolean): void {
    this.removeKey();
    this.mayBeginKey = true;
    const { line } = this;
    this.at++;
    let chomping = 0;
    let increment = 0;
    const sign = (): void => {
      const code = this.code();
      if (code !== 0x2b && code !== hyphen) return;
      chomping = code === 0x2b ? 1 : -1;
      this.at++;
    };
    sign();
    const digit = this.code() - 0x30;
    if (digit >= 0 && digit <= 9) {
      if (digit === 0) this.fail("found an indentation indicator equal to 0", line);
      increment = digit;
      this.at++;
      if (chomping === 0) sign();
    }
    while (isBlank(this.code())) this.at++;
    if (this.code() === hash) while (!isBreakOrEnd(this.code())) this.at++;
    if (!isBreakOrEnd(this.code())) this.fail("did not find expected comment or line break", line);
    if (isBreak(this.code())) this.breakLine();
    let indent = increment === 0 ? 0 : Math.max(this.indent, 0) + increment;
    const parts: string[] = [];
    let leadingBreak = "";
    let isLeadingBlank = false;
    let trailing = "";
    [indent, trailing] = this.blockBreaks(indent, line);
    while (this.column === indent && this.code() !== end) {
      const isTrailingBlank = isBlank(this.code());
      const folds = !isLiteral && !isLeadingBlank && !isTrailingBlank && leadingBreak === "\n";
      if (!folds) parts.push(leadingBreak);
      else if (trailing === "") parts.push(" ");
      parts.push(trailing);
      isLeadingBlank = isTrailingBlank;
      const start = this.at;
      while (!isBreakOrEnd(this.code())) this.at++;
      parts.push(this.text.slice(start, this.at));
      leadingBreak = isBreak(this.code()) ? this.breakLine() : "";
      [indent, trailing] = this.blockBreaks(indent, line);
    }
    if (chomping !== -1) parts.push(leadingBreak);
    if (chomping === 1) parts.push(trailing);
    this.add("scalar", line, parts.join(""));
  }

  /** Over empty lines to where the content begins; `indent` 0 is found out. */
  private blockBreaks(indent: number, line: number): [indent: number, breaks: string] {
    const breaks: string[] = [];
    let widest = 0;
    for (;;) {
      while ((indent === 0 || this.column < indent) && this.code() === space) this.at++;
      widest = Math.max(widest, this.column);
      if ((indent === 0 || this.column < indent) && this.code() === tab) {
        this.fail("found a tab character where an indentation space is expected", line);
      }
      if (!isBreak(this.code())) break;
      breaks.push(this.breakLine());
    }
    return [indent === 0 ? Math.max(widest, this.indent + 1, 1) : indent, breaks.join("")];
  }

  private quoted(isSingle: boolean): void {
    this.saveKey();
    this.mayBeginKey = false;
    const { line } = this;
    const quote = this.code();
    this.at++;
    const parts: string[] = [];
    for (;;) {
      if (this.isDocumentMark(hyphen) || this.isDocumentMark(dot)) {
        this.fail("found unexpected document indicator", line);
      }
      if (this.code() === end) this.fail("found unexpected end of stream", line);
      const continues = this.quotedWords(isSingle, quote, parts, line);
      if (this.code() === quote) break;
      this.joinLines(parts, continues);
    }
    this.at++;
    this.add("scalar", line, parts.join(""));
  }

  /** Up to a blank, a break or the end. True after a line's end that was escaped. */
  private quotedWords(isSingle: boolean, quote: number, parts: string[], line: number): boolean {
    let start = this.at;
    const flush = (): void => {
      if (this.at > start) parts.push(this.text.slice(start, this.at));
    };
    for (;;) {
      const code = this.code();
      if (isBlankOrEnd(code)) break;
      if (isSingle && code === quote && this.code(1) === quote) {
        this.at++;
        flush();
        start = ++this.at;
      } else if (code === quote) break;
      else if (!isSingle && code === backslash) {
        flush();
        if (isBreak(this.code(1))) {
          this.at++;
          this.breakLine();
          return true;
        }
        parts.push(this.escape(line));
        start = this.at;
      } else this.at++;
    }
    flush();
    return false;
  }

  private escape(line: number): string {
    const letter = this.text[this.at + 1] ?? "";
    const plain = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (plain !== undefined) {
      this.at += 2;
      return plain;
    }
    const digits = Object.hasOwn(hexDigits, letter) ? hexDigits[letter] : undefined;
    if (digits === undefined) this.fail("found unknown escape character", line);
    this.at += 2;
    let value = 0;
    for (let at = this.at; at < this.at + digits; at++) {
      const digit = hexValue(this.text.charCodeAt(at));
      if (digit === undefined) this.fail("did not find expected hexdecimal number", line);
      value = value * 16 + digit;
    }
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
      this.fail("found invalid Unicode character escape code", line);
    }
    this.at += digits;
    return String.fromCodePoint(value);
  }

  /** Blanks and breaks within a scalar: several breaks but one, one as a space. */
  private joinLines(parts: string[], isLeading: boolean): void {
    let hasBreak = isLeading;
    let first = "";
    const more: string[] = [];
    const start = this.at;
    for (let code = this.code(); isBlank(code) || isBreak(code); code = this.code()) {
      if (isBlank(code)) this.at++;
      else if (hasBreak) more.push(this.breakLine());
      else {
        first = this.breakLine();
        hasBreak = true;
      }
    }
    if (!hasBreak) parts.push(this.text.slice(start, this.at));
    else parts.push(joined(first, more));
  }

  private plain(): void {
    this.saveKey();
    this.mayBeginKey = false;
    const { line } = this;
    const indent = this.indent + 1;
    const parts: string[] = [];
    let gap = "";
    let hasBreak = false;
    let endLine = line;
    for (;;) {
      if (this.isDocumentMark(hyphen) || this.isDocumentMark(dot) || this.code() === hash) break;
      const start = this.at;
      while (!this.endsPlain()) this.at++;
      if (this.at > start) {
        parts.push(gap, this.text.slice(start, this.at));
        gap = "";
        hasBreak = false;
        endLine = this.line;
      }
      if (!(isBlank(this.code()) || isBreak(this.code()))) break;
      let first = "";
      const more: string[] = [];
      const blanks = this.at;
      for (let code = this.code(); isBlank(code) || isBreak(code); code = this.code()) {
        if (isBlank(code)) {
          if (hasBreak && this.column < indent && code === tab) {
            this.fail("found a tab character that violates indentation", line);
          }
          this.at++;
        } else if (hasBreak) more.push(this.breakLine());
        else {
          first = this.breakLine();
          hasBreak = true;
        }
      }
      gap = hasBreak ? joined(first, more) : this.text.slice(blanks, this.at);
      if (this.flowLevel === 0 && this.column < indent) break;
    }
    this.queue.push({ kind: "scalar", line, endLine, text: parts.join(""), handle: "", isPlain: true });
    if (hasBreak) this.mayBeginKey = true;
  }

  private endsPlain(): boolean {
    const code = this.code();
    if (isBlankOrEnd(code)) return true;
    if (code === colon && isBlankOrEnd(this.code(1))) return true;
    if (this.flowLevel === 0 || code > 0x7d) return false;
    return (
      code === comma ||
      code === 0x5b ||
      code === 0x5d ||
      code === 0x7b ||
      code === 0x7d ||
      (code === question && isBlankOrEnd(this.code(1)))
    );
  }
}

const joined = (first: string, more: readonly string[]): string =>
  first === "\n" ? (more.length === 0 ? " " : more.join("")) : first + more.join("");

/** Beyond the text. */
const end = -1;
const space = 0x20;
const tab = 0x09;
const hash = 0x23;
const percent = 0x25;
const comma = 0x2c;
const hyphen = 0x2d;
const dot = 0x2e;
const colon = 0x3a;
const question = 0x3f;
const exclamation = 0x21;
const backslash = 0x5c;

const codes = (text: string): ReadonlySet<number> => new Set([...text].map((each) => each.charCodeAt(0)));
const notPlainStart = codes(" \t\r\n\x85\u2028\u2029-?:,[]{}#&*!|>'\"%@`");
const afterAnchor = codes("?:,]}%@`");
const uriMarks = codes(";/?:@&=+$,.!~*'()[]%");

const isBlank = (code: number): boolean => code === space || code === tab;
const isBreak = (code: number): boolean =>
  code === 10 || code === 13 || (code > 0x7f && (code === 0x85 || code === 0x2028 || code === 0x2029));
const isBreakOrEnd = (code: number): boolean => isBreak(code) || code === end;
const isBlankOrEnd = (code: number): boolean => isBlank(code) || isBreakOrEnd(code);
const isWordCode = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f ||
  code === hyphen;
const isUriCode = (code: number): boolean => isWordCode(code) || uriMarks.has(code);

const hexDigits: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Of a digit's character code; undefined for any other. Texts of half a million escapes are read in one go. */
function hexValue(code: number): number | undefined {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : undefined;
}

const escapes: Readonly<Record<string, string>> = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  t: "\t",
  "\t": "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  e: "\x1b",
  " ": " ",
  '"': '"',
  "'": "'",
  "\\": "\\",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

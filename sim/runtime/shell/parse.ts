/**
 * Reads a POSIX shell script, a command at a time. Bounded: nesting beyond `DEPTH_MAX` is an error, and so is a command of more
 * than `PARTS_MAX` parts, and every character is looked at a bounded number of times. Not read: aliases, `function name {`,
 * arrays and whatever else is no POSIX shell.
 */
import {
  type Command,
  type ParameterOperation,
  type Redirection,
  ShellSyntaxError,
  type Word,
  type WordPart,
} from "./syntax.ts";

const DEPTH_MAX = 64;
const SCRIPT_BYTES_MAX = 1 << 20;
/** Commands, parts of words and redirections of one command with all that is in it: some tens of milliseconds. */
const PARTS_MAX = 50_000;
/** Characters that are looked at again, for the end of an arithmetic expression, count as one part. */
const CHARS_OF_A_PART = 64;
const reserved = new Set([
  "if",
  "then",
  "else",
  "elif",
  "fi",
  "do",
  "done",
  "case",
  "esac",
  "while",
  "until",
  "for",
  "{",
  "}",
  "!",
  "in",
]);
const closers = new Set(["then", "else", "elif", "fi", "do", "done", "esac", "}"]);

/** Yields after each command of the script. Throws `ShellSyntaxError`. */
export function* parseScript(text: string): Generator<undefined, Command> {
  if (text.length > SCRIPT_BYTES_MAX) throw new ShellSyntaxError("the script is too long");
  const room = { left: PARTS_MAX };
  const parser = new Parser(text, room);
  const items: ListItem[] = [];
  while (parser.item(items)) {
    room.left = PARTS_MAX;
    yield;
  }
  if (!parser.atEnd()) throw parser.unexpected();
  return listOf(items);
}

interface ListItem {
  readonly command: Command;
  readonly background: boolean;
}

const listOf = (items: readonly ListItem[]): Command =>
  items.length === 1 && items[0]?.background === false ? items[0].command : { is: "list", items };

interface HereDocument {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly stripTabs: boolean;
  readonly redirection: { body: Word };
}

class Parser {
  private readonly text: string;
  private at = 0;
  private peekedAt = -1;
  private peeked = "";
  private depth = 0;
  private readonly pendingHere: HereDocument[] = [];
  /** How many more parts the command may have: shared with the parsers of texts in it. */
  private readonly room: { left: number };

  constructor(text: string, room: { left: number }) {
    this.text = text;
    this.room = room;
  }

  private count(parts = 1): void {
    this.room.left -= parts;
    if (this.room.left < 0) throw new ShellSyntaxError("a command of the script is too long");
  }

  atEnd(): boolean {
    this.blanks(true);
    return this.at >= this.text.length;
  }

  unexpected(): ShellSyntaxError {
    const line = this.text.slice(0, this.at).split("\n").length;
    if (this.at >= this.text.length) return new ShellSyntaxError(`${line}: Syntax error: end of file unexpected`);
    const token = /^(?:[;&|()<>]+|[^\s;&|()<>]+)/.exec(this.text.slice(this.at, this.at + 64))?.[0] ?? "newline";
    return new ShellSyntaxError(`${line}: Syntax error: "${token}" unexpected`);
  }

  list(): Command {
    return this.nested(() => {
      const items: ListItem[] = [];
      while (this.item(items));
      return listOf(items);
    });
  }

  /** Reads the next command of a list, if there is one. Whether another may follow. */
  item(items: ListItem[]): boolean {
    this.blanks(true);
    if (this.at >= this.text.length || this.text[this.at] === ")" || this.looksAt(";;") || closers.has(this.peekWord()))
      return false;
    const command = this.andOr();
    this.blanks(false);
    const background = this.text[this.at] === "&";
    items.push({ command, background });
    if (background) this.at++;
    else if (this.text[this.at] === ";" && !this.looksAt(";;")) this.at++;
    else if (this.text[this.at] !== "\n") return false;
    return true;
  }

  private andOr(): Command {
    let left = this.pipeline();
    for (;;) {
      this.blanks(false);
      const is = this.looksAt("&&") ? "and" : this.looksAt("||") ? "or" : undefined;
      if (is === undefined) return left;
      this.at += 2;
      this.blanks(true);
      left = { is, left, right: this.pipeline() };
    }
  }

  private pipeline(): Command {
    this.blanks(false);
    if (this.peekWord() === "!") {
      this.at++;
      return { is: "not", body: this.nested(() => this.pipeline()) };
    }
    const parts = [this.command()];
    for (;;) {
      this.blanks(false);
      if (this.text[this.at] !== "|" || this.looksAt("||")) break;
      this.at++;
      this.blanks(true);
      parts.push(this.command());
    }
    return parts.length === 1 ? (parts[0] as Command) : { is: "pipe", parts };
  }

  private command(): Command {
    this.count();
    this.blanks(false);
    if (this.text[this.at] === "(") {
      this.at++;
      const body = this.body();
      this.expect(")");
      return { is: "subshell", body, redirections: this.redirections() };
    }
    switch (this.peekWord()) {
      case "{": {
        this.at++;
        const body = this.body();
        this.keyword("}");
        return { is: "group", body, redirections: this.redirections() };
      }
      case "if":
        return this.ifCommand();
      case "while":
      case "until": {
        const until = this.peekWord() === "until";
        this.at += 5;
        const condition = this.body();
        const body = this.doGroup();
        return { is: "while", until, condition, body, redirections: this.redirections() };
      }
      case "for":
        return this.forCommand();
      case "case":
        return this.caseCommand();
      default:
        if (closers.has(this.peekWord())) throw this.unexpected();
        return this.simple();
    }
  }

  private ifCommand(): Command {
    this.at += 2;
    const arms: { condition: Command; body: Command }[] = [];
    let otherwise: Command | undefined;
    for (;;) {
      const condition = this.body();
      this.keyword("then");
      arms.push({ condition, body: this.body() });
      const word = this.peekWord();
      if (word === "elif") {
        this.at += 4;
        continue;
      }
      if (word === "else") {
        this.at += 4;
        otherwise = this.body();
      }
      this.keyword("fi");
      return { is: "if", arms, otherwise, redirections: this.redirections() };
    }
  }

  private forCommand(): Command {
    this.at += 3;
    this.blanks(false);
    const name = this.peekWord();
    if (!/^[A-Za-z_]\w*$/.test(name)) throw this.unexpected();
    this.at += name.length;
    this.blanks(true);
    let words: Word[] | undefined;
    if (this.peekWord() === "in") {
      this.at += 2;
      words = [];
      for (let word = this.wordHere(); word !== undefined; word = this.wordHere()) words.push(word);
    }
    this.blanks(false);
    if (this.text[this.at] === ";") this.at++;
    return { is: "for", name, words, body: this.doGroup(), redirections: this.redirections() };
  }

  private caseCommand(): Command {
    this.at += 4;
    const word = this.wordHere();
    if (word === undefined) throw this.unexpected();
    this.blanks(true);
    this.keyword("in");
    const arms: { patterns: Word[]; body: Command }[] = [];
    for (;;) {
      this.blanks(true);
      if (this.peekWord() === "esac") break;
      if (this.text[this.at] === "(") this.at++;
      const patterns: Word[] = [];
      for (;;) {
        const pattern = this.wordHere();
        if (pattern === undefined) throw this.unexpected();
        patterns.push(pattern);
        this.blanks(false);
        if (this.text[this.at] !== "|") break;
        this.at++;
      }
      this.expect(")");
      const body = this.list();
      arms.push({ patterns, body });
      this.blanks(true);
      if (!this.looksAt(";;")) break;
      this.at += 2;
    }
    this.keyword("esac");
    return { is: "case", word, arms, redirections: this.redirections() };
  }

  private doGroup(): Command {
    this.blanks(true);
    this.keyword("do");
    const body = this.body();
    this.keyword("done");
    return body;
  }

  /** A list with something in it. */
  private body(): Command {
    const list = this.list();
    if (list.is === "list" && list.items.length === 0) throw this.unexpected();
    return list;
  }

  private simple(): Command {
    const assignments: { name: string; value: Word }[] = [];
    const words: Word[] = [];
    const redirections: Redirection[] = [];
    for (;;) {
      const redirection = this.redirection();
      if (redirection !== undefined) {
        redirections.push(redirection);
        continue;
      }
      const assignment = words.length === 0 ? this.here(/[A-Za-z_]\w{0,254}=/y) : undefined;
      if (assignment !== undefined) {
        this.at += assignment.length;
        assignments.push({ name: assignment.slice(0, -1), value: this.word() });
        continue;
      }
      const start = this.at;
      const word = this.wordHere();
      if (word === undefined) break;
      words.push(word);
      if (words.length === 1 && assignments.length === 0) {
        const name = this.text.slice(start, this.at).trim();
        this.blanks(false);
        if (this.text[this.at] === "(" && /^[A-Za-z_]\w*$/.test(name)) return this.functionNamed(name);
      }
    }
    if (words.length === 0 && assignments.length === 0 && redirections.length === 0) throw this.unexpected();
    return { is: "simple", assignments, words, redirections };
  }

  private functionNamed(name: string): Command {
    this.at++;
    this.expect(")");
    this.blanks(true);
    return { is: "function", name, body: this.nested(() => this.command()) };
  }

  private redirections(): Redirection[] {
    const found: Redirection[] = [];
    for (let next = this.redirection(); next !== undefined; next = this.redirection()) found.push(next);
    return found;
  }

  private redirection(): Redirection | undefined {
    this.blanks(false);
    const char = this.text[this.at];
    if (char === undefined || !"<>0123456789".includes(char)) return undefined;
    const match = /^(\d?)(>>|>&|>\||<<-|<<|<&|<>|>|<)/.exec(this.text.slice(this.at, this.at + 4));
    if (match === null) return undefined;
    this.count();
    this.at += match[0].length;
    const operator = match[2] as string;
    const number = match[1] === "" ? (operator.startsWith("<") ? 0 : 1) : Number(match[1]);
    const start = this.at;
    const target = this.wordHere();
    if (target === undefined) throw this.unexpected();
    switch (operator) {
      case "<<":
      case "<<-": {
        const raw = this.text.slice(start, this.at).trim();
        const redirection = { is: "here" as const, number, body: [] as Word };
        const delimiter = raw.replace(/['"\\]/g, "");
        this.pendingHere.push({ delimiter, quoted: raw !== delimiter, stripTabs: operator === "<<-", redirection });
        return redirection;
      }
      case ">&":
      case "<&":
        return { is: "duplicate", number, target };
      default:
        return { is: operator === ">|" ? ">" : (operator as "<" | ">" | ">>" | "<>"), number, target };
    }
  }

  private readHereDocuments(): void {
    for (const here of this.pendingHere.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        if (this.at >= this.text.length) break;
        const end = this.text.indexOf("\n", this.at);
        let line = this.text.slice(this.at, end < 0 ? undefined : end);
        this.at = end < 0 ? this.text.length : end + 1;
        if (here.stripTabs) line = line.replace(/^\t+/, "");
        if (line === here.delimiter) break;
        lines.push(`${line}\n`);
      }
      const body = lines.join("");
      here.redirection.body = here.quoted ? [{ is: "text", text: body, quoted: true }] : this.textWord(body, true);
    }
  }

  /** The next word, undefined where none is. Reserved words count as words here. */
  private wordHere(): Word | undefined {
    this.blanks(false);
    const char = this.text[this.at];
    if (char === undefined || "\n;&|()<>".includes(char)) return undefined;
    return this.word();
  }

  /** Up to an unquoted delimiter; may be empty, as in `x= `. */
  private word(): Word {
    const parts: WordPart[] = [];
    for (;;) {
      const char = this.text[this.at];
      if (char === undefined || " \t\n;&|()<>".includes(char)) return parts;
      this.part(parts, false);
    }
  }

  private part(parts: WordPart[], quoted: boolean): void {
    this.count();
    const char = this.text[this.at] as string;
    switch (char) {
      case "\\": {
        const next = this.text[this.at + 1];
        this.at += 2;
        if (next === "\n") return;
        if (quoted && next !== undefined && !'$`"\\'.includes(next)) push(parts, `\\${next}`, true);
        else push(parts, next ?? "\\", true);
        return;
      }
      case "'": {
        if (quoted) break;
        const end = this.text.indexOf("'", this.at + 1);
        if (end < 0) throw new ShellSyntaxError("Syntax error: Unterminated quoted string");
        parts.push({ is: "text", text: this.text.slice(this.at + 1, end), quoted: true });
        this.at = end + 1;
        return;
      }
      case '"': {
        if (quoted) break;
        this.at++;
        parts.push({ is: "text", text: "", quoted: true });
        for (;;) {
          if (this.at >= this.text.length) throw new ShellSyntaxError("Syntax error: Unterminated quoted string");
          if (this.text[this.at] === '"') break;
          this.part(parts, true);
        }
        this.at++;
        return;
      }
      case "`": {
        const end = unescapedBackquote(this.text, this.at + 1);
        const body = this.text.slice(this.at + 1, end).replace(/\\([`\\$])/g, "$1");
        this.at = end + 1;
        parts.push({ is: "substitution", body: this.parseInner(body), quoted });
        return;
      }
      case "$":
        if (this.dollar(parts, quoted)) return;
        break;
      default: {
        // A run of plain characters at once.
        const run = this.here(quoted ? /[^\\"'`$]{1,4096}/y : /[^\\"'`$\s;&|()<>]{1,4096}/y);
        if (run !== undefined) {
          push(parts, run, quoted);
          this.at += run.length;
          return;
        }
      }
    }
    push(parts, char, quoted);
    this.at++;
  }

  private parseInner(text: string): Command {
    return this.nested(() => {
      const inner = new Parser(text, this.room);
      inner.depth = this.depth;
      const body = inner.list();
      if (!inner.atEnd()) throw inner.unexpected();
      return body;
    });
  }

  private dollar(parts: WordPart[], quoted: boolean): boolean {
    const rest = this.text.slice(this.at + 1, this.at + 257);
    if (rest.startsWith("((")) {
      const { end, isArithmetic } = closingArithmetic(this.text, this.at + 3);
      this.count(Math.ceil((end - this.at) / CHARS_OF_A_PART));
      if (isArithmetic) {
        const word = this.textWord(this.text.slice(this.at + 3, end), false);
        parts.push({ is: "arithmetic", word, quoted });
        this.at = end + 2;
        return true;
      }
    }
    if (rest.startsWith("(")) {
      this.at += 2;
      const body = this.list();
      this.expect(")");
      parts.push({ is: "substitution", body, quoted });
      return true;
    }
    if (rest.startsWith("{")) {
      this.at += 2;
      parts.push(this.nested(() => this.braced(quoted)));
      return true;
    }
    const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(rest)?.[0];
    if (name === undefined) return false;
    this.at += 1 + name.length;
    parts.push({ is: "parameter", name, quoted, operation: undefined });
    return true;
  }

  /** After `${`. */
  private braced(quoted: boolean): WordPart {
    const rest = this.text.slice(this.at, this.at + 256);
    const length = /^#([A-Za-z_]\w*|[0-9]+|[@*?$!-])\}/.exec(rest);
    if (length !== null) {
      this.at += length[0].length;
      return { is: "parameter", name: length[1] as string, quoted, operation: { is: "length" } };
    }
    const name = /^(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])/.exec(rest)?.[0];
    if (name === undefined) throw new ShellSyntaxError("Bad substitution");
    this.at += name.length;
    const operator = /^(?::[-=?+]|[-=?+]|%%|%|##|#)/.exec(this.text.slice(this.at, this.at + 2))?.[0];
    this.at += operator?.length ?? 0;
    const word: WordPart[] = [];
    // What is cut off is a pattern, also where the whole stands in quotes.
    const isInQuotes = quoted && !/^[%#]/.test(operator ?? "");
    while (this.at < this.text.length && this.text[this.at] !== "}") {
      if (operator === undefined) throw new ShellSyntaxError("Bad substitution");
      if (isInQuotes || this.text[this.at] !== " ") this.partInBraces(word, isInQuotes);
      else {
        push(word, " ", false);
        this.at++;
      }
    }
    if (this.at >= this.text.length) throw new ShellSyntaxError("Syntax error: Missing '}'");
    this.at++;
    return { is: "parameter", name, quoted, operation: operationOf(operator, word) };
  }

  private partInBraces(word: WordPart[], quoted: boolean): void {
    const char = this.text[this.at] as string;
    if ("\\'\"`$".includes(char)) this.part(word, quoted && char !== '"' && char !== "'");
    else {
      push(word, char, quoted);
      this.at++;
    }
  }

  private blanks(newlines: boolean): void {
    for (;;) {
      const char = this.text[this.at];
      if (char === " " || char === "\t" || char === "\r") this.at++;
      else if (char === "\\" && this.text[this.at + 1] === "\n") this.at += 2;
      else if (char === "#") {
        const end = this.text.indexOf("\n", this.at);
        this.at = end < 0 ? this.text.length : end;
      } else if (char === "\n" && (newlines || this.pendingHere.length > 0)) {
        if (!newlines) return;
        this.at++;
        this.readHereDocuments();
      } else return;
    }
  }

  /** The unquoted word that stands here, for reserved words and names; empty when there is none. */
  private peekWord(): string {
    if (this.peekedAt === this.at) return this.peeked;
    const word = this.here(/[^\s;&|()<>"'`$\\]{1,200}/y) ?? "";
    this.peeked = reserved.has(word) || /^[A-Za-z_]\w*$/.test(word) ? word : "";
    this.peekedAt = this.at;
    return this.peeked;
  }

  /** What of the text matches from here on; the pattern is a sticky one. */
  private here(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0];
  }

  private keyword(word: string): void {
    this.blanks(true);
    if (this.peekWord() !== word) throw this.unexpected();
    this.at += word.length;
  }

  private expect(char: string): void {
    this.blanks(true);
    if (this.text[this.at] !== char) throw this.unexpected();
    this.at++;
  }

  private looksAt(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  private nested<T>(parse: () => T): T {
    if (++this.depth > DEPTH_MAX) throw new ShellSyntaxError("the script nests too deep");
    const result = parse();
    this.depth--;
    return result;
  }

  /** A text whose parts are all quoted: a here-document, an arithmetic expression. */
  private textWord(text: string, escapes: boolean): Word {
    const inner = new Parser(text, this.room);
    inner.depth = this.depth;
    return inner.allQuoted(escapes);
  }

  private allQuoted(escapes: boolean): Word {
    const parts: WordPart[] = [];
    while (this.at < this.text.length) {
      const char = this.text[this.at] as string;
      if (char === '"' || (char === "\\" && !escapes)) {
        push(parts, char, true);
        this.at++;
      } else this.part(parts, true);
    }
    return parts;
  }
}

function push(parts: WordPart[], text: string, quoted: boolean): void {
  const last = parts.at(-1);
  if (last?.is === "text" && last.quoted === quoted)
    parts[parts.length - 1] = { is: "text", text: last.text + text, quoted };
  else parts.push({ is: "text", text, quoted });
}

function operationOf(operator: string | undefined, word: Word): ParameterOperation | undefined {
  if (operator === undefined) return undefined;
  if (operator.startsWith("%") || operator.startsWith("#")) return { is: operator as "%" | "%%" | "#" | "##", word };
  const colon = operator.startsWith(":");
  return { is: operator.slice(colon ? 1 : 0) as "-" | "=" | "?" | "+", colon, word };
}

function unescapedBackquote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "`") return at;
  }
  throw new ShellSyntaxError("Syntax error: EOF in backquote substitution");
}

/** Where `))` ends an arithmetic expression, or where it shows that what opens here is a subshell in a substitution. */
function closingArithmetic(text: string, from: number): { readonly end: number; readonly isArithmetic: boolean } {
  let open = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "(") open++;
    else if (text[at] === ")") {
      if (open === 0) return { end: at, isArithmetic: text[at + 1] === ")" };
      open--;
    }
  }
  return { end: text.length, isArithmetic: false };
}

/** From words to fields: parameters, substitutions, arithmetic, splitting at IFS, file names, quotes removed. */
import type { Box, Process } from "../processes/box.ts";
import { pathOf } from "../processes/call.ts";
import { ArithmeticError, evaluateArithmetic } from "./arithmetic.ts";
import { isPattern, Pattern, quotePattern, type Spend, unquotePattern } from "./pattern.ts";
import { type Run, type ShellContext, ShellError } from "./context.ts";
import type { Word, WordPart } from "./syntax.ts";

const FIELDS_MAX = 100_000;
/** Names of files, and words, that are looked at for one step. */
const NAMES_IN_STEP = 4;

/** A piece of a field: special characters of a pattern are so only where they were not quoted. */
interface Chunk {
  readonly text: string;
  readonly quoted: boolean;
  /** Split at IFS: it came out of an unquoted expansion. */
  readonly splits: boolean;
  /** The next field begins here: between the elements of "$@". */
  readonly ends?: true;
}

export class Expansion {
  /** Whether a substitution ran, whose status then is the command's. */
  substituted = false;
  private readonly shell: ShellContext;
  private readonly process: Process;
  private readonly box: Box;
  private names = 0;

  constructor(shell: ShellContext, process: Process, box: Box) {
    this.shell = shell;
    this.process = process;
    this.box = box;
  }

  /** One step of work: see `Pattern`. */
  readonly spend: Spend = () => (this.box.spend() ? undefined : { until: this.box.world.nowMicros() });

  /** Of many names or words some are a step. */
  private *named(): Run<void> {
    if (++this.names % NAMES_IN_STEP !== 0) return;
    const wait = this.spend();
    if (wait !== undefined) yield wait;
  }

  /** The fields that a word becomes. */
  *fields(word: Word): Run<readonly string[]> {
    yield* this.named();
    const only = word[0];
    if (word.length === 1 && only?.is === "text" && only.quoted) return [only.text];
    const chunks = yield* this.chunks(this.withHome(word));
    if (this.isOfNobody(word) && chunks.every(({ text }) => text === "")) return [];
    const fields: string[] = [];
    for (const pattern of this.split(chunks)) {
      const names = isPattern(pattern) && !this.shell.state.options.has("f") ? yield* this.fileNames(pattern) : [];
      if (names.length === 0) fields.push(unquotePattern(pattern));
      else for (const name of names) fields.push(name);
      if (fields.length > FIELDS_MAX) throw new ShellError("too many words");
    }
    return fields;
  }

  /** "$@" without parameters is no field at all, though it is quoted. */
  private isOfNobody(word: Word): boolean {
    if (this.shell.state.positional.length > 0) return false;
    return word.some((part) => part.is === "parameter" && part.name === "@");
  }

  /** A word as one text, neither split nor matched against files: a value, a target, the word of a `case`. */
  *single(word: Word, isValue = false): Run<string> {
    const chunks = yield* this.chunks(isValue ? this.withHome(word) : word);
    const separator = (this.shell.get("IFS") ?? " ").slice(0, 1);
    let text = "";
    for (const chunk of chunks) text += chunk.text + (chunk.ends === true ? separator : "");
    return text;
  }

  /** A word as a pattern. */
  *pattern(word: Word): Run<string> {
    let pattern = "";
    for (const { text, quoted } of yield* this.chunks(word)) pattern += quoted ? quotePattern(text) : text;
    return pattern;
  }

  private withHome(word: Word): Word {
    const first = word[0];
    if (first?.is !== "text" || first.quoted || !/^~(?:\/|$)/.test(first.text)) return word;
    return [
      { is: "text", text: this.shell.get("HOME") ?? "/root", quoted: true },
      { ...first, text: first.text.slice(1) },
      ...word.slice(1),
    ];
  }

  private *chunks(word: Word): Run<Chunk[]> {
    const chunks: Chunk[] = [];
    for (const part of word) {
      if (part.is === "text") chunks.push({ text: part.text, quoted: part.quoted, splits: false });
      else yield* this.expand(part, chunks);
    }
    return chunks;
  }

  private *expand(part: Exclude<WordPart, { is: "text" }>, chunks: Chunk[]): Run<void> {
    const { quoted } = part;
    switch (part.is) {
      case "arithmetic": {
        const text = yield* this.single(part.word);
        chunks.push({ text: this.arithmetic(text), quoted, splits: !quoted });
        return;
      }
      case "substitution":
        this.substituted = true;
        chunks.push({ text: yield* this.shell.substitute(part.body), quoted, splits: !quoted });
        return;
      case "parameter":
        yield* this.parameter(part, chunks);
    }
  }

  private arithmetic(text: string): string {
    try {
      return evaluateArithmetic(text, this.shell);
    } catch (error) {
      if (error instanceof ArithmeticError) throw new ShellError(error.message);
      throw error;
    }
  }

  private *parameter(part: Extract<WordPart, { is: "parameter" }>, chunks: Chunk[]): Run<void> {
    const { name, quoted, operation } = part;
    if ((name === "@" || name === "*") && operation === undefined) {
      this.all(name, quoted, chunks);
      return;
    }
    const value = this.valueOf(name);
    const push = (text: string): void => void chunks.push({ text, quoted, splits: !quoted });
    if (operation === undefined) {
      if (value === undefined && this.shell.state.options.has("u")) throw new ShellError(`${name}: parameter not set`);
      push(value ?? "");
      return;
    }
    switch (operation.is) {
      case "length":
        push(String((value ?? "").length));
        return;
      case "+":
        if (value !== undefined && !(operation.colon && value === ""))
          yield* this.inner(operation.word, quoted, chunks);
        else if (quoted) push("");
        return;
      case "-":
      case "=":
      case "?": {
        if (value !== undefined && !(operation.colon && value === "")) {
          push(value);
          return;
        }
        if (operation.is === "-") {
          yield* this.inner(operation.word, quoted, chunks);
          return;
        }
        const word = yield* this.single(operation.word);
        if (operation.is === "?") throw new ShellError(`${name}: ${word === "" ? "parameter not set" : word}`);
        if (!/^[A-Za-z_]/.test(name)) throw new ShellError("Bad substitution");
        this.shell.set(name, word);
        push(word);
        return;
      }
      default:
        push(yield* this.trimmed(value ?? "", operation.is, yield* this.pattern(operation.word)));
    }
  }

  /** The word of `${x:-word}`: its own quotes count, the rest splits like an expansion. */
  private *inner(word: Word, quoted: boolean, chunks: Chunk[]): Run<void> {
    for (const chunk of yield* this.chunks(word))
      chunks.push(quoted || chunk.quoted ? chunk : { ...chunk, splits: true });
    if (word.length === 0 && quoted) chunks.push({ text: "", quoted, splits: false });
  }

  private all(name: "@" | "*", quoted: boolean, chunks: Chunk[]): void {
    const { positional } = this.shell.state;
    if (quoted && name === "*") {
      chunks.push({ text: positional.join((this.shell.get("IFS") ?? " ").slice(0, 1)), quoted, splits: false });
      return;
    }
    for (const [index, text] of positional.entries()) {
      const chunk: Chunk = { text, quoted, splits: !quoted };
      chunks.push(index < positional.length - 1 ? { ...chunk, ends: true } : chunk);
    }
  }

  private valueOf(name: string): string | undefined {
    const { state } = this.shell;
    switch (name) {
      case "?":
        return String(this.shell.status);
      case "$":
        return String(this.process.pid);
      case "!":
        return this.shell.lastBackground === 0 ? "" : String(this.shell.lastBackground);
      case "#":
        return String(state.positional.length);
      case "-":
        return [...state.options].join("");
      case "0":
        return state.name;
      case "@":
      case "*":
        return state.positional.length === 0 ? undefined : state.positional.join(" ");
      default:
        return /^\d/.test(name) ? state.positional[Number(name) - 1] : this.shell.get(name);
    }
  }

  /** `%` and `#`: the shortest or the longest match cut off the end or the beginning. */
  private *trimmed(value: string, operation: "%" | "%%" | "#" | "##", text: string): Run<string> {
    const pattern = new Pattern(text);
    if (value.length > 65_536) throw new ShellError("a value is too long to be trimmed");
    const fromEnd = operation.startsWith("%");
    const longest = operation.length === 2;
    for (let tried = 0; tried <= value.length; tried++) {
      const length = longest ? value.length - tried : tried;
      const cut = fromEnd ? value.slice(value.length - length) : value.slice(0, length);
      yield* this.named();
      if (!(yield* pattern.matches(cut, this.spend))) continue;
      return fromEnd ? value.slice(0, value.length - length) : value.slice(length);
    }
    return value;
  }

  /** Fields as patterns. An unquoted expansion that is empty leaves none. */
  private split(chunks: readonly Chunk[]): readonly string[] {
    const ifs = this.shell.get("IFS") ?? " \t\n";
    const white = new Set([...ifs].filter((char) => " \t\n".includes(char)));
    const other = new Set([...ifs].filter((char) => !white.has(char)));
    const fields: string[] = [];
    let field: string | undefined;
    const end = (): void => {
      if (field !== undefined) fields.push(field);
      field = undefined;
      if (fields.length > FIELDS_MAX) throw new ShellError("too many words");
    };
    // Between two fields there is white space, one other separator, or both.
    let separated = false;
    for (const { text, quoted, splits, ends } of chunks) {
      if (!splits || ifs === "") {
        if (quoted || text !== "") {
          field = (field ?? "") + (quoted ? quotePattern(text) : text);
          separated = false;
        }
      } else {
        let from = 0;
        for (let at = 0; at <= text.length; at++) {
          const char = text[at];
          if (char !== undefined && !white.has(char) && !other.has(char)) continue;
          if (at > from) {
            field = (field ?? "") + text.slice(from, at);
            separated = false;
          }
          from = at + 1;
          if (char === undefined) break;
          if (white.has(char)) {
            if (field !== undefined) {
              end();
              separated = true;
            }
          } else {
            if (!separated) field ??= "";
            end();
            separated = false;
          }
        }
      }
      if (ends === true) {
        if (quoted) field ??= "";
        end();
      }
    }
    end();
    return fields;
  }

  private *fileNames(pattern: string): Run<readonly string[]> {
    const absolute = pattern.startsWith("/");
    let found = [absolute ? "/" : ""];
    for (const part of pattern.split("/")) {
      if (part === "") continue;
      const next: string[] = [];
      const wanted = isPattern(part) ? new Pattern(part) : undefined;
      for (const base of found) {
        const names =
          wanted === undefined
            ? [unquotePattern(part)]
            : (this.box.files.list(pathOf(this.process, base === "" ? "." : base)) ?? []);
        for (const name of names) {
          yield* this.named();
          if (name.startsWith(".") && wanted !== undefined && !part.startsWith(".")) continue;
          if (wanted !== undefined && !(yield* wanted.matches(name, this.spend))) continue;
          const path = base === "" || base.endsWith("/") ? base + name : `${base}/${name}`;
          if (this.box.files.find(pathOf(this.process, path)) !== undefined) next.push(path);
        }
      }
      found = next.slice(0, FIELDS_MAX);
    }
    return found;
  }
}

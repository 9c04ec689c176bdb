/**
 * The exact JSON reader: it keeps what `JSON.parse` drops or rounds, and its errors have the texts of Go's decoder,
 * byte for byte. `parseJsonStrict` is the faster way in. Keys like `__proto__` are plain own properties.
 * Source: document 1, field validation (duplicates); the facts, section 4 (paths) and Go's encoding/json (errors, the
 * depth of 10,000, replacement of invalid UTF-8 and of unpaired escapes by U+FFFD).
 */
import { goQuote, utf8Length } from "./go-strings.ts";
import { nothingSought, type Sought, stepInto } from "./sought-paths.ts";
import { decodeLoosely } from "./utf8.ts";

export const jsonDepthMax = 10_000;

export interface JsonDocument {
  readonly ok: true;
  /**
   * Ordinary JavaScript values, but integers that a double would change are `bigint`. Of a duplicate key the last value
   * stands. Numbers too large for a double are infinite.
   */
  readonly value: unknown;
  /**
   * Paths (`metadata.labels.a`, `spec.ports[0].name`) in the order of the text, each once; as many as `charactersMax`
   * has room for.
   */
  readonly duplicates: readonly string[];
  /** There are numbers that no double holds. */
  readonly unsafeNumbers: boolean;
  /** With the option `offsetsOf`. */
  readonly offsets?: KeyOffsets;
  /** Some bytes were no UTF-8; each stands as U+FFFD in its string. */
  readonly invalidUtf8: boolean;
}

/** Where in the text keys stand, by their paths: those asked for the first time, and duplicates the second time. */
export interface KeyOffsets {
  readonly first: ReadonlyMap<string, number>;
  readonly second: ReadonlyMap<string, number>;
}

/** Of the paths of duplicates: those of a deep text are thousands of times as long as the text. */
const charactersMax = 1_000_000;

export interface JsonSyntaxError {
  readonly ok: false;
  /** For example `unexpected end of JSON input`. */
  readonly error: string;
  /** Bytes before the offending one. */
  readonly offset: number;
}

export interface JsonReadOptions {
  /**
   * What a second object under the same key does: takes the first one's place (the default), or adds to it, as Go's
   * decoder does where a struct or a map is filled twice.
   */
  readonly duplicateObjects?: "replace" | "merge";
  /**
   * Numbers that are whole but written with a fraction or an exponent, and those that no double holds, come as symbols
   * described by what is written: where an integer is wanted, the spelling decides.
   */
  readonly spelledNumbers?: boolean;
  /** A few paths whose places in the text are wanted. */
  readonly offsetsOf?: readonly string[];
}

/** The same answers as `parseJsonStrict`, slower. No recursion. */
export function readJson(input: string | Uint8Array, options: JsonReadOptions = {}): JsonDocument | JsonSyntaxError {
  const steps = readJsonSteps(input, options);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** The same in steps, each of some thousand tokens; an escape counts as one. */
export function* readJsonSteps(
  input: string | Uint8Array,
  options: JsonReadOptions = {},
): Generator<void, JsonDocument | JsonSyntaxError> {
  const { text, invalidUtf8 } = typeof input === "string" ? { text: input, invalidUtf8: false } : decodeLoosely(input);
  try {
    return yield* new JsonReader(text, options).read(invalidUtf8);
  } catch (error) {
    if (error instanceof Rejected) return { ok: false, error: error.message, offset: error.offset };
    throw error;
  }
}

const tokensPerStep = 16_384;

class Rejected extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

type Container = Record<string, unknown> | unknown[];

interface Frame {
  readonly container: Container;
  /** Of the member that is being read: a key, or the number of items before it. */
  key: string;
  /** Keys of this text of the object; undefined while the object itself tells them. */
  readonly seen: Set<string> | undefined;
  /** Paths asked for that lead here. */
  readonly sought: readonly Sought[];
  /** Those of them that lead to the member that is being read. */
  soughtInside: readonly Sought[];
}

/** A string of many escapes `goes on` in the next step. */
type State = "value" | "value or end" | "key" | "key or end" | "after value" | "key goes on" | "value goes on";

/** Of an integer. It is infinite to a double long before; the engine takes a second for some millions. */
const digitsMax = 10_000;

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const plainPattern = /[^"\\\x00-\x1f]*/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class JsonReader {
  private readonly text: string;
  private readonly merges: boolean;
  private readonly spells: boolean;
  private readonly offsetsOf: readonly string[] | undefined;
  private at = 0;
  private readonly frames: Frame[] = [];
  private readonly duplicates = new Map<string, number>();
  private charactersLeft = charactersMax;
  private readonly firstOffsets = new Map<string, number>();
  private unsafeNumbers = false;
  private root: unknown;
  /** What has been read of a string that goes on; undefined between strings. */
  private begun: string | undefined;
  /** Of the tokens of this step. */
  private left = tokensPerStep;

  constructor(text: string, { duplicateObjects, spelledNumbers = false, offsetsOf }: JsonReadOptions) {
    this.text = text;
    this.merges = duplicateObjects === "merge";
    this.spells = spelledNumbers;
    this.offsetsOf = offsetsOf;
  }

  *read(invalidUtf8: boolean): Generator<void, JsonDocument> {
    let state: State = "value";
    for (; ; this.left--) {
      if (this.left <= 0) {
        yield;
        this.left = tokensPerStep;
      }
      if (state === "key goes on" || state === "value goes on") {
        state = state === "key goes on" ? this.member() : this.stringValue();
        continue;
      }
      this.skipSpace();
      const char = this.text[this.at];
      if (char === undefined) {
        if (state !== "after value" || this.frames.length > 0) throw this.ended();
        const { root, unsafeNumbers, duplicates, firstOffsets } = this;
        const offsets = this.offsetsOf && { offsets: { first: firstOffsets, second: duplicates } };
        return { ok: true, value: root, duplicates: [...duplicates.keys()], unsafeNumbers, ...offsets, invalidUtf8 };
      }
      state = this.step(state, char);
    }
  }

  private step(state: State, char: string): State {
    if (state === "after value") return this.afterValue(char);
    if (state === "key or end" || state === "key") {
      if (char === "}" && state === "key or end") return this.close();
      if (char !== '"') throw this.invalid("looking for beginning of object key string");
      return this.member();
    }
    if (char === "]" && state === "value or end") return this.close();
    return this.value(char);
  }

  private afterValue(char: string): State {
    const frame = this.frames.at(-1);
    if (frame === undefined) throw this.invalid("after top-level value");
    const inArray = Array.isArray(frame.container);
    if (char === ",") {
      this.at++;
      return inArray ? "value" : "key";
    }
    if (char === (inArray ? "]" : "}")) return this.close();
    throw this.invalid(inArray ? "after array element" : "after object key:value pair");
  }

  private close(): State {
    this.at++;
    this.frames.pop();
    return "after value";
  }

  private member(): State {
    const key = this.string();
    if (key === undefined) return "key goes on";
    const frame = this.frames.at(-1) as Frame;
    frame.key = key;
    const known = frame.seen === undefined ? Object.hasOwn(frame.container, frame.key) : frame.seen.has(frame.key);
    frame.seen?.add(frame.key);
    if (known) this.duplicate();
    this.seek(frame);
    this.skipSpace();
    if (this.at === this.text.length) throw this.ended();
    if (this.text[this.at] !== ":") throw this.invalid("after object key");
    this.at++;
    return "value";
  }

  private duplicate(): void {
    if (this.charactersLeft < 0) return;
    const path = this.path();
    this.charactersLeft -= path.length;
    if (!this.duplicates.has(path)) this.duplicates.set(path, this.at);
  }

  private seek(frame: Frame): void {
    if (frame.sought.length === 0) return;
    frame.soughtInside = stepInto(frame.sought, this.frames.length === 1 ? frame.key : `.${frame.key}`);
    for (const { path, length } of frame.soughtInside) {
      if (length === path.length && !this.firstOffsets.has(path)) this.firstOffsets.set(path, this.at);
    }
  }

  private value(char: string): State {
    if (char === "{" || char === "[") return this.open(char);
    if (char === '"') return this.stringValue();
    if (char === "-" || (char >= "0" && char <= "9")) this.put(this.number());
    else if (char === "t") this.put(this.literal("true", true));
    else if (char === "f") this.put(this.literal("false", false));
    else if (char === "n") this.put(this.literal("null", null));
    else throw this.invalid("looking for beginning of value");
    return "after value";
  }

  private stringValue(): State {
    const value = this.string();
    if (value === undefined) return "value goes on";
    this.put(value);
    return "after value";
  }

  private open(char: "{" | "["): State {
    if (this.frames.length === jsonDepthMax) throw this.invalid("exceeded max depth");
    const earlier = char === "{" && this.merges ? this.earlierObject() : undefined;
    const container = earlier ?? (char === "{" ? {} : []);
    if (earlier === undefined) this.put(container);
    const sought = this.soughtBelow(this.frames.at(-1));
    const seen = earlier === undefined ? undefined : new Set<string>();
    this.frames.push({ container, key: "", seen, sought, soughtInside: nothingSought });
    this.at++;
    return char === "{" ? "key or end" : "value or end";
  }

  /** What leads into the container that begins in this one, the whole text for none. */
  private soughtBelow(frame: Frame | undefined): readonly Sought[] {
    if (frame === undefined) return this.offsetsOf?.map((path) => ({ path, length: 0 })) ?? nothingSought;
    const { container, sought, soughtInside } = frame;
    return Array.isArray(container) ? stepInto(sought, `[${container.length - 1}]`) : soughtInside;
  }

  /** The object that a duplicate key already holds. */
  private earlierObject(): Record<string, unknown> | undefined {
    const frame = this.frames.at(-1);
    if (frame === undefined || Array.isArray(frame.container) || !Object.hasOwn(frame.container, frame.key))
      return undefined;
    const value = frame.container[frame.key];
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  }

  private put(value: unknown): void {
    const frame = this.frames.at(-1);
    if (frame === undefined) this.root = value;
    else if (Array.isArray(frame.container)) frame.container.push(value);
    else if (frame.key === "__proto__") {
      Object.defineProperty(frame.container, frame.key, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } else frame.container[frame.key] = value;
  }

  private literal<V>(word: string, value: V): V {
    for (let index = 1; index < word.length; index++) {
      if (this.text[this.at + index] === word[index]) continue;
      this.at += index;
      throw this.invalidOrSpace(`in literal ${word} (expecting '${word[index]}')`);
    }
    this.at += word.length;
    return value;
  }

  private number(): number | bigint | symbol {
    numberPattern.lastIndex = this.at;
    const token = numberPattern.exec(this.text)?.[0] ?? "";
    const end = this.at + token.length;
    const next = this.text[end] ?? "";
    // The pattern stops before a part that has begun and has no digits: there the error is.
    if (token === "") this.failNumber(this.at + 1, "in numeric literal");
    if (next === "." && !/[.eE]/.test(token)) this.failNumber(end + 1, "after decimal point in numeric literal");
    if ((next === "e" || next === "E") && !/[eE]/.test(token)) {
      const sign = /[+-]/.test(this.text[end + 1] ?? "") ? 1 : 0;
      this.failNumber(end + 1 + sign, "in exponent of numeric literal");
    }
    const number = Number(token);
    const isInteger = /^-?[0-9]+$/.test(token);
    if (isInteger ? !Number.isSafeInteger(number) : !Number.isFinite(number)) this.unsafeNumbers = true;
    this.at = end;
    if (this.spells && !isInteger && (Number.isInteger(number) || !Number.isFinite(number))) return Symbol(token);
    return isInteger && !Number.isSafeInteger(number) ? BigInt(token.slice(0, digitsMax)) : number;
  }

  private failNumber(at: number, context: string): never {
    this.at = at;
    throw this.invalidOrSpace(context);
  }

  /** A string, or the next part of the one that was begun; undefined: it goes on. */
  private string(): string | undefined {
    let value = this.begun ?? "";
    if (this.begun === undefined) this.at++; // the quote
    this.begun = undefined;
    for (;;) {
      plainPattern.lastIndex = this.at;
      const plain = plainPattern.exec(this.text)?.[0] ?? "";
      value += plain.toWellFormed();
      this.at += plain.length;
      const char = this.text[this.at];
      if (char === undefined) throw this.ended();
      if (char === '"') {
        this.at++;
        return value;
      }
      if (char !== "\\") throw this.invalid("in string literal");
      value += this.escape();
      if (--this.left > 0) continue;
      this.begun = value;
      return undefined;
    }
  }

  private escape(): string {
    const char = this.text[this.at + 1] ?? "";
    if (char !== "u") {
      const plain = Object.hasOwn(escapes, char) ? escapes[char] : undefined;
      this.at++;
      if (plain === undefined) throw this.invalidOrSpace("in string escape code");
      this.at++;
      return plain;
    }
    const unit = this.hexUnit();
    if (unit < 0xd800 || unit >= 0xe000) return String.fromCharCode(unit);
    const low = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.text.slice(this.at, this.at + 6))?.[1];
    if (unit >= 0xdc00 || low === undefined) return "\ufffd";
    this.at += 6;
    return String.fromCharCode(unit, Number.parseInt(low, 16));
  }

  private hexUnit(): number {
    let unit = 0;
    this.at += 2;
    for (const end = this.at + 4; this.at < end; this.at++) {
      const digit = hexDigit(this.text.charCodeAt(this.at));
      if (digit < 0) throw this.invalidOrSpace("in \\u hexadecimal character escape");
      unit = unit * 16 + digit;
    }
    return unit;
  }

  private skipSpace(): void {
    for (;;) {
      const char = this.text.charCodeAt(this.at);
      if (char !== 32 && char !== 10 && char !== 13 && char !== 9) return;
      this.at++;
    }
  }

  /** Of the member whose key was just read. */
  private path(): string {
    const steps = this.frames.map(({ container, key }, at) => {
      if (Array.isArray(container)) return `[${container.length - 1}]`;
      return at === 0 ? key : `.${key}`;
    });
    return steps.join("");
  }

  private ended(): Rejected {
    return new Rejected("unexpected end of JSON input", utf8Length(this.text));
  }

  /** At the end of the text the server feeds one space, so an unfinished word or number complains about that. */
  private invalidOrSpace(context: string): Rejected {
    if (this.at < this.text.length) return this.invalid(context);
    return new Rejected(`invalid character ' ' ${context}`, utf8Length(this.text));
  }

  private invalid(context: string): Rejected {
    return new Rejected(`invalid character ${quoteByte(firstByte(this.text, this.at))} ${context}`, this.offset());
  }

  /** Of bytes. Each that was no UTF-8 stands in the text as a lone surrogate, which takes three of them. */
  private offset(): number {
    const before = this.text.slice(0, this.at);
    let lone = 0;
    for (let at = 0; at < before.length; at++) {
      const unit = before.charCodeAt(at);
      if (unit >= 0xd800 && unit < 0xdc00 && isLow(before.charCodeAt(at + 1))) at++;
      else if (unit >= 0xdc80 && unit <= 0xdcff) lone++;
    }
    return utf8Length(before) - 2 * lone;
  }
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** The first byte of the character at `at`; of a lone surrogate, the byte that `decodeLoosely` kept in it. */
function firstByte(text: string, at: number): number {
  const code = text.codePointAt(at) as number;
  if (code >= 0xdc80 && code <= 0xdcff) return code - 0xdc00;
  return new TextEncoder().encode(String.fromCodePoint(code))[0] as number;
}

function quoteByte(byte: number): string {
  const char = String.fromCharCode(byte);
  if (char === "'") return String.raw`'\''`;
  return char === '"' ? `'"'` : `'${goQuote(char).slice(1, -1)}'`;
}

/** -1: none, as NaN is beyond the end. */
function hexDigit(char: number): number {
  if (char >= 48 && char <= 57) return char - 48;
  const letter = char | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/**
 * Strings as the real server, a Go program, writes them: `%q` in error texts, byte order of keys, and JSON with
 * `<`, `>`, `&` and the two line separators escaped.
 * Source: the facts, section 1 (strings are Go-quoted) and section 5 (JSON forms); Go's strconv and encoding/json.
 */

/** Quoted as Go's `%q`: double quotes, Go's escapes, printable Unicode kept. */
export function goQuote(text: string): string {
  if (plainAscii.test(text)) return `"${text}"`;
  const escaped = withEscapes(text.toWellFormed(), quoteEscapes);
  return `"${escaped.replace(unprintable, (char) => codeEscape(char.codePointAt(0) as number))}"`;
}

const plainAscii = /^[ !#-[\]-~]*$/;
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu; // Go prints letters, marks, numbers, punctuation, symbols and the space

type Escape = readonly [char: string, escape: string];

/** By parts: of a text of nothing else that takes an eighth of what a call for each character takes. */
function withEscapes(text: string, escapes: readonly Escape[]): string {
  let written = text;
  for (const [char, escape] of escapes) if (written.includes(char)) written = written.split(char).join(escape);
  return written;
}

function codeEscape(code: number): string {
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

const namedEscapes: readonly Escape[] = [
  ["\\", "\\\\"], // before those that bring more of them
  ['"', '\\"'],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
];
const controls = Array.from({ length: 0x20 }, (_, code): Escape => [String.fromCharCode(code), codeEscape(code)]);
/** Of what is ASCII; what has a name goes before it. */
const quoteEscapes = [...namedEscapes, ...controls];

/** Orders two strings as their UTF-8 bytes order: negative, zero or positive. UTF-16 order differs beyond U+FFFF. */
export function compareBytes(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/**
 * Puts texts in the order of their bytes, in place. The engine's own order, in which it sorts many times as fast as by a function, is
 * the same as long as no surrogate decides.
 */
export function sortByBytes(texts: string[]): string[] {
  if (isInByteOrder(texts)) return texts;
  texts.sort();
  return isInByteOrder(texts) ? texts : texts.sort(compareBytes);
}

function isInByteOrder(texts: readonly string[]): boolean {
  for (let at = 1; at < texts.length; at++)
    if (compareBytes(texts[at - 1] as string, texts[at] as string) > 0) return false;
  return true;
}

/** Lifts surrogates above the rest of the basic plane, where code points put them. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** Length in UTF-8 bytes: the unit of every limit the server states. A lone surrogate counts as U+FFFD, 3 bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      bytes += 2; // two units become four bytes
      at++;
    } else bytes += 2;
  }
  return bytes;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/**
 * Compact JSON as the server writes it. Keys keep their order, for that is the order of the type's fields; but an
 * object with keys like `10` can only be a map, whose keys stand in byte order, and JavaScript would hoist them.
 * Integers may be `bigint`. `undefined` members are left out. Any depth.
 */
export function encodeJson(value: unknown): string {
  return encode(value, "");
}

/** The same, indented by two spaces, without a newline at the end. */
export function encodePrettyJson(value: unknown): string {
  return encode(value, "  ");
}

const htmlUnsafe = /[<>&\u2028\u2029]/;
const integerKey = /"\d+":/; // may also be found inside a string: then the slow way is merely slow

function encode(value: unknown, indent: string): string {
  const quick = quickly(value, indent);
  const text = quick === undefined || integerKey.test(quick) ? writeJson(value, indent) : quick;
  return htmlUnsafe.test(text) ? withoutHtml(text) : text;
}

/** Undefined when the engine cannot: a bigint, or too deep for its stack. */
function quickly(value: unknown, indent: string): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch {
    return undefined;
  }
}

const htmlEscapes = ["<", ">", "&", "\u2028", "\u2029"].map(
  (char): Escape => [char, `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`],
);

const withoutHtml = (text: string): string => withEscapes(text, htmlEscapes);

/** In place of an item of `LazyItems`: others have their turn before the next is made. */
export const pause = Symbol("pause");

/** A list whose items are made one by one, when each is written; they are given once. */
export class LazyItems {
  readonly items: Iterator<unknown>;

  constructor(items: Iterable<unknown>) {
    this.items = items[Symbol.iterator]();
  }
}

interface OpenContainer {
  readonly close: "]" | "}";
  /** The next member, with the text of its key before it: empty in a list. Undefined: there is none. */
  readonly next: () => { readonly key: string; readonly value: unknown } | undefined;
  isFirst: boolean;
}

/** JSON.stringify without its limits: no recursion, bigint, and maps in byte order. */
const writeJson = (root: unknown, indent: string): string => [...unescapedPieces(root, indent)].join("");

/**
 * The same as `encodeJson` or `encodePrettyJson`, in pieces: each is made when it is asked for, so that nothing large has
 * to be made at once, nor to be one text, which an engine bounds. Lists may be `LazyItems`.
 */
export function* jsonPieces(value: unknown, isPretty: boolean): Generator<string> {
  for (const piece of unescapedPieces(value, isPretty ? "  " : "")) {
    yield htmlUnsafe.test(piece) ? withoutHtml(piece) : piece;
  }
}

/** Of a piece, but for a text of control characters, which is six times as long escaped. */
const pieceCharacters = 32 * 1024;

function* unescapedPieces(root: unknown, indent: string): Generator<string> {
  let out: string[] = [];
  let length = 0;
  const open: OpenContainer[] = [];
  const put = (text: string): void => {
    out.push(text);
    length += text.length;
  };
  const taken = (): string => {
    const piece = out.join("");
    out = [];
    length = 0;
    return piece;
  };
  const breakLine = (): void => {
    if (indent !== "") put(`\n${indent.repeat(open.length)}`);
  };
  /** Writes a scalar, or enters what is none. A text that is long is left to whoever asked. */
  const begin = (value: unknown): string | undefined => {
    if (typeof value === "string" && value.length > pieceCharacters) return value;
    if (typeof value === "bigint") put(value.toString());
    else if (typeof value !== "object" || value === null) put(JSON.stringify(value) ?? "null");
    else {
      const isList = Array.isArray(value) || value instanceof LazyItems;
      put(isList ? "[" : "{");
      const next = isList ? itemsOf(value) : membersOf(value as Readonly<Record<string, unknown>>, indent);
      open.push({ close: isList ? "]" : "}", next, isFirst: true });
    }
    return undefined;
  };
  let long = begin(root);
  for (;;) {
    if (long !== undefined) {
      put('"');
      for (const part of partsOfText(long)) {
        put(JSON.stringify(part).slice(1, -1));
        if (length > pieceCharacters) yield taken();
      }
      put('"');
      long = undefined;
    }
    if (length > pieceCharacters) yield taken();
    const top = open.at(-1);
    if (top === undefined) break;
    const member = top.next();
    if (member === undefined) {
      open.pop();
      if (!top.isFirst) breakLine();
      put(top.close);
      continue;
    }
    if (member.value === pause) {
      yield taken();
      continue;
    }
    if (!top.isFirst) put(",");
    top.isFirst = false;
    breakLine();
    put(member.key);
    long = begin(member.value);
  }
  yield taken();
}

function itemsOf(list: readonly unknown[] | LazyItems): OpenContainer["next"] {
  const items = list instanceof LazyItems ? list.items : list.values();
  return () => {
    const { done = false, value } = items.next();
    return done ? undefined : { key: "", value };
  };
}

function membersOf(members: Readonly<Record<string, unknown>>, indent: string): OpenContainer["next"] {
  const keys = keysInOrder(members);
  const colon = indent === "" ? ":" : ": ";
  let at = 0;
  return () => {
    while (at < keys.length) {
      const key = keys[at++] as string;
      const value = members[key];
      if (value !== undefined) return { key: `${JSON.stringify(key)}${colon}`, value };
    }
    return undefined;
  };
}

/** No pair of surrogates is torn. */
function* partsOfText(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + pieceCharacters);
    if (to < text.length && isLowSurrogate(text.charCodeAt(to))) to--;
    yield text.slice(from, to);
    from = to;
  }
}

function keysInOrder(value: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(value);
  return keys.some(isInteger) ? sortByBytes(keys) : keys;
}

const isInteger = (key: string): boolean => isDigit(key.charCodeAt(0)) && /^\d+$/.test(key);
const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;

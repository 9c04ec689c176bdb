/**
 * Strings as the real server, a Go program, writes them: `%q` in error texts, byte order of keys, and JSON with
 * `<`, `>`, `&` and the two line separators escaped.
 * Source: the facts, section 1 (strings are Go-quoted) and section 5 (JSON forms); Go's strconv and encoding/json.
 */

/** Quoted as Go's `%q`: double quotes, Go's escapes, printable Unicode kept. */
export function goQuote(text: string): string {
  return plainAscii.test(text) ? `"${text}"` : `"${text.toWellFormed().replace(notPlain, quoteOne)}"`;
}

const plainAscii = /^[ !#-[\]-~]*$/;
const notPlain = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu; // Go prints letters, marks, numbers, punctuation, symbols and the space

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

function quoteOne(char: string): string {
  const short = shortEscapes[char];
  if (short !== undefined) return short;
  const code = char.codePointAt(0) as number;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

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
  return htmlUnsafe.test(text) ? text.replace(/[<>&\u2028\u2029]/g, escapeHtml) : text;
}

/** Undefined when the engine cannot: a bigint, or too deep for its stack. */
function quickly(value: unknown, indent: string): string | undefined {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch {
    return undefined;
  }
}

const escapeHtml = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

interface OpenContainer {
  readonly close: "]" | "}";
  /** Written before each member: empty strings in an array. */
  readonly keys: readonly string[] | undefined;
  readonly values: readonly unknown[];
  next: number;
}

/** JSON.stringify without its limits: no recursion, bigint, and maps in byte order. */
const writeJson = (root: unknown, indent: string): string => [...unescapedPieces(root, indent)].join("");

/**
 * The same as `encodeJson` or `encodePrettyJson`, in pieces: each is made when it is asked for, so that nothing large has
 * to be made at once, nor to be one text, which an engine bounds.
 */
export function* jsonPieces(value: unknown, isPretty: boolean): Generator<string> {
  for (const piece of unescapedPieces(value, isPretty ? "  " : "")) {
    yield htmlUnsafe.test(piece) ? piece.replace(/[<>&\u2028\u2029]/g, escapeHtml) : piece;
  }
}

/** Of a piece, but for a single text that is longer. */
const pieceCharacters = 32 * 1024;

function* unescapedPieces(root: unknown, indent: string): Generator<string> {
  let out: string[] = [];
  let length = 0;
  const open: OpenContainer[] = [];
  const colon = indent === "" ? ":" : ": ";
  const put = (text: string): void => {
    out.push(text);
    length += text.length;
  };
  const breakLine = (): void => {
    if (indent !== "") put(`\n${indent.repeat(open.length)}`);
  };
  const begin = (value: unknown): void => {
    if (typeof value === "bigint") put(value.toString());
    else if (typeof value !== "object" || value === null) put(JSON.stringify(value) ?? "null");
    else if (Array.isArray(value)) enter("[", { close: "]", keys: undefined, values: value, next: 0 });
    else {
      const keys = keysInOrder(value as Readonly<Record<string, unknown>>);
      const values = keys.map((key) => (value as Readonly<Record<string, unknown>>)[key]);
      enter("{", { close: "}", keys, values, next: 0 });
    }
  };
  const enter = (bracket: string, container: OpenContainer): void => {
    put(bracket);
    if (container.values.length === 0) put(container.close);
    else open.push(container);
  };
  begin(root);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (length > pieceCharacters) {
      yield out.join("");
      out = [];
      length = 0;
    }
    if (top.next === top.values.length) {
      open.pop();
      breakLine();
      put(top.close);
      continue;
    }
    if (top.next > 0) put(",");
    breakLine();
    const at = top.next++;
    if (top.keys !== undefined) put(`${JSON.stringify(top.keys[at])}${colon}`);
    begin(top.values[at]);
  }
  yield out.join("");
}

function keysInOrder(value: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return keys.some((key) => /^\d+$/.test(key)) ? keys.sort(compareBytes) : keys;
}

/**
 * The grammars of `labelSelector` and `fieldSelector`, with the server's error texts, and their matching.
 * A text that does not parse gives a `SelectorError` whose `message` is the whole message of the 400 that answers it.
 *
 * Labels: `k`, `!k`, `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k>n`, `k<n`, joined by commas (AND).
 * Fields: `k=v`, `k==v`, `k!=v`, joined by commas; in values `\\`, `\,` and `\=` stand for themselves.
 * Source: document 1, common query parameters; the facts, section 3; recorded answers of a 1.33 server.
 */
import { compareBytes, goQuote, sortByBytes } from "./go-strings.ts";
import { int64OfDecimal } from "./int64.ts";
import { labelValueErrors, qualifiedNameErrors } from "./names.ts";

export type LabelOperator = "exists" | "!" | "=" | "==" | "!=" | "in" | "notin" | "gt" | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Distinct, in byte order. None for `exists` and `!`, one for all others but `in` and `notin`. */
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>> | undefined;

export interface LabelSelector {
  /** By key, and as written where keys are equal. All must hold. */
  readonly requirements: readonly LabelRequirement[];
  /** True when it restricts nothing. */
  readonly empty: boolean;
  matches(labels: Labels): boolean;
}

export interface FieldRequirement {
  readonly field: string;
  /** `==` is read as `=`. */
  readonly operator: "=" | "!=";
  /** Unescaped. */
  readonly value: string;
}

export interface FieldSelector {
  /** In the byte order of the terms as written. All must hold. */
  readonly requirements: readonly FieldRequirement[];
  readonly empty: boolean;
}

export interface SelectorError {
  readonly message: string;
}

export function isSelectorError(result: object): result is SelectorError {
  return "message" in result;
}

export const everyLabel: LabelSelector = { requirements: [], empty: true, matches: () => true };
export const everyField: FieldSelector = { requirements: [], empty: true };

class Rejected extends Error {}

/**
 * A long one that was read last: whoever watches by one comes again, and often is one of many. Longer ones, of which each
 * requirement takes many times its text, are not kept.
 */
let last: { readonly text: string; readonly selector: LabelSelector } | undefined;
const lastCharacters = { min: 2_000, max: 1_000_000 } as const;

export function parseLabelSelector(text: string): LabelSelector | SelectorError {
  if (text === "") return everyLabel;
  if (text.length >= lastCharacters.min && last?.text === text) return last.selector;
  try {
    const selector = compileLabelSelector(new LabelParser(text).selector());
    if (text.length >= lastCharacters.min && text.length <= lastCharacters.max) last = { text, selector };
    return selector;
  } catch (error) {
    if (error instanceof Rejected) return { message: error.message };
    throw error;
  }
}

/**
 * Some requirements of a selector, from the place in its text where one begins (0, or `next` of the part before), and where those
 * behind them begin: undefined at the end. `parseLabelSelector` reads the same at once.
 */
export function labelSelectorPart(text: string, from: number, countMax: number): LabelSelectorPart | SelectorError {
  try {
    return new LabelParser(text, from).part(countMax);
  } catch (error) {
    if (error instanceof Rejected) return { message: error.message };
    throw error;
  }
}

export interface LabelSelectorPart {
  readonly requirements: readonly LabelRequirement[];
  readonly next: number | undefined;
}

/** A selector of requirements that are known to be valid. */
export function compileLabelSelector(requirements: readonly LabelRequirement[]): LabelSelector {
  if (requirements.length === 0) return everyLabel;
  const sorted = requirements.toSorted((left, right) => compareBytes(left.key, right.key));
  if (sorted.length > fewTests) return { requirements: sorted, empty: false, matches: compileMany(sorted) };
  const tests = sorted.map(compileRequirement);
  const [only] = tests;
  const matches = tests.length === 1 && only !== undefined ? only : (labels: Labels) => passesAll(tests, labels);
  return { requirements: sorted, empty: false, matches };
}

const passesAll = (tests: readonly LabelTest[], labels: Labels): boolean => {
  for (const test of tests) if (!test(labels)) return false;
  return true;
};

const fewTests = 8;

/**
 * What is asked of one key is one test. Those that ask for no label hold for all that an object lacks: of those, only what it has is
 * asked. They are compiled when a label of their key is first met.
 */
function compileMany(requirements: readonly LabelRequirement[]): LabelTest {
  const needed: LabelTest[] = [];
  const others = new Map<string, readonly LabelRequirement[]>();
  for (let from = 0, end = 0; from < requirements.length; from = end) {
    const { key } = requirements[from] as LabelRequirement;
    while (requirements[end]?.key === key && end < requirements.length) end++;
    const ofKey = requirements.slice(from, end);
    if (ofKey.every(({ operator }) => holdsOfNone.has(operator))) others.set(key, ofKey);
    else needed.push(compileKey(ofKey));
  }
  const compiled = new Map<string, LabelTest>();
  const testOf = (key: string): LabelTest | undefined => {
    const ofKey = others.get(key);
    if (ofKey === undefined) return undefined;
    let test = compiled.get(key);
    if (test === undefined) compiled.set(key, (test = compileKey(ofKey)));
    return test;
  };
  const passesOthers = (labels: Labels): boolean => {
    for (const key of others.keys()) if (testOf(key)?.(labels) === false) return false;
    return true;
  };
  return (labels) => {
    if (!passesAll(needed, labels)) return false;
    let left = others.size;
    for (const key in labels) {
      if (left-- === 0) return passesOthers(labels); // it has more labels than are asked for
      if (testOf(key)?.(labels) === false) return false;
    }
    return true;
  };
}

/** All that is asked of one key, as few tests as there are kinds of them. */
function compileKey(requirements: readonly LabelRequirement[]): LabelTest {
  const [first] = requirements;
  if (requirements.length === 1 && first !== undefined) return compileRequirement(first);
  const tests = merged(requirements).map(compileRequirement);
  return (labels) => passesAll(tests, labels);
}

/** The same of one key: values that are allowed are those of all lists, and values that are not those of any. */
function merged(requirements: readonly LabelRequirement[]): readonly LabelRequirement[] {
  const { key } = requirements[0] as LabelRequirement;
  let allowed: ReadonlySet<string> | undefined;
  const refused = new Set<string>();
  const others = new Map<string, LabelRequirement>();
  for (const requirement of requirements) {
    const { operator, values } = requirement;
    if (operator === "in" || operator === "=" || operator === "==") {
      const before: ReadonlySet<string> | undefined = allowed;
      allowed = new Set(before === undefined ? values : values.filter((value) => before.has(value)));
    } else if (operator === "notin" || operator === "!=") for (const value of values) refused.add(value);
    else if (operator === "gt" || operator === "lt") others.set(operator, strictest(others.get(operator), requirement));
    else others.set(operator, requirement);
  }
  return [
    ...(allowed === undefined ? [] : [{ key, operator: "in" as const, values: Array.from(allowed) }]),
    ...(refused.size === 0 ? [] : [{ key, operator: "notin" as const, values: Array.from(refused) }]),
    ...others.values(),
  ];
}

/** Of two bounds, both `gt` or both `lt`. */
function strictest(before: LabelRequirement | undefined, bound: LabelRequirement): LabelRequirement {
  const numberOf = ({ values }: LabelRequirement): bigint | undefined => parseInt64(values[0]);
  const [old, now] = [before === undefined ? undefined : numberOf(before), numberOf(bound)];
  if (before === undefined || now === undefined) return bound; // what is no number holds for nothing
  if (old === undefined) return before;
  return (bound.operator === "gt" ? now > old : now < old) ? bound : before;
}

const holdsOfNone: ReadonlySet<LabelOperator> = new Set<LabelOperator>(["!", "!=", "notin"]);

type LabelTest = (labels: Labels) => boolean;

function compileRequirement({ key, operator, values }: LabelRequirement): LabelTest {
  const value = (labels: Labels): string | undefined => {
    const found: unknown = labels?.[key];
    return typeof found === "string" ? found : undefined; // a key may be `constructor`: what is inherited is no label
  };
  const only = values[0] ?? "";
  switch (operator) {
    case "exists":
      return (labels) => value(labels) !== undefined;
    case "!":
      return (labels) => value(labels) === undefined;
    case "=":
    case "==":
      return (labels) => value(labels) === only;
    case "!=":
      return (labels) => value(labels) !== only;
    case "in":
    case "notin": {
      const wanted = operator === "in";
      const set = new Set<string | undefined>(values);
      return (labels) => set.has(value(labels)) === wanted;
    }
    case "gt":
    case "lt": {
      const bound = parseInt64(only);
      return (labels) => {
        const actual = parseInt64(value(labels));
        if (actual === undefined || bound === undefined) return false;
        return operator === "gt" ? actual > bound : actual < bound;
      };
    }
  }
}

const parseInt64 = (text: string | undefined): bigint | undefined =>
  text === undefined ? undefined : int64OfDecimal(text);

type TokenKind = "end" | "identifier" | "in" | "notin" | "=" | "==" | "!=" | "!" | "(" | ")" | "," | ">" | "<";
interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const binaryOperators: Partial<Record<TokenKind, LabelOperator>> = {
  in: "in",
  notin: "notin",
  "=": "=",
  "==": "==",
  "!=": "!=",
  ">": "gt",
  "<": "lt",
};
const operatorNames = "in, notin, =, ==, !=, gt, lt"; // in the order in which the server's error lists them

class LabelParser {
  private readonly tokens: LabelTokens;
  private next: Token | undefined;

  constructor(text: string, from = 0) {
    this.tokens = new LabelTokens(text, from);
  }

  selector(): LabelRequirement[] {
    const { requirements } = this.part(Number.POSITIVE_INFINITY);
    return requirements;
  }

  /** So many requirements at most, and where the next one begins; undefined: there is none. */
  part(countMax: number): { readonly requirements: LabelRequirement[]; readonly next: number | undefined } {
    const requirements: LabelRequirement[] = [];
    const first = this.peek();
    if (first.kind === "end") return { requirements, next: undefined };
    if (!beginsRequirement(first)) throw found(first, ", expected: !, identifier, or 'end of string'");
    for (;;) {
      try {
        requirements.push(this.requirement());
      } catch (error) {
        throw error instanceof Rejected ? new Rejected(`unable to parse requirement: ${error.message}`) : error;
      }
      const token = this.take();
      if (token.kind === "end") return { requirements, next: undefined };
      if (token.kind !== ",") throw found(token, ", expected: ',' or 'end of string'");
      const next = this.tokens.place;
      if (!beginsRequirement(this.peek())) throw found(this.peek(), ", expected: identifier after ','");
      if (requirements.length >= countMax) return { requirements, next };
    }
  }

  private requirement(): LabelRequirement {
    const negated = this.peek().kind === "!";
    if (negated) this.take();
    const name = this.take();
    if (!isWord(name)) throw found(name, ", expected: identifier");
    const key = name.text;
    const errors = qualifiedNameErrors(key);
    if (errors.length > 0) throw invalidValue("<nil>", key, errors); // the server prints its missing path so
    if (negated) return { key, operator: "!", values: noValues };
    const { kind } = this.peek();
    if (kind === "end" || kind === ",") return { key, operator: "exists", values: noValues };
    const token = this.take();
    const operator = binaryOperators[token.kind];
    if (operator === undefined) throw found(token, `, expected: ${operatorNames}`);
    const values = operator === "in" || operator === "notin" ? this.valueSet() : [this.exactValue()];
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  private exactValue(): string {
    const { kind } = this.peek();
    if (kind === "end" || kind === ",") return "";
    const token = this.take();
    if (!isWord(token)) throw found(token, ", expected: identifier");
    return token.text;
  }

  /** `( … )`, where an empty place between commas or brackets is the empty value. */
  private valueSet(): string[] {
    const open = this.take();
    if (open.kind !== "(") throw found(open, " expected: '('"); // no comma here: the server's text has none
    const plain = this.tokens.plainValues();
    if (plain !== undefined) return plain;
    const first = this.peek();
    if (first.kind === ")") {
      this.take();
      return [""];
    }
    if (!isWord(first) && first.kind !== ",") throw found(first, ", expected: ',', ')' or identifier");
    const values = new Set<string>();
    for (;;) {
      const token = this.take();
      if (isWord(token)) {
        values.add(token.text);
        const next = this.peek();
        if (next.kind === ")") break;
        if (next.kind !== ",") throw found(next, ", expected: ',' or ')'");
      } else if (token.kind === ",") {
        if (values.size === 0) values.add(""); // "(,"
        const next = this.peek();
        if (next.kind === ",") this.take();
        if (next.kind === "," || next.kind === ")") values.add(""); // ",," and ",)"
        if (next.kind === ")") break;
      } else {
        throw found(token, ", expected: ',', or identifier");
      }
    }
    this.take();
    return sortByBytes([...values]);
  }

  private peek(): Token {
    this.next ??= this.tokens.next() ?? endToken;
    return this.next;
  }

  private take(): Token {
    const token = this.peek();
    this.next = undefined;
    return token;
  }
}

const noValues: readonly string[] = Object.freeze([]);
const endToken: Token = { kind: "end", text: "" };

/** `in` and `notin` are words wherever an operator is not awaited. */
const isWord = ({ kind }: Token): boolean => kind === "identifier" || kind === "in" || kind === "notin";

const beginsRequirement = (token: Token): boolean => isWord(token) || token.kind === "!";

/** The tokens of a selector, one after another: undefined at its end. */
class LabelTokens {
  private readonly text: string;
  private at: number;

  constructor(text: string, from: number) {
    this.text = text;
    this.at = from;
  }

  /** Where what has not been read begins. */
  get place(): number {
    return this.at;
  }

  /**
   * Values between brackets, behind the opening one, where nothing but commas stands between them: the usual case, which may be of a
   * hundred thousand. Undefined, and nothing is read, where they have to be read one by one.
   */
  plainValues(): string[] | undefined {
    const end = this.text.indexOf(")", this.at);
    if (end < 0) return undefined;
    const inside = this.text.slice(this.at, end);
    if (inside === "" || notPlain.test(inside)) return undefined;
    this.at = end + 1;
    return sortByBytes(Array.from(new Set(inside.split(","))));
  }

  /** A NUL ends the text, except right behind a word, which it only ends: the server reads it so. */
  next(): Token | undefined {
    const { text } = this;
    while (isSpace(text.charCodeAt(this.at))) this.at++;
    const from = this.at;
    const first = text[from];
    if (first === undefined || first === "\0") {
      this.at = text.length;
      return undefined;
    }
    if (symbols.has(first)) {
      const isDouble = (first === "=" || first === "!") && text[from + 1] === "=";
      const symbol = isDouble ? `${first}=` : first;
      this.at += symbol.length;
      return { kind: symbol as TokenKind, text: symbol };
    }
    while (this.at < text.length && !endsWord(text.charCodeAt(this.at))) this.at++;
    const word = text.slice(from, this.at);
    if (text.charCodeAt(this.at) === 0) this.at++;
    return { kind: word === "in" || word === "notin" ? word : "identifier", text: word };
  }
}

/** What ends a word or a text, but for commas and closing brackets; and commas that no word is before or behind. */
const notPlain = /[\0\t\n\r =!(<>]|^,|,,|,$/;
const symbols: ReadonlySet<string> = new Set("=!(),<>");
const isSpace = (unit: number): boolean => unit === 32 || unit === 9 || unit === 13 || unit === 10;
const endsWord = (unit: number): boolean =>
  unit <= 62 && (unit === 0 || isSpace(unit) || symbols.has(String.fromCharCode(unit)));

function checkValues(key: string, operator: LabelOperator, values: readonly string[]): void {
  const errors: string[] = [];
  if (operator === "gt" || operator === "lt") {
    values.forEach((value, at) => {
      if (parseInt64(value) === undefined) {
        errors.push(invalidText(`values[${at}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
    });
  }
  values.forEach((value, at) => {
    const texts = labelValueErrors(value);
    if (texts.length > 0) errors.push(invalidText(`values[${at}][${key}]`, value, texts.join("; ")));
  });
  if (errors.length > 0) throw new Rejected(errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`);
}

const invalidText = (path: string, value: string, text: string): string =>
  `${path}: Invalid value: ${goQuote(value)}: ${text}`;

const invalidValue = (path: string, value: string, errors: readonly string[]): Rejected =>
  new Rejected(invalidText(path, value, errors.join("; ")));

const found = (token: Token, rest: string): Rejected => new Rejected(`found '${token.text}'${rest}`);

export function parseFieldSelector(text: string): FieldSelector | SelectorError {
  const terms = sortByBytes(splitTerms(text));
  const requirements: FieldRequirement[] = [];
  for (const term of terms) {
    if (term === "") continue;
    const [, field, operator, escaped] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? [];
    if (field === undefined || operator === undefined || escaped === undefined) {
      return { message: `invalid selector: '${text}'; can't understand '${term}'` };
    }
    const value = unescapeFieldValue(escaped);
    if (typeof value !== "string") return value;
    requirements.push({ field, operator: operator === "!=" ? "!=" : "=", value });
  }
  return requirements.length === 0 ? everyField : { requirements, empty: false };
}

/** The value that the selector pins a field to, or undefined: `metadata.name=x` names one object. */
export function exactFieldValue(selector: FieldSelector, field: string): string | undefined {
  return selector.requirements.find((row) => row.field === field && row.operator === "=")?.value;
}

/** Parts at commas that no backslash precedes; a backslash takes the next character with it. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeFieldValue(escaped: string): string | SelectorError {
  if (!/[\\,=]/.test(escaped)) return escaped;
  let value = "";
  const chars = [...escaped];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] as string;
    if (char === "," || char === "=") {
      // The server prints the number of the character, not the character.
      return { message: `invalid field selector: unescaped character in value: ${char.charCodeAt(0)}` };
    }
    if (char !== "\\") {
      value += char;
      continue;
    }
    const next = chars[++at] ?? "";
    if (next !== "\\" && next !== "," && next !== "=") {
      return { message: `invalid field selector: invalid escape sequence: \\${next}` };
    }
    value += next;
  }
  return value;
}

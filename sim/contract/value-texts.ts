/**
 * Values in the texts of refusals. Older servers write them as their language prints them (`[]string{"a"}`), newer ones as
 * JSON (`["a"]`), and lengths in bytes. Texts are made in the older form; this reads the value out of one and writes it in the newer.
 * Source: the same requests, recorded from 1.33 and 1.36.
 */
import type { Cause } from "./errors.ts";
import type { Profile } from "./profile.ts";

/** What follows is the value, then a colon or the end. */
const heads = /^(?:Invalid value|Unsupported value|Duplicate value|Not found): /;

/** The causes in the words of the profile's version. */
export function inWordsOf(profile: Profile, causes: readonly Cause[]): readonly Cause[] {
  if (profile.messageValues === "go") return causes;
  return causes.map((cause) => {
    const message = withJson(cause.message).replace(lengthText, "must be no more than $1 bytes");
    return message === cause.message ? cause : { ...cause, message };
  });
}

const lengthText = /(?<=: )must be no more than (\d+) characters$/;

function withJson(message: string): string {
  const head = heads.exec(message)?.[0];
  if (head === undefined) return message;
  const reader = new LiteralReader(message, head.length);
  const json = reader.read();
  const rest = message.slice(reader.at);
  return json === undefined || !(rest === "" || rest.startsWith(": ")) ? message : `${head}${json}${rest}`;
}

const depthMax = 100;
const typeForm = /(?:\[\]|\*|&|map\[\w+\])*(?:interface \{\}|[A-Za-z_][\w.]*)?/y;
const timeForm = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) \+0000 UTC/y;
const numberForm = /-?\d+(?:\.\d+)?(?![\w-])/y;
const stringForm = /"(?:[^"\\]|\\.)*"/y;
const nameForm = /[A-Za-z_]\w*(?=:)/y;

type Field = readonly [name: string | undefined, json: string];

/** Types that say in JSON something else than their fields. */
const special: Readonly<Record<string, (fields: readonly Field[]) => string | undefined>> = {
  "resource.Quantity": (fields) => fieldOf(fields, "s"),
  "intstr.IntOrString": (fields) => fieldOf(fields, fieldOf(fields, "Type") === "1" ? "StrVal" : "IntVal"),
};

const fieldOf = (fields: readonly Field[], name: string): string | undefined =>
  fields.find(([key]) => key === name)?.[1];

/** Reads one literal as Go prints it, from `at` on. */
class LiteralReader {
  at: number;
  private readonly text: string;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  /** The literal as JSON; undefined for what is none. */
  read(depth = 0): string | undefined {
    if (depth > depthMax) return undefined;
    if (this.take("0x0")) return "0";
    if (this.take('"null"') || this.take("nil")) return "null";
    const time = this.match(timeForm);
    if (time !== undefined) return `"${time[1] as string}T${time[2] as string}Z"`;
    const scalar = this.match(stringForm) ?? this.match(numberForm);
    if (scalar !== undefined) return scalar[0];
    if (this.take("true")) return "true";
    if (this.take("false")) return "false";
    return this.composite(depth);
  }

  private composite(depth: number): string | undefined {
    const isPointer = this.take("(");
    const type = this.match(typeForm)?.[0] ?? "";
    if (isPointer && !this.take(")")) return undefined;
    if (this.take("(nil)")) return "null";
    if (type === "" || !this.take("{")) return undefined;
    const fields = this.fields(depth);
    if (fields === undefined) return undefined;
    const own = special[type]?.(fields);
    if (own !== undefined) return own;
    const isList = type.startsWith("[]");
    const parts = fields.map(([name, json]) => (isList || name === undefined ? json : `${quoted(name)}:${json}`));
    return isList ? `[${parts.join(",")}]` : `{${parts.join(",")}}`;
  }

  private fields(depth: number): readonly Field[] | undefined {
    const fields: Field[] = [];
    while (!this.take("}")) {
      if (fields.length > 0 && !this.take(", ")) return undefined;
      const name = this.match(nameForm)?.[0] ?? this.key();
      if (name !== undefined && !this.take(":")) return undefined;
      const json = this.read(depth + 1);
      if (json === undefined) return undefined;
      fields.push([name, json]);
    }
    return fields;
  }

  /** A map's key: a string with a colon behind it. */
  private key(): string | undefined {
    const start = this.at;
    const text = this.match(stringForm)?.[0];
    if (text !== undefined && this.text[this.at] === ":") return text;
    this.at = start;
    return undefined;
  }

  private take(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  private match(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.at;
    const found = form.exec(this.text);
    if (found === null) return undefined;
    this.at += found[0].length;
    return found;
  }
}

/** A map's keys are quoted already. */
const quoted = (name: string): string => (name.startsWith('"') ? name : `"${name}"`);

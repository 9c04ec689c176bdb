/** Objects as YAML as the real server's encoder writes them: keys sorted, lists not indented, quotes where they must be. */
import { Document, parse, Scalar, type Tags, visit } from "yaml";
import type { Json } from "../http-message.ts";

/** The rules by which a plain text could be something else than text. */
const rules = { version: "1.1", customTags: withStricterNumbers } as const;

/** A lone point is a number to the library, and a text to the real encoder, which writes it plain. */
function withStricterNumbers(tags: Tags): Tags {
  return tags.map((tag) => {
    if (typeof tag !== "object" || !("test" in tag) || tag.test?.test(".") !== true) return tag;
    return { ...tag, test: decimal } as typeof tag;
  });
}

const decimal = /^[-+]?(?:\d[\d_]*\.[\d_]*|\.\d[\d_]*)$/;

export function yamlText(value: Json): string {
  const document = new Document(value, { ...rules, sortMapEntries: true, aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      // A text that would be read as a number, a time or a boolean stands in double quotes.
      if (typeof node.value === "string" && !isPlainText(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return folded(document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true }));
}

const widthBest = 80;
const blockOpening = /(?:^|[ :-] ?)[|>][-+]?\d?$/;

/** Long lines, broken as the real encoder breaks them: at the first single space behind the width, not before it. */
function folded(text: string): string {
  if (!/.{81}/.test(text)) return text;
  let blockIndent = -1; // of the line that opened a block of literal text
  const lines = text.split("\n").map((line) => {
    const indent = line.search(/\S/);
    if (blockIndent >= 0 && (indent < 0 || indent > blockIndent)) return line;
    blockIndent = blockOpening.test(line) ? indent : -1;
    return foldedLine(line);
  });
  return lines.join("\n");
}

const entryHead = /^( *(?:- )*)((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'][^\n]*?): )?/;

function foldedLine(line: string): string {
  if (line.length <= widthBest) return line;
  const [head = "", before = "", key = ""] = entryHead.exec(line) ?? [];
  const quote = line.charAt(head.length);
  const isQuoted = quote === '"' || quote === "'";
  const indent = " ".repeat(key === "" ? before.length : before.length + 2);
  let result = line.slice(0, head.length);
  let column = head.length;
  for (let at = head.length; at < line.length; at++) {
    const isSpace = line[at] === " ";
    const isEdge = isQuoted && (at === head.length + 1 || at === line.length - 2);
    if (isSpace && column > widthBest && !isEdge && line[at - 1] !== " " && line[at + 1] !== " ") {
      result += `\n${indent}`;
      column = indent.length;
    } else {
      result += line[at] as string;
      column++;
    }
  }
  return result;
}

/** Not left to the reader below, which would make a `Date`. */
const timestamp = /^\d{4}-\d\d?-\d\d?(?:[Tt \t]|$)/;

/** Most texts need no reader to tell: words that mean nothing else, and uids. */
const plainWord = /^[a-z_/][\w./-]*$/i;
const meaningfulWord = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
const uid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

function isPlainText(text: string): boolean {
  if ((plainWord.test(text) && !meaningfulWord.test(text)) || uid.test(text)) return true;
  if (timestamp.test(text)) return false;
  try {
    const read: unknown = parse(text, { ...rules, logLevel: "error" });
    return typeof read === "string" || (typeof read === "object" && read !== null);
  } catch {
    return true; // it needs quotes for another reason, and gets single ones
  }
}

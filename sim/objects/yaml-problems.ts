/**
 * What is wrong with a text that should be YAML, in the words of the server's reader, for the mistakes that people make.
 * Source: the published reader's texts. Simplification: where its parser and this one give up at different places, the
 * line can be another.
 */
import type { ErrorCode, LineCounter, YAMLParseError } from "yaml";

/** What no reader gets past: characters and directives; undefined when there is nothing. */
export function yamlTextProblem(text: string): string | undefined {
  if (unprintable.test(text)) return "control characters are not allowed";
  const [, directive, version] = /^(?:[ \t]*(?:#.*)?\n)*%(\S*)(?:[ \t]+(\S*))?/.exec(text) ?? [];
  if (directive === undefined || directive === "TAG") return undefined;
  if (directive === "YAML") return version === "1.1" ? undefined : "found incompatible YAML document";
  return /^[\w-]+$/.test(directive) ? "found unknown directive name" : undefined;
}

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

interface Wording {
  readonly text: string;
  /** Found by the parser, which counts lines from 0; the scanner counts from 1. */
  readonly byParser?: true;
}

const wordings: readonly (readonly [code: ErrorCode, message: RegExp, wording: Wording])[] = [
  ["BAD_ALIAS", /./, { text: "did not find expected alphabetic or numeric character" }],
  ["BAD_DQ_ESCAPE", /./, { text: "found unknown escape character" }],
  [
    "BAD_SCALAR_START",
    /indicator (?:character )?[,[\]{}]/,
    { text: "did not find expected node content", byParser: true },
  ],
  ["BAD_SCALAR_START", /./, { text: "found character that cannot start any token" }],
  ["BAD_INDENT", /./, { text: "did not find expected key", byParser: true }],
  ["BLOCK_AS_IMPLICIT_KEY", /^Nested mappings/, { text: "mapping values are not allowed in this context" }],
  ["BLOCK_AS_IMPLICIT_KEY", /./, { text: "did not find expected key", byParser: true }],
  ["BLOCK_IN_FLOW", /./, { text: "did not find expected node content", byParser: true }],
  ["MISSING_CHAR", /quote$/, { text: "found unexpected end of stream" }],
  ["MISSING_CHAR", /directives-end/, { text: "did not find expected <document start>", byParser: true }],
  ["MISSING_CHAR", /^Flow map/, { text: "did not find expected ',' or '}'", byParser: true }],
  ["MISSING_CHAR", /^Flow seq/, { text: "did not find expected ',' or ']'", byParser: true }],
  ["MISSING_CHAR", /same column/, { text: "did not find expected key", byParser: true }],
  ["MULTILINE_IMPLICIT_KEY", /./, { text: "could not find expected ':'" }],
  ["TAB_AS_INDENT", /./, { text: "found character that cannot start any token" }],
  ["UNEXPECTED_TOKEN", /block-seq-ind/, { text: "block sequence entries are not allowed in this context" }],
  ["UNEXPECTED_TOKEN", /Block scalar header/, { text: "did not find expected comment or line break" }],
  ["UNEXPECTED_TOKEN", /scalar at node end/, { text: "did not find expected key", byParser: true }],
  ["UNEXPECTED_TOKEN", /./, { text: "did not find expected node content", byParser: true }],
];

/** The problem with its line, which is told but for the first. */
export function yamlProblem({ code, message, pos }: YAMLParseError, lines: LineCounter): string {
  const { text, byParser } = wordings.find((row) => row[0] === code && row[1].test(message))?.[2] ?? { text: message };
  const line = lines.linePos(pos[0]).line - 1;
  if (line === 0) return text;
  return `line ${byParser === true ? line : line + 1}: ${text}`;
}

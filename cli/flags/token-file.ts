/**
 * A token file as the real server reads it: CSV of token, user, uid and, optionally, groups in one quoted field
 * joined by commas. Every mistake is told with its line.
 * Source: kube-apiserver, `--token-auth-file`.
 */
import type { TokenRow } from "../../sim/apiserver/access/authenticate.ts";
import { UsageError } from "./usage-error.ts";

/** `name` is how errors call the file. Throws `UsageError`. */
export function parseTokenFile(text: string, name: string): TokenRow[] {
  const rows: TokenRow[] = [];
  const lineOf = new Map<string, number>();
  for (const { fields, line } of records(text, name)) {
    const [token = "", user = "", uid = "", groups = ""] = fields;
    const refuse = (problem: string): never => {
      throw new UsageError(
        `--token-auth-file ${name}, line ${line}: ${problem} A line is token,user,uid,"group1,group2"; the groups may be left out.`,
      );
    };
    if (fields.length < 3) refuse(`found ${fields.length} of at least 3 fields.`);
    if (fields.length > 4)
      refuse(`found ${fields.length} fields, at most 4 are known. Several groups go into one quoted field.`);
    if (token === "") refuse("the token is empty.");
    if (/\s/.test(token)) refuse("the token contains white space, which no Authorization header can carry.");
    if (user === "") refuse("the user is empty.");
    const before = lineOf.get(token);
    if (before !== undefined) refuse(`the token is that of line ${before} already.`);
    lineOf.set(token, line);
    rows.push({
      token,
      user,
      uid,
      groups: groups
        .split(",")
        .map((group) => group.trim())
        .filter((group) => group !== ""),
    });
  }
  if (rows.length === 0)
    throw new UsageError(`--token-auth-file ${name}: no token in it. A line is token,user,uid,"group1,group2".`);
  return rows;
}

interface CsvRecord {
  readonly fields: readonly string[];
  /** Where the record begins, from 1. */
  readonly line: number;
}

/** RFC 4180 with blank lines and lines that begin with `#` left out; quoted fields may hold commas, quotes and newlines. */
function* records(text: string, name: string): Generator<CsvRecord> {
  const source = text.replace(/^\uFEFF/, "");
  let at = 0;
  let line = 1;
  while (at < source.length) {
    const began = line;
    const fields: string[] = [];
    for (;;) {
      const [whole, quoted, plain = ""] = /^(?:[ \t]*"((?:[^"]|"")*)"[ \t]*(?=,|\r?\n|$)|([^,\r\n]*))/.exec(
        source.slice(at),
      ) ?? [""];
      if (quoted === undefined && plain.includes('"')) {
        throw new UsageError(
          `--token-auth-file ${name}, line ${line}: a quote that is not closed, or in the middle of a field. Quote the whole field and double the quotes within it.`,
        );
      }
      fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
      line += whole.split("\n").length - 1;
      at += whole.length;
      if (source[at] !== ",") break;
      at++;
    }
    const ending = /^\r?\n|^\r/.exec(source.slice(at))?.[0] ?? "";
    at += ending.length;
    line++;
    const isBlank = fields.length === 1 && fields[0] === "";
    if (!isBlank && fields[0]?.startsWith("#") !== true) yield { fields, line: began };
  }
}

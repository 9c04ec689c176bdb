/**
 * The token that a page of a list leaves for the next one: where to go on, and at which revision.
 * Unpadded base64url of `{"v","rv","start"}`; `start` is the key relative to the collection, after the last one
 * given. Pages from a watch cache write it with a leading slash, pages from the store without; both are read.
 * Source: the facts, section 3; kubernetes/apiserver, storage/continue.go.
 */
import { base64Error, decodeBase64Url, encodeBase64Url } from "../../../wire/base64.ts";
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { type ApiError, badRequest } from "../../contract/errors.ts";

export interface ContinueToken {
  /** Relative to the collection's prefix, without a leading slash. */
  readonly start: string;
  /** -1: at the newest revision, whatever came before. */
  readonly revision: number;
}

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder();

export function encodeContinue(dialect: Dialect, token: ContinueToken, leadingSlash: boolean): string {
  const fields = { v: version(dialect), rv: token.revision, start: `${leadingSlash ? "/" : ""}${token.start}` };
  return encodeBase64Url(utf8Encoder.encode(JSON.stringify(fields)));
}

/** Throws 400 for a token that no server made. `anyPath` (a planted bug) takes a start outside of the collection, too. */
export function decodeContinue(dialect: Dialect, text: string, anyPath = false): ContinueToken {
  const bytes = decodeBase64Url(text);
  if (typeof bytes === "number") throw refused(`: ${base64Error(bytes)}`);
  const { v, rv, start } = parseFields(utf8Decoder.decode(bytes));
  if (v !== version(dialect)) throw refused(`: server does not recognize this encoded version ${v}`);
  if (rv === 0) throw refused(`: incorrect encoded start resourceVersion (version ${v})`);
  if (start === "") throw refused(`: encoded start key empty (version ${v})`);
  const path = start.startsWith("/") ? start : `/${start}`;
  if (!isClean(path) && !anyPath) throw refused(`: ${start}`);
  return { start: path.slice(1), revision: rv < 0 ? -1 : rv };
}

const refused = (why: string): ApiError => badRequest(`invalid continue token: continue key is not valid${why}`);

const version = (dialect: Dialect): string => `${groupInDialect(dialect, "meta.svc.io")}/v1`;

function parseFields(text: string): { v: string; rv: number; start: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw refused(": it is not JSON");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw refused(": it is no JSON object");
  const { v = "", rv = 0, start = "" } = parsed as Record<string, unknown>;
  if (typeof v !== "string" || typeof start !== "string") throw refused(": v and start are strings");
  if (typeof rv !== "number" || !Number.isSafeInteger(rv)) throw refused(": rv is an integer");
  return { v, rv, start };
}

/** Absolute, with no empty, `.` or `..` segment and no final slash: what a path cleaner leaves as it is. */
function isClean(path: string): boolean {
  if (path === "/") return true;
  return path
    .slice(1)
    .split("/")
    .every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

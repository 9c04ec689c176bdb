/**
 * The token that a page of a list leaves for the next one: where to go on, and at which revision.
 * Unpadded base64url of `{"v","rv","start"}`; `start` is the key relative to the collection, after the last one
 * given. Pages from a watch cache write it with a leading slash, pages from the store without; both are read.
 * Source: the facts, section 3; kubernetes/apiserver, storage/continue.go.
 */
import { base64Error, decodeBase64Url, encodeBase64Url } from "../../../wire/base64.ts";
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { readJson } from "../../../wire/json-reader.ts";
import { type ApiError, badRequest } from "../../contract/errors.ts";

export interface ContinueToken {
  /** Relative to the collection's prefix, without a leading slash. */
  readonly start: string;
  /** -1: at the newest revision, whatever came before. */
  readonly revision: number;
}

const utf8Encoder = new TextEncoder();

export function encodeContinue(dialect: Dialect, token: ContinueToken, leadingSlash: boolean): string {
  const fields = { v: version(dialect), rv: token.revision, start: `${leadingSlash ? "/" : ""}${token.start}` };
  return encodeBase64Url(utf8Encoder.encode(JSON.stringify(fields)));
}

/** Throws 400 for a token that no server made. */
export function decodeContinue(dialect: Dialect, text: string): ContinueToken {
  const bytes = decodeBase64Url(text);
  if (typeof bytes === "number") throw refused(`: ${base64Error(bytes)}`);
  const { v, rv, start } = parseFields(bytes);
  if (v !== version(dialect)) throw refused(`: server does not recognize this encoded version ${v}`);
  if (rv === 0) throw refused(`: incorrect encoded start resourceVersion (version ${v})`);
  if (start === "") throw refused(`: encoded start key empty (version ${v})`);
  const path = start.startsWith("/") ? start : `/${start}`;
  if (!isClean(path)) throw refused(`: ${start}`);
  return { start: path.slice(1), revision: rv < 0 ? -1 : rv };
}

const refused = (why: string): ApiError => badRequest(`invalid continue token: continue key is not valid${why}`);

const version = (dialect: Dialect): string => `${groupInDialect(dialect, "meta.svc.io")}/v1`;

/** As the observed server's decoder reads them, null being nothing at all. */
function parseFields(bytes: Uint8Array): { v: string; rv: number; start: string } {
  const document = readJson(bytes);
  if (!document.ok) throw refused(`: ${document.error}`);
  const value = document.value ?? {};
  if (typeof value !== "object" || Array.isArray(value)) throw mistyped(value, "value of type storage.continueToken");
  const fields = value as Readonly<Record<string, unknown>>;
  const field = (name: string, type: string, zero: unknown): unknown => {
    const found = (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? zero;
    if (typeof found !== typeof zero || (typeof found === "number" && !Number.isSafeInteger(found))) {
      throw mistyped(found, `struct field continueToken.${name} of type ${type}`);
    }
    return found;
  };
  return {
    v: field("v", "string", "") as string,
    rv: field("rv", "int64", 0) as number,
    start: field("start", "string", "") as string,
  };
}

const mistyped = (found: unknown, wanted: string): ApiError =>
  refused(`: json: cannot unmarshal ${written(found)} into Go ${wanted}`);

function written(found: unknown): string {
  if (Array.isArray(found)) return "array";
  if (typeof found === "bigint") return `number ${found}`;
  if (typeof found === "number") return Number.isSafeInteger(found) ? "number" : `number ${found}`;
  return typeof found === "boolean" ? "bool" : typeof found;
}

/** Absolute, with no empty, `.` or `..` segment and no final slash: what a path cleaner leaves as it is. */
function isClean(path: string): boolean {
  if (path === "/") return true;
  return path
    .slice(1)
    .split("/")
    .every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

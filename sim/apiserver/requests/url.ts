/**
 * A request's path and query, decoded. Malformed percent-encoding is a 400, as an HTTP library in front of
 * the real server answers before any handler sees the request.
 */
import { badRequest } from "../../contract/errors.ts";

const noValues: readonly string[] = [];

/** Query parameters by name, each with its values in order. */
export class Query {
  private readonly values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.values = values;
  }

  get isEmpty(): boolean {
    return this.values.size === 0;
  }

  has(name: string): boolean {
    return this.values.has(name);
  }

  /** The first value, or undefined when the parameter is absent. */
  first(name: string): string | undefined {
    return this.values.get(name)?.[0];
  }

  all(name: string): readonly string[] {
    return this.values.get(name) ?? noValues;
  }

  /** Absent, `0` and `false` are false; anything else, an empty value included, is true. Source: the facts, section 3. */
  flag(name: string): boolean {
    const value = this.first(name);
    return value !== undefined && value !== "0" && value.toLowerCase() !== "false";
  }
}

export const emptyQuery = new Query(new Map());

/** Parses what follows the `?`. Throws 400. */
export function parseQuery(raw: string): Query {
  if (raw === "") return emptyQuery;
  const values = new Map<string, string[]>();
  for (const pair of raw.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decodeQueryPart(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decodeQueryPart(pair.slice(equals + 1));
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return new Query(values);
}

/**
 * The decoded segments of an absolute path. `.` and `..` are resolved and one trailing slash is dropped; an
 * empty segment elsewhere stays, for it must not match any route. Throws 400.
 */
export function parsePath(raw: string): readonly string[] {
  requireFewSegments(raw);
  const segments: string[] = [];
  for (const part of raw.slice(raw.startsWith("/") ? 1 : 0).split("/")) {
    if (part === ".") continue;
    if (part === "..") segments.pop();
    else segments.push(part.includes("%") ? decode(part, "path") : part);
  }
  if (segments.at(-1) === "") segments.pop();
  return segments;
}

/** Of a path: no API's has many, and what is behind a proxy has few. Simplification: the real server takes what fits into a line. */
const segmentsMax = 4_096;

function requireFewSegments(raw: string): void {
  if (raw.length <= segmentsMax) return;
  let count = 0;
  for (let at = raw.indexOf("/"); at >= 0; at = raw.indexOf("/", at + 1)) count++;
  if (count > segmentsMax) throw badRequest(`the path has more than ${segmentsMax} segments`);
}

/** The path that is answered, however it was spelt: rights are asked about this one. Throws 400. */
export function plainPath(raw: string): string {
  const segments = parsePath(raw);
  return `/${segments.join("/")}${segments.length > 0 && raw.endsWith("/") ? "/" : ""}`;
}

function decodeQueryPart(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decode(spaced, "query") : spaced;
}

function decode(text: string, where: "path" | "query"): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest(`invalid percent-encoding in the ${where}: ${JSON.stringify(text)}`);
  }
}

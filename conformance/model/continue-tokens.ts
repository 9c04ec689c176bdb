/** Tokens of pages, altered as somebody would who wants to read a neighbour's objects. Clients are to take tokens as opaque. */
import { isJsonObject, type Json } from "../client/types.ts";

/** The token with each of its texts replaced in turn; none when it cannot be read. Every text may be a position. */
export function alteredTokens(token: string, target: string): string[] {
  const fields = decoded(token);
  if (!isJsonObject(fields)) return [];
  return Object.entries(fields).flatMap(([name, value]) => {
    if (typeof value !== "string") return [];
    return ["", "\u0000"].map((end) => encoded({ ...fields, [name]: target + end }));
  });
}

function decoded(token: string): Json | undefined {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as Json;
  } catch {
    return undefined;
  }
}

function encoded(fields: Json | object): string {
  return Buffer.from(JSON.stringify(fields)).toString("base64url");
}

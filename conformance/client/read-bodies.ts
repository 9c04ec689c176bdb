/**
 * Bodies in other encodings than JSON, as whoever asked for one reads it. Each reader has the bounds of answers in JSON: a few
 * kilobytes may unpack to gigabytes, and a text of YAML takes its reader a hundred times its bytes.
 */
import { gunzipSync } from "node:zlib";
import { decodeCbor, decodeCborItem } from "../../wire/cbor.ts";
import { answerValuesMax } from "../../wire/json-values.ts";
import { parseYaml } from "../../wire/yaml-text.ts";
import { bodyBytesMax, unreadJson } from "./answer-limits.ts";
import type { Json } from "./types.ts";

/** Throws for what is not gzip, and for what is beyond the bound of a body once it is unpacked. */
export function unpackedText(bytes: Uint8Array): string {
  return new TextDecoder().decode(gunzipSync(bytes, { maxOutputLength: bodyBytesMax }));
}

/** Throws for what is no JSON, and for what is beyond the bounds of an answer. */
export function jsonIn(text: string): Json {
  const unread = unreadJson(new TextEncoder().encode(text));
  if (unread !== undefined) throw new SyntaxError(unread);
  return JSON.parse(text) as Json;
}

/** Throws for what is no YAML, and for more lines, commas and brackets than anybody means. */
export function yamlIn(text: string, version: "1.1" | "1.2" = "1.2"): Json {
  return parseYaml(text, { version }) as Json;
}

/** Undefined for what cannot be read. */
export function readOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** One item. Throws for what is no CBOR, and for more items in it than a body has values. */
export function cborIn(bytes: Uint8Array): Json {
  return decodeCbor(bytes, answerValuesMax) as Json;
}

/** A sequence of items. Throws as `cborIn`, for all of them together. */
export function cborItemsIn(bytes: Uint8Array): Json[] {
  const items: Json[] = [];
  let left = answerValuesMax;
  for (let at = 0; at < bytes.length; ) {
    const { value, end, count } = decodeCborItem(bytes, at, left);
    left -= count;
    items.push(value as Json);
    at = end;
  }
  return items;
}

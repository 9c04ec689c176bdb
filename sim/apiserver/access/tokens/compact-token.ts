/**
 * A JSON Web Token in its compact form: taken apart, and nothing of it believed yet.
 * Source: RFC 7515 (3.1, 4.1.11), RFC 7519 (7.2); RFC 8725.
 */
import { decodeBase64Url, encodeBase64Url } from "../../../../wire/base64.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";

export interface CompactToken {
  readonly algorithm: string;
  /** Undefined: the header names no key. */
  readonly keyId: string | undefined;
  readonly claims: JsonObject;
  /** What is signed. */
  readonly input: Uint8Array;
  readonly signature: Uint8Array;
}

export interface NoToken {
  readonly error: string;
}

/** Beyond every token that an issuer makes; what is longer is not even decoded. */
const charactersMax = 64 * 1024;

/**
 * Keys that a header brings along (`jwk`, `jku`, `x5c`, `x5u`) are not looked at: only the issuer's own keys count. A
 * header with `crit` wants something understood that nobody here understands.
 */
export function parseToken(text: string): CompactToken | NoToken {
  if (text.length > charactersMax) return { error: `the token is longer than ${charactersMax} characters` };
  const parts = text.split(".", 4);
  const [head = "", body = "", proof = ""] = parts;
  if (parts.length !== 3) return { error: "a token has three parts" };
  const header = decodedPart(head);
  if (header === undefined) return { error: "its header is no JSON object in base64url" };
  const claims = decodedPart(body);
  if (claims === undefined) return { error: "its payload is no JSON object in base64url" };
  const signature = decodeBase64Url(proof);
  // The same bits can be written in several ways; a token has one.
  if (!(signature instanceof Uint8Array) || encodeBase64Url(signature) !== proof) {
    return { error: "its signature is not base64url" };
  }
  const { alg: algorithm, kid: keyId } = header;
  if (typeof algorithm !== "string") return { error: "its header names no algorithm" };
  if (keyId !== undefined && typeof keyId !== "string") return { error: "the key's name in its header is no text" };
  if (Object.hasOwn(header, "crit")) return { error: "its header says that something critical must be understood" };
  return { algorithm, keyId, claims, input: utf8.encode(`${head}.${body}`), signature };
}

/** Whose a token says that it is, for the sake of finding out who could verify it. */
export function claimedIssuer({ claims }: CompactToken): string | undefined {
  const { iss } = claims;
  return typeof iss === "string" ? iss : undefined;
}

const utf8 = new TextEncoder();

/** One part of a token; undefined for what is no JSON object. */
export function decodedPart(part: string): JsonObject | undefined {
  const raw = decodeBase64Url(part);
  if (!(raw instanceof Uint8Array)) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

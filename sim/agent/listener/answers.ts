/** Answers of an agent's listeners: text, JSON, and bytes that flow. */
import { encodeJson } from "../../../wire/go-strings.ts";
import type { JsonObject, Payload, Responder } from "../../contract/http-message.ts";

const encoder = new TextEncoder();

export function bytesPayload(bytes: Uint8Array, contentType: string): Payload {
  return { object: undefined, contentType, bytes: () => bytes, sizeBytes: bytes.length };
}

export const plainText = "text/plain; charset=utf-8";

export function answerText(responder: Responder, status: number, text: string, contentType = plainText): void {
  responder.respond(status, {}, bytesPayload(encoder.encode(text), contentType));
}

export function answerJson(responder: Responder, object: JsonObject): void {
  responder.respond(200, {}, bytesPayload(encoder.encode(`${encodeJson(object)}\n`), "application/json"));
}

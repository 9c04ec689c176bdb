/** Bytes of what is sent and stored. */
import type { Payload } from "../contract/http-message.ts";

/** Of an answer or an event. Large ones are not put together for it. */
export function sizeOf(payload: Payload): number {
  if (payload.sizeBytes !== undefined) return payload.sizeBytes;
  if (payload.pieces === undefined) return payload.bytes().length;
  let bytes = 0;
  for (const piece of payload.pieces()) bytes += piece.length;
  return bytes;
}

/** Of an object as JSON, about: characters, not bytes. */
export const jsonSize = (object: object | undefined): number =>
  object === undefined ? 0 : object instanceof Uint8Array ? object.length : JSON.stringify(object).length;

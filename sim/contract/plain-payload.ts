import type { JsonObject, Payload } from "./http-message.ts";

/** An object as JSON, for what stands between a client and a server and answers by itself. */
export function objectPayload(object: JsonObject): Payload {
  return {
    object,
    contentType: "application/json",
    bytes: () => new TextEncoder().encode(`${JSON.stringify(object)}\n`),
  };
}

/**
 * Versions as strings that mean nothing: each is shown to the program as a long number drawn at chance, and taken back
 * from it. Whoever compares them by order, counts on, or keeps them as a floating-point number goes wrong.
 * Source: document 1, Resource versions 1.
 */
import type { ApiHandler, ApiRequest, JsonObject, Payload, Responder } from "../../contract/http-message.ts";
import { objectPayload } from "../../contract/plain-payload.ts";
import type { Prng } from "../../kernel/types.ts";

export class OpaqueVersions {
  readonly #prng: Prng;
  readonly #shown = new Map<string, string>();
  readonly #meant = new Map<string, string>();

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  wrap(handler: ApiHandler): ApiHandler {
    return {
      start: (request, responder) => handler.start(this.#taken(request), this.#showing(responder)),
    };
  }

  #taken(request: ApiRequest): ApiRequest {
    const { query, body } = request;
    const plainQuery = query.replace(/\b7\d{18}\b/g, (version) => this.#meant.get(version) ?? version);
    if (!(body instanceof Uint8Array)) return { ...request, query: plainQuery };
    if (!isJson(request.headers["content-type"])) return { ...request, query: plainQuery };
    const text = new TextDecoder().decode(body);
    const plain = text.replace(/"7\d{18}"/g, (quoted) => {
      const version = this.#meant.get(quoted.slice(1, -1));
      return version === undefined ? quoted : `"${version}"`;
    });
    return { ...request, query: plainQuery, body: plain === text ? body : new TextEncoder().encode(plain) };
  }

  #showing(responder: Responder): Responder {
    return {
      respond: (status, headers, payload) => responder.respond(status, headers, this.#veiled(payload)),
      open: (status, headers) => responder.open(status, headers),
      frame: (payload) => responder.frame(this.#veiled(payload)),
      close: () => responder.close(),
      failed: (failure) => responder.failed?.(failure),
    };
  }

  /** Of JSON alone: a client of other encodings sees what it always sees. */
  #veiled(payload: Payload): Payload {
    if (!isJson(payload.contentType)) return payload;
    const text = new TextDecoder().decode(payload.bytes());
    const veiled = text.replace(
      /("resourceVersion":\s*")(\d+)"/g,
      (_, name: string, version: string) => `${name}${this.#show(version)}"`,
    );
    return { ...objectPayload(JSON.parse(veiled) as JsonObject), contentType: payload.contentType };
  }

  #show(version: string): string {
    if (version === "0") return version;
    const known = this.#shown.get(version);
    if (known !== undefined) return known;
    const digits = [0, 1].map(() => String(this.#prng.intInclusive(0, 999_999_999)).padStart(9, "0"));
    const token = `7${digits.join("")}`;
    this.#shown.set(version, token);
    this.#meant.set(token, version);
    return token;
  }
}

const isJson = (contentType: string | undefined): boolean => (contentType ?? "application/json").includes("json");

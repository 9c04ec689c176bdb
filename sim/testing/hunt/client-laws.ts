/**
 * What the documents ask of clients, judged on what a program sends: versions come back as they were given; after 410 it
 * lists anew; it rejects protobuf with a prefix that it does not know; it verifies the version of an Exact list.
 * Nobody sees what a program believes, so each law is judged by what it does next.
 */
import type { ApiHandler, ApiRequest, JsonObject, Payload, Responder } from "../../contract/http-message.ts";
import { queryOf } from "../../checkers/query-words.ts";

export type ClientLaw =
  | "versions are opaque"
  | "410 means list anew"
  | "an unknown prefix is rejected"
  | "an Exact list is verified";

export interface BrokenLaw {
  readonly law: ClientLaw;
  /** Where the documents ask for it. */
  readonly source: string;
  readonly actual: string;
}

const sources: Readonly<Record<ClientLaw, string>> = {
  "versions are opaque": "document 1, Resource versions 1: compared for equality only, and passed back unmodified",
  "410 means list anew": "document 1, Watch 3: after 410 Gone it clears its cache, lists again and watches from there",
  "an unknown prefix is rejected": "document 1, Protobuf: a response without the known prefix must be rejected",
  "an Exact list is verified": "document 1, Resource versions: clients using Exact verify the version of what they get",
};

/** So often is a program allowed to be refused the same version: several of its watches may have stood there. */
const refusalsMax = 3;

export class ClientLaws {
  #broken: BrokenLaw | undefined;
  /** Versions that the program was given, in whatever answer. */
  readonly #given = new Set<string>();
  /** Versions that it was given only in answers that it must not take. */
  readonly #forbidden = new Map<string, ClientLaw>();
  /** How often a version was refused with 410 since the last list, by collection and version. */
  readonly #refused = new Map<string, Map<string, number>>();

  get broken(): BrokenLaw | undefined {
    return this.#broken;
  }

  wrap(handler: ApiHandler): ApiHandler {
    return {
      start: (request, responder) => {
        const query = queryOf(request.query);
        this.#sent(request, query);
        return handler.start(request, this.#heard(request, query, responder));
      },
    };
  }

  #sent(request: ApiRequest, query: ReadonlyMap<string, string>): void {
    const version = query.get("resourceVersion") ?? "";
    const what = `${query.has("watch") ? "WATCH" : request.method} ${request.path} from version ${version}`;
    this.#usesVersion(version, what);
    const refusals = this.#refused.get(request.path)?.get(version) ?? 0;
    if (isWatch(query) && refusals >= refusalsMax)
      this.#breaks(
        "410 means list anew",
        `${what}, which was refused with 410 ${refusals} times, without a list since`,
      );
    if (request.method === "PUT") this.#usesVersion(versionOf(bodyOf(request)), `PUT ${request.path}`);
  }

  #usesVersion(version: string, what: string): void {
    if (version === "" || version === "0") return;
    const law = this.#forbidden.get(version);
    if (law !== undefined)
      this.#breaks(law, `${what}: it has version ${version} from the answer that it was to reject`);
    else if (!this.#given.has(version))
      this.#breaks("versions are opaque", `${what}: nobody has given it version ${version}`);
  }

  #heard(request: ApiRequest, query: ReadonlyMap<string, string>, responder: Responder): Responder {
    const watches = isWatch(query);
    const refused = (): void => this.#refuse(request.path, query.get("resourceVersion") ?? "");
    return {
      respond: (status, headers, payload) => {
        const { object } = payload;
        if (status === 410 && watches) refused();
        if (status < 300 && object !== undefined) this.#answered(request, query, payload, object);
        responder.respond(status, headers, payload);
      },
      open: (status, headers) => responder.open(status, headers),
      frame: (payload) => {
        const { type, object } = (payload.object ?? {}) as { type?: string; object?: JsonObject };
        if (type === "ERROR" && object?.["code"] === 410) refused();
        else if (object !== undefined) this.#give(versionOf(object));
        return responder.frame(payload);
      },
      close: () => responder.close(),
      failed: (failure) => responder.failed?.(failure),
    };
  }

  #answered(request: ApiRequest, query: ReadonlyMap<string, string>, payload: Payload, object: JsonObject): void {
    const items = object["items"];
    const law = forbiddenBy(query, payload, object);
    const versions = [
      versionOf(object),
      ...(Array.isArray(items) ? items.map((item) => versionOf(item as JsonObject)) : []),
    ];
    for (const version of versions) {
      if (law === undefined) this.#give(version);
      else if (version !== "" && !this.#given.has(version)) this.#forbidden.set(version, law);
    }
    if (Array.isArray(items) && law === undefined) this.#refused.delete(request.path);
  }

  #give(version: string): void {
    if (version === "") return;
    this.#given.add(version);
    this.#forbidden.delete(version);
  }

  #refuse(path: string, version: string): void {
    if (version === "") return;
    const counts = this.#refused.get(path) ?? new Map<string, number>();
    counts.set(version, (counts.get(version) ?? 0) + 1);
    this.#refused.set(path, counts);
  }

  #breaks(law: ClientLaw, actual: string): void {
    this.#broken ??= { law, source: sources[law], actual };
  }
}

/** The law by which a client must not take this answer. */
function forbiddenBy(query: ReadonlyMap<string, string>, payload: Payload, object: JsonObject): ClientLaw | undefined {
  if (payload.contentType.includes("protobuf") && !hasKnownPrefix(payload.bytes()))
    return "an unknown prefix is rejected";
  const isExact = query.get("resourceVersionMatch") === "Exact" && !query.has("limit");
  return isExact && versionOf(object) !== query.get("resourceVersion") ? "an Exact list is verified" : undefined;
}

/** Source: document 1, Protobuf. */
const hasKnownPrefix = (bytes: Uint8Array): boolean => [0x6b, 0x38, 0x73, 0x00].every((byte, at) => bytes[at] === byte);

const isWatch = (query: ReadonlyMap<string, string>): boolean => ["1", "true"].includes(query.get("watch") ?? "");

const versionOf = (object: JsonObject): string =>
  String((object["metadata"] as { resourceVersion?: string } | undefined)?.resourceVersion ?? "");

function bodyOf({ body, headers }: ApiRequest): JsonObject {
  if (!(body instanceof Uint8Array)) return body ?? {};
  if (!(headers["content-type"] ?? "json").includes("json")) return {};
  try {
    const value = JSON.parse(new TextDecoder().decode(body)) as JsonObject | null;
    return value ?? {};
  } catch {
    return {};
  }
}

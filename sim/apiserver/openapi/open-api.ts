/**
 * `/openapi/v2`, one document for old clients, and `/openapi/v3`: an index of group versions, each with the address of its document and a hash in it, so that clients
 * may keep a document for ever. Documents are made when somebody first asks.
 * Source: the facts, section 5 (a stale hash is redirected, JSON or nothing).
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { encodeJson } from "../../../wire/go-strings.ts";
import { negotiate } from "../../../wire/media-types.ts";
import { groupRows, joinGroupVersion } from "../../../wire/resources.ts";
import { contentTag } from "./content-tag.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { baseHeaders, respondText } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import { compactJson } from "../encodings/encode.ts";
import { ObjectPayload, TextPayload } from "../encodings/payload.ts";
import type { ServerContext } from "../verbs/server-context.ts";
import { type CustomSchemas, customSchemas, noCustomSchemas } from "./custom-schemas.ts";
import { openApiDocument } from "./document.ts";
import { swaggerDocument, swaggerWith } from "./swagger.ts";
import { asksForSwaggerProtobuf, encodeSwagger, swaggerProtobufMediaType } from "./swagger-protobuf.ts";

/** Written out once: some have hundreds of kilobytes, and a short request must not cost a long time. */
interface Kept {
  readonly payload: Payload;
  readonly tag: string;
}

interface Entry extends Kept {
  readonly address: string;
}

const jsonPayload = (document: JsonObject): Payload => new ObjectPayload(document, "application/json", compactJson);

const offers = [{ mediaType: "application/json", streamMediaType: undefined }];

export class OpenApi {
  private readonly context: ServerContext;
  private readonly builtIn: Places;
  private versions: ReadonlyMap<string, readonly [group: string, version: string]>;
  private readonly entries = new Map<string, Entry>();
  private swagger: (Kept & { readonly binary: Payload }) | undefined;
  /** Of the built-in types, which is most of it and stays. */
  private baseSwagger: JsonObject | undefined;
  private index: Kept | undefined;
  private custom: CustomSchemas = noCustomSchemas;
  /** Of the custom resources that the documents were made from. */
  private generation = 0;

  constructor(context: ServerContext) {
    const { dialect } = context.profile;
    this.context = context;
    const named = groupRows.flatMap(({ group, versions }) =>
      versions.map((version) => [pathOf(dialect, group, version), [group, version]] as const),
    );
    this.builtIn = [["api/v1", ["", "v1"]], ...named];
    this.versions = sorted(this.builtIn);
  }

  /** Forgets what was made from custom resources that have changed since. */
  private follow(): void {
    const { custom, profile } = this.context;
    if (this.generation === custom.generation) return;
    this.generation = custom.generation;
    this.custom = customSchemas(profile.dialect, custom.all());
    for (const [path] of this.versions) if (!this.builtIn.some(([kept]) => kept === path)) this.entries.delete(path);
    this.versions = sorted([...this.builtIn, ...this.customPlaces()]);
    this.swagger = undefined;
    this.index = undefined;
  }

  private customPlaces(): Places {
    const { custom, profile } = this.context;
    return custom
      .groups()
      .flatMap(({ group, versions }) =>
        versions.map((version) => [pathOf(profile.dialect, group, version), [group, version]] as const),
      );
  }

  private make(group: string, version: string): JsonObject {
    const { custom, profile } = this.context;
    const part = { rows: custom.rowsOf(group, version), schemas: this.custom };
    return openApiDocument(profile.dialect, group, version, part);
  }

  /** Answers a path below `/openapi/v3`, given without it; false when nothing is there. */
  answer(run: Run, path: string): boolean {
    this.follow();
    const known = path === "" ? this.indexEntry() : this.entry(path);
    if (known === undefined) return false;
    if (!isAcceptable(run)) {
      run.respond(406, baseHeaders(run), new TextPayload(""));
      return true;
    }
    const hash = run.query.first("hash");
    if (path !== "" && hash !== undefined && hash !== bare(known.tag)) {
      respondText(this.context, run, 301, "", { location: (known as Entry).address });
      return true;
    }
    const lasting = path !== "" && hash !== undefined ? { "cache-control": "public, immutable" } : {};
    const headers = { ...baseHeaders(run), ...lasting, etag: known.tag, vary: "Accept" };
    if (run.request.headers["if-none-match"] === known.tag) run.respond(304, headers, new TextPayload(""));
    else run.respond(200, headers, known.payload);
    return true;
  }

  /** Answers `/openapi/v2`: JSON, or protobuf for who names it. */
  answerSwagger(run: Run): void {
    this.follow();
    if (this.swagger === undefined) {
      const { dialect } = this.context.profile;
      this.baseSwagger ??= swaggerDocument(dialect);
      const documents = this.customPlaces().map(([, place]) => this.make(...place));
      const document = swaggerWith(this.baseSwagger, documents, dialect);
      const binary = new ObjectPayload(document, swaggerProtobufMediaType, encodeSwagger);
      this.swagger = { payload: jsonPayload(document), binary, tag: contentTag(encodeJson(document)) };
    }
    const { payload, binary, tag } = this.swagger;
    const wantsBinary = asksForSwaggerProtobuf(run.request.headers["accept"] ?? "");
    const headers = { ...baseHeaders(run), etag: tag, vary: "Accept" };
    if (!wantsBinary && !isAcceptable(run)) run.respond(406, baseHeaders(run), new TextPayload(""));
    else if (run.request.headers["if-none-match"] === tag) run.respond(304, headers, new TextPayload(""));
    else run.respond(200, headers, wantsBinary ? binary : payload);
  }

  private indexEntry(): Kept {
    if (this.index !== undefined) return this.index;
    const paths = Object.fromEntries(
      [...this.versions.keys()].map((path) => [path, { serverRelativeURL: (this.entry(path) as Entry).address }]),
    );
    this.index = { payload: jsonPayload({ paths }), tag: contentTag(encodeJson({ paths })) };
    return this.index;
  }

  private entry(path: string): Entry | undefined {
    const made = this.entries.get(path);
    const place = this.versions.get(path);
    if (made !== undefined || place === undefined) return made;
    const document = this.make(...place);
    const tag = contentTag(encodeJson(document));
    const entry = { payload: jsonPayload(document), tag, address: `/openapi/v3/${path}?hash=${bare(tag)}` };
    this.entries.set(path, entry);
    return entry;
  }
}

type Places = readonly (readonly [path: string, place: readonly [group: string, version: string]])[];

const sorted = (places: Places): ReadonlyMap<string, readonly [group: string, version: string]> =>
  new Map([...places].sort(([a], [b]) => (a < b ? -1 : 1)));

function pathOf(dialect: Dialect, group: string, version: string): string {
  return `apis/${joinGroupVersion(groupInDialect(dialect, group), version)}`;
}

function isAcceptable(run: Run): boolean {
  const accept = run.request.headers["accept"] ?? "";
  return accept === "" || negotiate(accept, offers, (_, transform) => transform === undefined) !== undefined;
}

const bare = (tag: string): string => tag.slice(1, -1);

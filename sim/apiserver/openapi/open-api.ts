/**
 * `/openapi/v2`, one document for old clients, and `/openapi/v3`: an index of group versions, each with the address of its document and a hash in it, so that clients
 * may keep a document for ever. Documents are made when somebody first asks, in steps: definitions may have megabytes, and there may be many.
 * Source: the facts, section 5 (a stale hash is redirected, JSON or nothing).
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { jsonPieces } from "../../../wire/go-strings.ts";
import { negotiate } from "../../../wire/media-types.ts";
import { groupRows, joinGroupVersion } from "../../../wire/resources.ts";
import { ContentTag } from "./content-tag.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { baseHeaders, respondText } from "../answers/respond.ts";
import { isLargeObject } from "../../objects/value-limit.ts";
import type { Run } from "../requests/run.ts";
import { utf8 } from "../encodings/encodings.ts";
import { TextPayload, WrittenPayload } from "../encodings/payload.ts";
import type { ServerContext } from "../verbs/server-context.ts";
import { type CustomSchemas, customSchemas, noCustomSchemas } from "./custom-schemas.ts";
import { openApiSteps } from "./document.ts";
import { SharedWork } from "./shared-work.ts";
import { type MakeDocument, swaggerDocument, swaggerWith } from "./swagger.ts";
import { asksForSwaggerProtobuf, swaggerPieces, swaggerProtobufMediaType } from "./swagger-protobuf.ts";

/** Written out once: some have hundreds of kilobytes, and a short request must not cost a long time. */
interface Kept {
  readonly payload: Payload;
  readonly tag: string;
}

function* written(document: JsonObject): Generator<void, Kept> {
  const pieces: Uint8Array[] = [];
  const tag = new ContentTag();
  for (const piece of jsonPieces(document, false)) {
    tag.add(piece);
    pieces.push(utf8(piece));
    yield;
  }
  pieces.push(lineEnd);
  return { payload: new WrittenPayload(document, "application/json", pieces), tag: String(tag) };
}

/** So many small ones take a few milliseconds. */
const shortDefinitionsMax = 20;

const lineEnd = utf8("\n");

const offers = [{ mediaType: "application/json", streamMediaType: undefined }];

export class OpenApi {
  private readonly context: ServerContext;
  private readonly builtIn: Places;
  private versions: ReadonlyMap<string, Place>;
  private readonly entries = new Map<string, SharedWork<Kept>>();
  private swagger: SharedWork<Kept> | undefined;
  private binarySwagger: SharedWork<Kept> | undefined;
  /** Of the built-in types, which is most of it and stays. */
  private readonly baseSwagger: SharedWork<JsonObject>;
  private index: SharedWork<Kept> | undefined;
  private custom: CustomSchemas = noCustomSchemas;
  /** Of the custom resources that the documents were made from. */
  private generation = 0;
  /** Definitions of which making documents takes long. */
  private isLong = false;

  constructor(context: ServerContext) {
    const { dialect } = context.profile;
    this.context = context;
    const named = groupRows.flatMap(({ group, versions }) =>
      versions.map((version) => [pathOf(dialect, group, version), [group, version]] as const),
    );
    this.builtIn = [["api/v1", ["", "v1"]], ...named];
    this.versions = sorted(this.builtIn);
    this.baseSwagger = new SharedWork(swaggerDocument(dialect));
  }

  /** Forgets what was made from custom resources that have changed since. */
  private follow(): void {
    const { custom, profile } = this.context;
    if (this.generation === custom.generation) return;
    this.generation = custom.generation;
    const definitions = custom.definitions();
    this.isLong = definitions.length > shortDefinitionsMax || definitions.some(isLargeObject);
    this.custom = customSchemas(profile.dialect, custom.all());
    for (const path of this.entries.keys())
      if (!this.builtIn.some(([kept]) => kept === path)) this.entries.delete(path);
    this.versions = sorted([...this.builtIn, ...this.customPlaces()]);
    this.swagger = undefined;
    this.binarySwagger = undefined;
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

  private make(group: string, version: string): Generator<void, JsonObject> {
    const { custom, profile } = this.context;
    const part = { rows: custom.rowsOf(group, version), schemas: this.custom };
    return openApiSteps(profile.dialect, group, version, part);
  }

  /** Answers a path below `/openapi/v3`, given without it; false when nothing is there. */
  answer(run: Run, path: string): boolean {
    this.follow();
    const place = this.versions.get(path);
    if (path !== "" && place === undefined) return false;
    if (!isAcceptable(run)) {
      run.respond(406, baseHeaders(run), new TextPayload(""));
      return true;
    }
    this.after(run, place === undefined ? this.indexOfAll() : this.entry(path, place), (known) => {
      const hash = run.query.first("hash");
      if (path !== "" && hash !== undefined && hash !== bare(known.tag)) {
        respondText(this.context, run, 301, "", { location: addressOf(path, known) });
        return;
      }
      const lasting = path !== "" && hash !== undefined ? { "cache-control": "public, immutable" } : {};
      respondKept(run, known, { ...lasting, etag: known.tag, vary: "Accept" });
    });
    return true;
  }

  /** Answers `/openapi/v2`: JSON, or protobuf for who names it. */
  answerSwagger(run: Run): void {
    this.follow();
    const wantsBinary = asksForSwaggerProtobuf(run.request.headers["accept"] ?? "");
    if (!wantsBinary && !isAcceptable(run)) run.respond(406, baseHeaders(run), new TextPayload(""));
    else
      this.after(run, wantsBinary ? this.wholeBinary() : this.whole(), (known) =>
        respondKept(run, known, { etag: known.tag, vary: "Accept" }),
      );
  }

  /** Goes on when it is done: at once, or as a request that takes long. */
  private after(run: Run, work: SharedWork<Kept>, proceed: (known: Kept) => void): void {
    run.isLarge ||= this.isLong && !work.isDone;
    run.next(() => run.steps(work.steps(), proceed));
  }

  private whole(): SharedWork<Kept> {
    return (this.swagger = begun(this.swagger, () => this.makeWhole()));
  }

  private *makeWhole(): Generator<void, Kept> {
    const { dialect } = this.context.profile;
    const documents = this.customPlaces().map(
      ([, place]): MakeDocument =>
        () =>
          this.make(...place),
    );
    const base = yield* this.baseSwagger.steps();
    return yield* written(yield* swaggerWith(base, documents, dialect));
  }

  /** With the tag of the other form: what it says is the same. */
  private wholeBinary(): SharedWork<Kept> {
    const json = this.whole();
    return (this.binarySwagger = begun(this.binarySwagger, function* () {
      const { payload, tag } = yield* json.steps();
      const document = payload.object as JsonObject;
      const pieces = yield* swaggerPieces(document);
      return { payload: new WrittenPayload(document, swaggerProtobufMediaType, pieces), tag };
    }));
  }

  private indexOfAll(): SharedWork<Kept> {
    return (this.index = begun(this.index, () => this.makeIndex()));
  }

  private *makeIndex(): Generator<void, Kept> {
    const paths = new Map<string, JsonObject>();
    for (const [path, place] of this.versions) {
      const known = yield* this.entry(path, place).steps();
      paths.set(path, { serverRelativeURL: addressOf(path, known) });
    }
    return yield* written({ paths: Object.fromEntries(paths) });
  }

  private entry(path: string, place: Place): SharedWork<Kept> {
    const work = begun(this.entries.get(path), () => this.makeEntry(place));
    this.entries.set(path, work);
    return work;
  }

  private *makeEntry(place: Place): Generator<void, Kept> {
    return yield* written(yield* this.make(...place));
  }
}

/** What is under way or done, or the same from its beginning. */
const begun = <Result>(
  before: SharedWork<Result> | undefined,
  make: () => Iterator<void, Result>,
): SharedWork<Result> => (before === undefined || before.hasFailed ? new SharedWork(make()) : before);

function respondKept(run: Run, known: Kept, more: Readonly<Record<string, string>>): void {
  const headers = { ...baseHeaders(run), ...more };
  if (run.request.headers["if-none-match"] === known.tag) run.respond(304, headers, new TextPayload(""));
  else run.respond(200, headers, known.payload);
}

const addressOf = (path: string, { tag }: Kept): string => `/openapi/v3/${path}?hash=${bare(tag)}`;

type Place = readonly [group: string, version: string];
type Places = readonly (readonly [path: string, place: Place])[];

const sorted = (places: Places): ReadonlyMap<string, Place> =>
  new Map([...places].sort(([a], [b]) => (a < b ? -1 : 1)));

function pathOf(dialect: Dialect, group: string, version: string): string {
  return `apis/${joinGroupVersion(groupInDialect(dialect, group), version)}`;
}

function isAcceptable(run: Run): boolean {
  const accept = run.request.headers["accept"] ?? "";
  return accept === "" || negotiate(accept, offers, (_, transform) => transform === undefined) !== undefined;
}

const bare = (tag: string): string => tag.slice(1, -1);

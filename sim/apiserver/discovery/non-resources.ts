/** Every path that is no resource: discovery, health, version, the index, and the 404 of paths nobody has. */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { negotiate } from "../../../wire/media-types.ts";
import { type GroupRow, groupRows, joinGroupVersion } from "../../../wire/resources.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { baseHeaders, encodeOf, respondText } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import { encodeJson } from "../../../wire/go-strings.ts";
import { prettyJson } from "../encodings/encode.ts";
import { ObjectPayload, PiecedTextPayload, TextPayload } from "../encodings/payload.ts";
import { typeOfObject } from "../encodings/protobuf/envelope.ts";
import { OpenApi } from "../openapi/open-api.ts";
import type { ServerContext } from "../verbs/server-context.ts";
import { contentTag } from "../openapi/content-tag.ts";
import { type DiscoveryDocuments, discoveryDocuments } from "./documents.ts";
import { Health } from "./health.ts";
import { openIdDocument, openIdPaths } from "./openid.ts";
import { methodNotAllowed } from "../../contract/errors.ts";
import { exposition, expositionMediaType } from "../metrics/exposition.ts";
import { versionDocument } from "./version.ts";

/** How everything at once can be had. */
const aggregatedOffers = ({ protobufMediaType }: Dialect) =>
  [
    { mediaType: "application/json", streamMediaType: undefined, format: "json" },
    { mediaType: "application/yaml", streamMediaType: undefined, format: "yaml" },
    { mediaType: protobufMediaType, streamMediaType: undefined, format: "protobuf" },
  ] as const;

/** What the server has counted, as text. */
interface MetricsText {
  /** Stops after each piece. */
  readonly pieces: () => Generator<void, readonly string[]>;
  /** It takes more than a moment. */
  readonly isLong: () => boolean;
}

export class NonResources {
  private readonly context: ServerContext;
  private readonly advertisedUrl: () => string;
  private readonly health: Health;
  private readonly version: JsonObject;
  private made: { readonly documents: DiscoveryDocuments; readonly index: JsonObject } | undefined;
  /** Of the custom resources that the documents were made from, and the address that they tell. */
  private generation = 0;
  private address = "";
  private readonly openApi: OpenApi;
  private readonly metrics: MetricsText;
  private readonly discoveryGroup: string;

  constructor(context: ServerContext, advertisedUrl: () => string, metrics: MetricsText) {
    const { dialect, release } = context.profile;
    this.version = versionDocument(release);
    this.context = context;
    this.advertisedUrl = advertisedUrl;
    this.health = new Health(dialect);
    this.openApi = new OpenApi(context);
    this.metrics = metrics;
    this.discoveryGroup = groupInDialect(dialect, "apidiscovery.svc.io");
  }

  private get documents(): DiscoveryDocuments {
    return this.current.documents;
  }

  /** Made again when custom resources have come or gone, and when the address is known: controllers ask before that. */
  private get current(): { readonly documents: DiscoveryDocuments; readonly index: JsonObject } {
    const { custom, profile } = this.context;
    const address = this.advertisedUrl().replace(/^https?:\/\//, "");
    if (this.made !== undefined && this.generation === custom.generation && this.address === address) return this.made;
    this.generation = custom.generation;
    this.address = address;
    this.made = {
      documents: discoveryDocuments(profile, address, custom),
      index: pathIndex(profile.dialect, [...groupRows, ...custom.groups()], this.health.paths),
    };
    return this.made;
  }

  answer(run: Run): void {
    const { place } = run;
    if (place.is === "version") {
      const document = this.documents.resources.get(joinGroupVersion(place.group, place.version));
      this.respondDocument(run, document);
    } else if (place.is === "group") this.respondDocument(run, this.documents.group.get(place.group));
    else if (place.is === "other") this.answerOther(run, place.segments);
  }

  private answerOther(run: Run, segments: readonly string[]): void {
    // What answers at one path alone does not at that path with a slash.
    const isExact = !run.request.path.endsWith("/");
    const health = isExact ? this.health.text(segments, run.query) : undefined;
    if (health !== undefined) {
      respondText(this.context, run, 200, health);
      return;
    }
    const openId = openIdDocument(run.request.path, this.context.tokens, this.advertisedUrl());
    if (openId !== undefined) {
      requireGet(run);
      const headers = { ...baseHeaders(run), "cache-control": "public, max-age=3600" };
      run.await<Payload>(openId, (document) => run.respond(200, headers, document));
      return;
    }
    const [first, ...more] = segments;
    if (first === "openapi" && more[0] === "v2" && more.length === 1) {
      requireGet(run);
      this.openApi.answerSwagger(run);
      return;
    }
    if (first === "openapi" && more[0] === "v3") {
      requireGet(run);
      if (!this.openApi.answer(run, more.slice(1).join("/"))) this.respondNotFound(run);
      return;
    }
    if (first === "metrics" && isExact && (more.length === 0 || (more[0] === "slis" && more.length === 1))) {
      requireGet(run);
      if (more.length === 0) this.respondMetrics(run);
      else this.respondExposition(run, [exposition(this.health.families())]);
      return;
    }
    if (more.length > 0) this.respondNotFound(run);
    else if (first === undefined) this.respondDocument(run, this.current.index);
    else if (first === "api") this.respondRoot(run, this.documents.coreVersions, this.documents.aggregatedCore);
    else if (first === "apis") this.respondRoot(run, this.documents.groups, this.documents.aggregated);
    else if (first === "version") {
      run.respond(200, baseHeaders(run), new ObjectPayload(this.version, "application/json", prettyJson));
    } else this.respondNotFound(run);
  }

  /** Where there is much to tell it is put together in several events. */
  private respondMetrics(run: Run): void {
    run.isLarge ||= this.metrics.isLong();
    run.steps(this.metrics.pieces(), (pieces) => this.respondExposition(run, pieces));
  }

  private respondExposition(run: Run, pieces: readonly string[]): void {
    run.respond(200, baseHeaders(run), new PiecedTextPayload(pieces, expositionMediaType));
  }

  /** `/api` and `/apis`: the plain document, or everything at once for who asks for it. */
  private respondRoot(run: Run, plain: JsonObject, aggregated: JsonObject): void {
    const accept = run.request.headers["accept"] ?? "";
    const found = negotiate(
      accept,
      aggregatedOffers(this.context.profile.dialect),
      (_, transform) =>
        transform === undefined ||
        (transform.kind === "APIGroupDiscoveryList" &&
          transform.group === this.discoveryGroup &&
          transform.version === "v2"),
    );
    if (found?.transform === undefined) {
      this.respondDocument(run, plain);
      return;
    }
    requireGet(run);
    const tag = tagOf(aggregated);
    const headers = { ...baseHeaders(run), "cache-control": "public", vary: "Accept", etag: tag };
    const { mediaType, format } = found.representation;
    const contentType = `${mediaType};g=${this.discoveryGroup};v=v2;as=APIGroupDiscoveryList`;
    if (run.request.headers["if-none-match"] === tag) run.respond(304, headers, new TextPayload("", contentType));
    else run.respond(200, headers, new ObjectPayload(aggregated, contentType, this.context.encoders.of(format)));
  }

  private respondDocument(run: Run, document: JsonObject | undefined): void {
    if (document === undefined) {
      this.respondNotFound(run);
      return;
    }
    requireGet(run);
    const { negotiator, profile } = this.context;
    const protobuf = typeOfObject(profile.dialect, document) !== undefined; // the index of paths is no API type
    const negotiated = negotiator.negotiate(run.request.headers["accept"], { protobuf });
    const encode = encodeOf(this.context, run, negotiated);
    const payload: Payload = new ObjectPayload(document, negotiated.contentType, encode);
    run.respond(200, baseHeaders(run), payload);
  }

  /** The 404 of a path that nobody has. */
  respondNotFound(run: Run): void {
    respondText(this.context, run, 404, "404 page not found\n");
  }
}

/** Of documents that servers share, where nothing is defined. */
const tags = new WeakMap<JsonObject, string>();

function tagOf(document: JsonObject): string {
  const known = tags.get(document);
  if (known !== undefined) return known;
  const tag = contentTag(encodeJson(document));
  tags.set(document, tag);
  return tag;
}

function requireGet(run: Run): void {
  if (run.request.method !== "GET") throw methodNotAllowed();
}

/** What `/` lists. */
function pathIndex(dialect: Dialect, rows: readonly GroupRow[], healthPaths: readonly string[]): JsonObject {
  const groups = rows.flatMap(({ group, versions }) => {
    const path = `/apis/${groupInDialect(dialect, group)}`;
    return [path, ...versions.map((version) => `${path}/${version}`)];
  });
  return {
    paths: [
      "/api",
      "/api/v1",
      "/apis",
      "/apis/",
      ...groups,
      ...healthPaths,
      ...openIdPaths,
      "/openapi/v2",
      "/openapi/v3",
      "/openapi/v3/",
      "/metrics",
      "/metrics/slis",
      "/version",
    ].sort(),
  };
}

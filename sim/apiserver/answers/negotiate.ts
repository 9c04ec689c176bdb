/**
 * Which representation a request is answered in, and in which its body came. Two negotiators stand behind each
 * other, as in the real server: routes first compare bare media types, then the serializers look at wildcards,
 * quality and the `as` parameter. Each refuses in words of its own.
 * Source: document 1, Media types; the facts, section 5; recorded 406 and 415 answers.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import {
  cborMediaType,
  jsonMediaType,
  type Negotiated as WireNegotiated,
  negotiate,
  parseContentType,
  type Representation,
  representations,
  routeAccepts,
  type Transform as WireTransform,
  yamlMediaType,
} from "../../../wire/media-types.ts";
import { notAcceptable, unsupportedMediaType } from "../../contract/errors.ts";
import type { FeatureGates } from "../../contract/profile.ts";
import type { Run } from "../requests/run.ts";

import type { Format } from "../encodings/encode.ts";

/** What is made of an object before it is encoded. */
export interface Transform {
  readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** In the dialect: `meta.svc.io/v1`, or `/v1beta1`. */
  readonly apiVersion: string;
}

export interface Negotiated {
  readonly format: Format;
  /** The response's content-type. */
  readonly contentType: string;
  readonly transform: Transform | undefined;
  /** The `pretty=1` parameter of the clause that won. */
  readonly pretty: boolean;
}

/** What a resource is offered in; everything unless it says otherwise. */
export interface Offer {
  /** False for kinds that are no built-in types: protobuf cannot hold them. */
  readonly protobuf?: boolean;
}

const everything: Offer = {};
const withoutProtobuf: Offer = { protobuf: false };

/** What the resource of a request is offered in. */
export function offerOf(run: Run): Offer {
  return run.resourcePlace.row.custom ? withoutProtobuf : everything;
}

const plainJson: Negotiated = { format: "json", contentType: jsonMediaType, transform: undefined, pretty: false };

export class Negotiator {
  /** What the service speaks, for the lists in refusals. */
  private readonly spoken: readonly string[];
  private readonly spokenStreams: readonly string[];
  private readonly itemRoute: readonly string[];
  private readonly collectionRoute: readonly string[];
  private readonly served: readonly Representation[];
  private readonly servedStreams: readonly Representation[];
  private readonly metaGroup: string;
  private readonly protobuf: string;

  constructor(dialect: Dialect, gates: FeatureGates) {
    const all = representations(dialect, { protobuf: true, cbor: gates.CBORServingAndStorage });
    this.spoken = all.map(({ mediaType }) => mediaType);
    this.spokenStreams = all.flatMap(({ mediaType, streamMediaType }) =>
      streamMediaType === undefined
        ? []
        : [streamMediaType === mediaType ? `${mediaType};stream=watch` : streamMediaType],
    );
    this.itemRoute = this.spoken;
    this.collectionRoute = [...this.spoken, ...this.spokenStreams];
    this.served = all;
    this.servedStreams = all.filter(({ streamMediaType }) => streamMediaType !== undefined);
    this.protobuf = dialect.protobufMediaType;
    this.metaGroup = groupInDialect(dialect, "meta.svc.io");
  }

  /** The route's own check of Accept. Routes of collections also make watches. Throws 406. */
  checkRoute(accept: string | undefined, isCollection: boolean): void {
    if (isPlain(accept)) return;
    const produced = isCollection ? this.collectionRoute : this.itemRoute;
    if (routeAccepts(accept, produced)) return;
    throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${produced.join(", ")}`, true);
  }

  /** The answer's representation; `offer` narrows what there is. Throws 406. */
  negotiate(accept: string | undefined, offer?: Offer): Negotiated {
    return isPlain(accept) ? plainJson : this.choose(accept, false, offer);
  }

  /** A watch's representation; YAML has no stream form. Throws 406. */
  negotiateWatch(accept: string | undefined, offer?: Offer): Negotiated {
    return isPlain(accept) ? plainJson : this.choose(accept, true, offer);
  }

  private choose(accept: string, isWatch: boolean, { protobuf = true }: Offer = {}): Negotiated {
    const offered = isWatch ? this.servedStreams : this.served;
    const found = negotiate(accept, offered, (representation, transform) => {
      const fits = protobuf || makesBuiltIn(transform, isWatch) || representation.mediaType !== this.protobuf;
      return fits && this.allows(representation, transform);
    });
    if (found === undefined) throw this.refused(isWatch ? this.spokenStreams : this.spoken);
    const { mediaType, streamMediaType } = found.representation;
    return this.answer(found, isWatch ? (streamMediaType ?? mediaType) : mediaType);
  }

  /** What an error is written in: of an error nothing else is made, so that clauses that ask it are passed over. */
  negotiateError(accept: string | undefined): Negotiated | undefined {
    if (isPlain(accept)) return plainJson;
    const found = negotiate(accept, this.served, (_representation, transform) => transform === undefined);
    return found && this.answer(found, found.representation.mediaType);
  }

  /** The format of a request body. No content type means JSON. Throws 415. */
  bodyFormat(contentType: string | undefined, { protobuf = true }: Offer = {}): Format {
    if (contentType === undefined || contentType === "" || contentType === jsonMediaType) return "json";
    const mediaType = parseContentType(contentType)?.mediaType;
    if (this.served.some((one) => one.mediaType === mediaType)) {
      const format = this.formatOf(mediaType as string);
      if (protobuf || format !== "protobuf") return format;
    }
    const accepted = protobuf ? this.spoken : this.spoken.filter((one) => one !== this.protobuf);
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
      false,
    );
  }

  private allows({ mediaType }: Representation, transform: WireTransform | undefined): boolean {
    if (transform === undefined) return true;
    const { kind, group, version } = transform;
    if (group !== this.metaGroup || (version !== "v1" && version !== "v1beta1")) return false;
    if (kind === "Table") return mediaType === jsonMediaType || mediaType === yamlMediaType;
    return kind === "PartialObjectMetadata" || kind === "PartialObjectMetadataList";
  }

  private answer(
    { representation, transform, pretty }: WireNegotiated<Representation>,
    contentType: string,
  ): Negotiated {
    return {
      format: this.formatOf(representation.mediaType),
      contentType,
      transform:
        transform === undefined
          ? undefined
          : { kind: transform.kind as Transform["kind"], apiVersion: `${transform.group}/${transform.version}` },
      pretty,
    };
  }

  private formatOf(mediaType: string): Format {
    if (mediaType === yamlMediaType) return "yaml";
    if (mediaType === this.protobuf) return "protobuf";
    return mediaType === cborMediaType ? "cbor" : "json";
  }

  private refused(accepted: readonly string[]): Error {
    return notAcceptable(`only the following media types are accepted: ${accepted.join(", ")}`, false);
  }
}

function isPlain(accept: string | undefined): accept is undefined | "" | "*/*" | "application/json" {
  return accept === undefined || accept === "" || accept === "*/*" || accept === jsonMediaType;
}

/**
 * Whether what is made of any object is of a built-in type, which protobuf has a message for; the refusal names protobuf all the same:
 * observed. A watch shows no list: asked for one of metadata, it shows the object as it is.
 */
const makesBuiltIn = (transform: WireTransform | undefined, isWatch: boolean): boolean =>
  transform !== undefined && !(isWatch && transform.kind === "PartialObjectMetadataList");

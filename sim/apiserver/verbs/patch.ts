/**
 * PATCH: JSON patch, JSON merge patch and strategic merge patch; `apply.ts` has server-side apply. Computed on the present object and, when somebody else was faster,
 * computed again on the new one; a version inside the patch makes it conditional.
 * Source: document 1, Updates 2 and 3; the facts, section 4, Patch and D15.
 */
import { patchMediaTypes, routeConsumes, withoutParameters } from "../../../wire/media-types.ts";
import type { TypeRow } from "../../../wire/schema.ts";
import { notFound, unsupportedMediaType } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import {
  decodePatched,
  type Patch,
  patchSteps,
  readJsonPatchBody,
  readMergePatchBody,
  readStrategicPatchBody,
} from "../../objects/decode-patch.ts";
import { metadataOf } from "../../contract/objects.ts";
import { type WalkedAhead, walkAheadSteps } from "../../objects/walk-ahead.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import type { FeatureGates, Profile } from "../../contract/profile.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { apply, isApply } from "./apply.ts";
import { requireFewDecoded, warn } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { writeOptions } from "./options.ts";
import { requireName, settleNamespace } from "./steps.ts";
import { change, type UpdateOf } from "./update.ts";
import type { Live, Writer } from "./writer.ts";

type PatchReader = (body: Uint8Array | JsonObject | undefined, type: TypeRow, server: PatchServer) => Patch;

/** What of the server a patch is read by. */
export interface PatchServer {
  readonly profile: Pick<Profile, "looseJsonPatch">;
}

const readers: Readonly<Record<string, PatchReader>> = {
  [patchMediaTypes.json]: (body, _type, { profile }) => readJsonPatchBody(body, profile.looseJsonPatch),
  [patchMediaTypes.merge]: readMergePatchBody,
  [patchMediaTypes.strategic]: readStrategicPatchBody,
};

const builtInTypes = [...Object.keys(readers), patchMediaTypes.apply];
const builtInTypesWithCbor = [...builtInTypes, patchMediaTypes.applyCbor];

/** The route's own check of Content-Type, before any other. Throws 415. */
export function requirePatchType(run: Run, { CBORServingAndStorage }: FeatureGates): void {
  const accepted = CBORServingAndStorage ? builtInTypesWithCbor : builtInTypes;
  if (!routeConsumes(run.request.headers["content-type"] ?? "", accepted)) {
    throw unsupportedMediaType("415: Unsupported Media Type", true);
  }
}

/**
 * The patch in the body, for an object of `type`. Throws 415; what is wrong with the patch itself, 400, 413 or 422, is
 * told by the returned function: who patches what is not there hears of that first.
 */
export function patchReader(run: Run, type: TypeRow, server: PatchServer): () => Patch {
  const reader = readers[withoutParameters(run.request.headers["content-type"] ?? "")];
  if (reader === undefined) throw unsupportedMediaType("415: Unsupported Media Type", true);
  let read: Patch | undefined;
  return () => (read ??= reader(run.request.body, type, server));
}

/** What a patch has made of an object, and what has been walked of that. */
interface Document {
  readonly document: Json;
  readonly ahead: WalkedAhead | undefined;
}

function* documentSteps(run: Run, type: TypeRow, patch: Patch, live: JsonObject): Generator<void, Document> {
  const document = yield* patchSteps(patch, live);
  return { document, ahead: run.isLarge ? yield* walkAheadSteps(type, document, live) : undefined };
}

export function patch(writer: Writer, run: Run, resource: ServedResource, subresource: string): void {
  if (isApply(run)) {
    apply(writer, run, resource, subresource);
    return;
  }
  const { context } = writer;
  const { profile } = context;
  const { namespace, name } = run.resourcePlace;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const options = writeOptions(context, "PatchOptions", run.query);
  const read = patchReader(run, resource.target.type, context);
  const decoding = { level: options.fieldValidation, strictStatus: profile.strictPatchStatus };

  const attempt = (): void => {
    const live = writer.live(resource, namespace, name, writer.keyOf(run, resource));
    if (live === undefined) throw notFound(resource.name, name);
    run.meets(live, attempt, () => {
      const patch = read();
      const { type } = resource.target;
      run.next(() => run.steps(documentSteps(run, type, patch, live.object), (made) => decode(patch, live, made)));
    });
  };
  const decode = (patch: Patch, live: Live, { document, ahead }: Document): void => {
    run.next(() => {
      const { draft, warnings } = decodePatched(patch, live.object, resource.target, decoding, document, ahead);
      settleNamespace(draft, namespace);
      requireName(draft, name);
      const before = metadataOf(live.object).resourceVersion;
      const conditional = metadataOf(draft).resourceVersion !== before;
      const write: UpdateOf = { resource, subresource, live, draft, options, conditional };
      run.next(() => {
        requireFewDecoded(run, draft, live.object);
        run.next(() => patched(write, warnings));
      });
    });
  };
  const patched = (write: UpdateOf, warnings: readonly string[]): void =>
    change(writer, run, write, (stored) => {
      if (stored === undefined) {
        attempt();
        return;
      }
      warn(run, warnings);
      respondObject(context, run, 200, stored);
    });
  attempt();
}

/** Planted bugs of what becomes of an object on its way to the store: each puts steps of its own in the place of those that are right. */
import type { WriteLaw } from "../../apiserver/verbs/write-law.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Draft, isObject, metadataOf, ownMetadata } from "../../contract/objects.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { incremented } from "../../objects/int64.ts";
import { orderMetadata } from "../../objects/system-fields.ts";
import { hasDoubledKey } from "../doubled-keys.ts";

/** What a bug makes of the law, given the law without it. */
export type LawWrapper = (law: WriteLaw) => Partial<WriteLaw>;

export const lawWrappers = {
  "idle-apply-renews-time": ({ apply, changesNothing }) => ({
    *apply(live, config, strategy, options) {
      const { object, managedFields } = yield* apply(live, config, strategy, options);
      const renewed = managedFields.map((entry) =>
        isOwn(entry, options.manager) ? { ...entry, time: options.now } : entry,
      );
      return { object, managedFields: renewed };
    },
    changesNothing: (stored, candidate) => changesNothing(stored, candidate) && sameOwners(stored, candidate),
  }),
  "force-leaves-owners": ({ apply }) => ({
    *apply(live, config, strategy, options) {
      const { object, managedFields } = yield* apply(live, config, strategy, options);
      if (!options.force || live === undefined) return { object, managedFields };
      const own = managedFields.filter((entry) => isOwn(entry, options.manager));
      const others = (metadataOf(live).managedFields ?? []).filter((entry) => !isOwn(entry, options.manager));
      return { object, managedFields: [...own, ...others] };
    },
  }),
  "apply-never-removes-labels": ({ apply }) => ({
    *apply(live, config, strategy, options) {
      const { object, managedFields } = yield* apply(live, config, strategy, options);
      const { labels } = metadataOf(live ?? {});
      const { metadata } = object;
      if (labels === undefined || !isObject(metadata)) return { object, managedFields };
      const kept = { ...labels, ...(metadata["labels"] as JsonObject | undefined) };
      return { object: { ...object, metadata: { ...metadata, labels: kept } }, managedFields };
    },
  }),
  "deletiontimestamp-client-settable": ({ wipe, prepareForCreate, prepareForUpdate, validateUpdate }) => ({
    wipe: (draft) => believingDeletion(draft, () => wipe(draft)),
    prepareForCreate: (draft, ...rest) => believingDeletion(draft, () => prepareForCreate(draft, ...rest)),
    prepareForUpdate(draft, ...rest) {
      believingDeletion(draft, () => prepareForUpdate(draft, ...rest));
      orderMetadata(draft);
    },
    validateUpdate: (...judged) =>
      validateUpdate(...judged).filter(({ field }) => field?.startsWith("metadata.deletion") !== true),
  }),
  "ssa-managedfields-wiped": ({ track }) => ({
    track(draft, live, strategy, options) {
      track(draft, live, strategy, options);
      if (hasDoubledKey(strategy.type, draft)) delete ownMetadata(draft).managedFields;
    },
  }),
  "namespace-takes-new-while-going": ({ refusesCreation }) => ({
    refusesCreation: (stored, ...rest) => (stored === undefined ? refusesCreation(stored, ...rest) : undefined),
  }),
  "status-of-create-kept": ({ prepareForCreate }) => ({
    prepareForCreate: (draft, strategy, context) =>
      prepareForCreate(draft, { ...strategy, resetsStatus: false }, context),
  }),
  "generation-wrong": ({ prepareForUpdate }) => ({
    prepareForUpdate(draft, live, strategy, subresource) {
      prepareForUpdate(draft, live, strategy, subresource);
      const { generation = 0, labels } = metadataOf(live);
      const isOther = !jsonEqual(draft["status"], live["status"]) || !jsonEqual(metadataOf(draft).labels, labels);
      if (!strategy.usesGeneration || !isOther) return;
      ownMetadata(draft).generation = incremented(generation);
      orderMetadata(draft);
    },
  }),
  "scale-raises-no-generation": ({ prepareForUpdate }) => ({
    prepareForUpdate: (draft, live, strategy, subresource) =>
      prepareForUpdate(
        draft,
        live,
        subresource === "scale" ? { ...strategy, usesGeneration: false } : strategy,
        subresource,
      ),
  }),
  "event-series-count-one": ({ validateCreate }) => ({
    validateCreate: (...judged) => validateCreate(...judged).filter(({ field }) => field !== "series.count"),
  }),
  "finalizers-added-late": ({ validateUpdate }) => ({
    validateUpdate: (...judged) =>
      validateUpdate(...judged).filter(
        ({ field, reason }) => field !== "metadata.finalizers" || reason !== "FieldValueForbidden",
      ),
  }),
  "immutable-but-binary-data": ({ validateUpdate }) => ({
    validateUpdate: (...judged) => validateUpdate(...judged).filter(({ field }) => field !== "binaryData"),
  }),
  "last-finalizer-removed-object-stays": () => ({ removesItself: () => false }),
} as const satisfies Record<string, LawWrapper>;

const isOwn = (
  { manager, operation }: { readonly manager?: string; readonly operation?: string },
  applier: string,
): boolean => operation === "Apply" && manager === applier;

/** By the text of the records, times and all. */
const sameOwners = (before: JsonObject, after: JsonObject): boolean =>
  JSON.stringify(metadataOf(before).managedFields) === JSON.stringify(metadataOf(after).managedFields);

/** After the step the draft says of its deletion what it said before. */
function believingDeletion(draft: Draft, step: () => void): void {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(draft);
  step();
  const metadata = ownMetadata(draft);
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  if (deletionTimestamp !== undefined) metadata.deletionTimestamp = deletionTimestamp;
  if (deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds = deletionGracePeriodSeconds;
}

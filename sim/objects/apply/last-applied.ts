/**
 * The way from a client that merges by itself to server-side apply. Such a client leaves what it applied last in an
 * annotation; when it comes back as an applier, fields that still hold what it left there are no conflicts, and the
 * annotation follows what it applies from then on.
 * Source: the published server, for the manager that this client is known by.
 */
import { encodeJson } from "../../../wire/go-strings.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import { parseJsonStrict } from "../../../wire/json-scan.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { diffObjects } from "../field-diff.ts";
import { type FieldSet, subtract, unite } from "../field-set.ts";
import type { Tracked } from "../managed-fields.ts";
import { sortedJson } from "../sorted-json.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { type Applied, type ApplyOptions, applySteps } from "./apply.ts";
import { ApplyConflict } from "./conflicts.ts";
import { fieldSetOf } from "./typed-sets.ts";
import { typedOf } from "./typed.ts";
import { typedErrors } from "./validate.ts";

const migratingManager = "kubectl";
const annotationBytesMax = 262_144;

/** As `applySteps`, for every manager. */
export function* applyMigrating(
  live: JsonObject | undefined,
  config: JsonObject,
  strategy: Tracked,
  options: ApplyOptions & { readonly dialect: Dialect },
): Generator<void, Applied> {
  if (options.manager !== migratingManager || live === undefined) {
    return yield* applySteps(live, config, strategy, options);
  }
  const annotation = `kubectl.${options.dialect.labelSuffix}/last-applied-configuration`;
  const last = metadataOf(live).annotations?.[annotation] ?? "";
  const applied = yield* applyKnowing(last, live, config, strategy, options);
  const present = metadataOf(applied.object).annotations?.[annotation] ?? "";
  return present === "" ? applied : { ...applied, object: withAnnotation(applied.object, annotation, config) };
}

function* applyKnowing(
  last: string,
  live: JsonObject,
  config: JsonObject,
  strategy: Tracked,
  options: ApplyOptions,
): Generator<void, Applied> {
  try {
    return yield* applySteps(live, config, strategy, options);
  } catch (error) {
    if (!(error instanceof ApplyConflict) || last === "") throw error;
    const own = ownBefore(last, live, strategy, options.apiVersion);
    const conflicts = error.conflicts.flatMap(({ entry, paths }) => {
      const rest = subtract(paths, own);
      return rest === undefined ? [] : [{ entry, paths: rest }];
    });
    if (conflicts.length > 0) throw new ApplyConflict(conflicts);
    return yield* applySteps(live, config, strategy, { ...options, force: true });
  }
}

/** Fields that the client set by itself and that still hold what it set. */
function ownBefore(last: string, live: JsonObject, strategy: Tracked, apiVersion: string): FieldSet | undefined {
  const read = parseJsonStrict(last);
  if (!read.ok || !isObject(read.value) || read.value["apiVersion"] !== apiVersion) return undefined;
  const typed = typedOf(strategy.type);
  if (typedErrors(typed, read.value).length > 0) return undefined;
  const { changed, removed } = diffObjects(strategy.type, read.value, live, () => false);
  return subtract(fieldSetOf(typed, read.value), unite(changed, removed));
}

function withAnnotation(object: JsonObject, annotation: string, config: JsonObject): JsonObject {
  const { [annotation]: _, ...others } = metadataOf(config).annotations ?? {};
  const metadata = config["metadata"] as JsonObject;
  const plain =
    metadata["annotations"] === undefined ? config : { ...config, metadata: { ...metadata, annotations: others } };
  const text = `${encodeJson(sortedJson(plain))}\n`;
  const value = text.length > annotationBytesMax ? "" : text;
  const annotations: JsonObject = { ...metadataOf(object).annotations, [annotation]: value as Json };
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), annotations } };
}

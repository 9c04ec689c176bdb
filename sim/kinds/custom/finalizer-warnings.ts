/**
 * Finalizers of custom resources may have any name, but should say whose they are: those that are new and do not are
 * warned of. Source: the published strategy of custom resources.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";

const standard: ReadonlySet<string> = new Set(["foregroundDeletion", "orphan"]);

/** `live` is undefined for a creation. */
export function finalizerWarnings(object: JsonObject, live: JsonObject | undefined): readonly string[] {
  const { finalizers = [] } = metadataOf(object);
  const known = live === undefined ? [] : (metadataOf(live).finalizers ?? []);
  return [...new Set(finalizers)]
    .filter((name) => !known.includes(name) && !name.includes("/") && !standard.has(name))
    .sort()
    .map((name) => `metadata.finalizers: ${JSON.stringify(name)}: ${advice}`);
}

const advice =
  "prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers";

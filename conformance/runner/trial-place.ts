import type { TrialType } from "../arbitraries/trial-types.ts";
import { Collection } from "../client/collection.ts";
import type { JsonObject } from "../client/types.ts";
import type { Attempt } from "./attempt.ts";

/** Where objects of a type are made by this attempt, and what one is called there that may be made. */
export interface TrialPlace {
  readonly collection: Collection;
  readonly name: string;
  /** Undefined: a type of the cluster. */
  readonly namespace: string | undefined;
  readonly apiVersion: string;
  /** An object as a client sends it. */
  object(value: string, metadata?: JsonObject): JsonObject;
}

/** What belongs to no namespace goes with the attempt all the same. */
export async function trialPlace(attempt: Attempt, type: TrialType): Promise<TrialPlace> {
  const { client, profile, target } = attempt;
  const prefix = type.prefix(profile.dialect);
  const apiVersion = prefix.split("/").slice(2).join("/");
  const namespace = type.namespaced ? await target.namespace() : undefined;
  const collection = type.namespaced
    ? await target.collection(type.plural, "", prefix)
    : new Collection(client, `${prefix}/${type.plural}`, target);
  const name = type.namespaced ? "a" : target.name;
  if (!type.namespaced) {
    target.onCleanUp(async (cleaner) => {
      const body = { metadata: { finalizers: null } };
      await cleaner.attempt("PATCH", collection.pathOf(name), { body, contentType: "application/merge-patch+json" });
      await cleaner.attempt("DELETE", collection.pathOf(name));
    });
  }
  const object = (value: string, metadata: JsonObject = {}): JsonObject => ({
    apiVersion,
    kind: type.kind,
    metadata: { name, ...metadata },
    ...type.desired(value, namespace),
  });
  return { collection, name, namespace, apiVersion, object };
}

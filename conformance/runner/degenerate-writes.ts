/** Ways to say nothing: writes after which an object is what it was, and its version too. */
import type { LifeWrite } from "../arbitraries/lives.ts";
import type { JsonObject } from "../client/types.ts";

/** Merge patches. What they name as null or as empty is not there. */
export const nothingPatches: readonly JsonObject[] = [
  {},
  { metadata: {} },
  { metadata: { labels: {} } },
  { metadata: { labels: { zzAbsent: null } } },
  { metadata: { annotations: { zzAbsent: null } } },
  { metadata: { annotations: null } },
  { metadata: { annotations: {} } },
  { metadata: { finalizers: null } },
  { metadata: { finalizers: [] } },
  { metadata: { ownerReferences: [] } },
  { metadata: { ownerReferences: null, finalizers: [], annotations: {} } },
  { metadata: { generateName: "" } },
];

/** A whole object, with something in it that is as good as absent, or without something that the server knows. */
export function withNothing(object: JsonObject, spelling: number): JsonObject {
  const metadata = object["metadata"] as JsonObject;
  const others = [
    {},
    { annotations: {} },
    { annotations: null },
    { finalizers: [] },
    { ownerReferences: [] },
    { finalizers: null, ownerReferences: null },
    { generateName: "" },
    { uid: undefined },
    { creationTimestamp: undefined },
    { creationTimestamp: null },
    { managedFields: undefined },
    { generation: undefined },
  ] satisfies readonly JsonObject[];
  return { ...object, metadata: { ...metadata, ...(others[spelling % others.length] as JsonObject) } };
}

/** Whether a write is meant to change nothing, rather than to be about what its path does not write. */
export const isNothing = ({ changes }: LifeWrite): boolean => changes === "nothing";

/** What every object is like that a server shows. */
import { type ApiObject, isApiObject, isJsonObject, type JsonObject, objectsIn } from "../../client/types.ts";
import type { Asked } from "./asked.ts";
import { type Breach, breach } from "./breach.ts";

/** The whole of an object that is stored, not its scale or another view of it. */
export function isStoredObject(asked: Asked, object: JsonObject): object is ApiObject {
  if (asked.isOtherShape || (asked.subresource !== undefined && asked.subresource !== "status")) return false;
  // Reviews, bindings and their like are not kept, and have no uid.
  return isApiObject(object) && typeof object.metadata.uid === "string" && object["kind"] !== "Status";
}

/** An answer that is one object: it is called as its path says, and says of what type it is. */
export function judgeAnswered(asked: Asked, object: ApiObject): Breach | undefined {
  const { kind, apiVersion, metadata } = object;
  const wrong = (expected: string): Breach =>
    breach(
      "objects.fields",
      expected,
      JSON.stringify({ kind, apiVersion, metadata: { ...metadata, managedFields: undefined } }).slice(0, 400),
    ); // prettier-ignore
  if (typeof kind !== "string" || kind === "") return wrong("kind: a name");
  if (apiVersion !== asked.groupVersion) return wrong(`apiVersion: ${asked.groupVersion}`);
  if (asked.name !== undefined && metadata.name !== asked.name) return wrong(`metadata.name: ${asked.name}`);
  return judgeObject(asked, object);
}

/** An object anywhere: in an answer, in a list, in an event. */
export function judgeObject(asked: Asked, object: ApiObject): Breach | undefined {
  const { metadata } = object;
  const { namespace, uid, resourceVersion, creationTimestamp, labels, annotations } = metadata;
  const wrong = (expected: string): Breach =>
    breach("objects.fields", expected, JSON.stringify({ ...metadata, managedFields: undefined }).slice(0, 400));
  if (asked.namespace !== undefined && namespace !== asked.namespace) {
    return breach("lists.scope", `metadata.namespace: ${asked.namespace}`, String(namespace));
  }
  if (uid === "") return wrong("metadata.uid: not empty");
  const isDry = asked.query.get("dryRun") === "All";
  if (!isDry && (typeof resourceVersion !== "string" || resourceVersion === ""))
    return wrong("metadata.resourceVersion: not empty");
  if (typeof creationTimestamp !== "string" || Number.isNaN(Date.parse(creationTimestamp))) {
    return wrong("metadata.creationTimestamp: a time");
  }
  for (const map of [labels, annotations]) {
    if (map != null && !Object.values(map).every((value) => typeof value === "string"))
      return wrong("labels and annotations: texts");
  }
  return judgeRecords(metadata);
}

/** The records of who owns what: each owner once, with fields. */
function judgeRecords(metadata: JsonObject): Breach | undefined {
  const wrong = (expected: string, entry: JsonObject): Breach =>
    breach("apply.owners", `managedFields: ${expected}`, JSON.stringify(entry).slice(0, 400));
  const owners = new Set<string>();
  for (const entry of objectsIn(metadata, "managedFields")) {
    const { manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource } = entry;
    if (operation !== "Apply" && operation !== "Update") return wrong("an operation", entry);
    if (typeof apiVersion !== "string" || apiVersion === "") return wrong("an apiVersion", entry);
    if (fieldsType !== "FieldsV1" || !isJsonObject(fieldsV1)) return wrong("fields", entry);
    if (time != null && Number.isNaN(Date.parse(String(time)))) return wrong("a time", entry);
    const owner = JSON.stringify([manager, operation, apiVersion, subresource]);
    if (owners.has(owner) && operation === "Apply") return wrong("each manager once", entry);
    owners.add(owner);
  }
  return undefined;
}

/**
 * An object that is being deleted and that nothing holds any more is gone: nobody is shown it. Pods may be seen between
 * the two steps of a deletion without grace.
 */
export function judgeHeld({ plural }: Asked, object: ApiObject): Breach | undefined {
  if (plural === "pods" || !isLetGo(object)) return undefined;
  const expected = "no object that is deleted and has neither finalizers nor a grace period";
  return breach("deletion.last-finalizer", expected, JSON.stringify(object.metadata).slice(0, 400));
}

/** What answers a deletion and is held by a finalizer is the object as it is from then on: being deleted. */
export function judgeDoomed(object: ApiObject): Breach | undefined {
  const { finalizers, deletionTimestamp } = object.metadata;
  if ((finalizers ?? []).length === 0 || deletionTimestamp != null) return undefined;
  const expected = "a deletionTimestamp in the answer to a deletion that waits for finalizers";
  return breach("deletion.answered", expected, JSON.stringify(object.metadata).slice(0, 400));
}

/** Being deleted, and held by nobody. */
export function isLetGo({ metadata, ...object }: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  if (deletionTimestamp == null || (deletionGracePeriodSeconds ?? 0) !== 0) return false;
  const spec = object["spec"];
  const ownHolds = isJsonObject(spec) && Array.isArray(spec["finalizers"]); // a namespace is held by its own list
  return (finalizers ?? []).length === 0 && !ownHolds;
}

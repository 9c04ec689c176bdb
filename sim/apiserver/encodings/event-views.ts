/**
 * Events live under two groups and in one storage. They are stored in the core group's form, which has a place for
 * every field of the other; clients of `events.svc.io` see the fields under that group's names.
 * Source: document 2, events; the facts, section 6, mapping.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";

/** Field names of `events.svc.io/v1` in that type's order, each with the core name it is stored under. */
const fields: readonly (readonly [viewName: string, storedName: string])[] = [
  ["eventTime", "eventTime"],
  ["series", "series"],
  ["reportingController", "reportingComponent"],
  ["reportingInstance", "reportingInstance"],
  ["action", "action"],
  ["reason", "reason"],
  ["regarding", "involvedObject"],
  ["related", "related"],
  ["note", "message"],
  ["type", "type"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
];

/** The core type's order on the wire. */
const storedOrder: readonly string[] = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "series",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
];

const viewNames = new Map(fields.map(([viewName, storedName]) => [storedName, viewName]));

/** The core type writes these two even when they are empty; the other leaves them out. */
const writtenWhenEmpty = new Set(["reportingComponent", "reportingInstance"]);

function toView(stored: JsonObject, apiVersion: string): JsonObject {
  const view: Record<string, Json> = { ...heads(stored, apiVersion) };
  for (const [viewName, storedName] of fields) {
    const value = stored[storedName];
    if (value === undefined || (value === "" && writtenWhenEmpty.has(storedName))) continue;
    view[viewName] = value;
  }
  return view;
}

function toStored(object: JsonObject): JsonObject {
  const stored: Record<string, Json> = { ...heads(object, "v1") };
  for (const storedName of storedOrder) {
    const value = object[viewNames.get(storedName) as string];
    if (value !== undefined) stored[storedName] = value;
    else if (writtenWhenEmpty.has(storedName)) stored[storedName] = "";
  }
  return stored;
}

function heads(object: JsonObject, apiVersion: string): JsonObject {
  return { kind: "Event", apiVersion, metadata: object["metadata"] as JsonObject };
}

export const eventForms = { toView, toStored };

/** What tables show of events, and what selectors may name: events are stored in one form and named in two. */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { at, column, nameColumn, numberAt, printer, since, textAt, wide } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import { at as fieldAt, type FieldLabel, type FieldValue, plainFields } from "../shared/field-labels.ts";

export const eventColumns = printer(
  column("Last Seen", "How long ago it happened last.", (it, now) => since(lastSeen(it), now)),
  column("Type", "Whether it is normal or a warning.", text("type")),
  column("Reason", "What happened, in a word.", text("reason")),
  column("Object", "What it is about.", subject),
  wide(column("Subobject", "Which part of it.", (it) => textAt(regarding(it), "fieldPath"))),
  wide(column("Source", "Who reports it.", source)),
  column("Message", "What happened.", (it) => (textAt(it, "message") || textAt(it, "note")).trim()),
  wide(column("First Seen", "How long ago it happened first.", (it, now) => since(firstSeen(it), now))),
  wide(column("Count", "How often it happened.", eventCount)),
  wide(nameColumn),
);

const lastSeen = (event: JsonObject): Json | undefined =>
  at(event, "series.lastObservedTime") ??
  event["lastTimestamp"] ??
  event["deprecatedLastTimestamp"] ??
  firstSeen(event);

const firstSeen = (event: JsonObject): Json | undefined =>
  event["firstTimestamp"] ?? event["deprecatedFirstTimestamp"] ?? event["eventTime"];

function subject(event: JsonObject): string {
  const kind = textAt(regarding(event), "kind").toLowerCase();
  const name = textAt(regarding(event), "name");
  return name === "" ? kind : `${kind}/${name}`;
}

/** Events are printed in the form of either group. */
const regarding = (event: JsonObject): Json | undefined => event["involvedObject"] ?? event["regarding"];

function source(event: JsonObject): string {
  const old = event["source"] ?? event["deprecatedSource"];
  const component =
    textAt(old, "component") || textAt(event, "reportingComponent") || textAt(event, "reportingController");
  const instance = textAt(old, "host") || textAt(event, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}

function eventCount(event: JsonObject): number {
  if (at(event, "series") !== undefined) return numberAt(event, "series.count");
  return numberAt(event, "count") || numberAt(event, "deprecatedCount") || 1;
}

const referenceFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
export const eventFields = (reference: string, controller: string): readonly FieldLabel[] => [
  ...referenceFields.map(
    (field): FieldLabel => [
      `${reference}.${field}`,
      firstOf(fieldAt("involvedObject", field), fieldAt("regarding", field)),
    ],
  ),
  [controller, firstOf(fieldAt("reportingComponent"), fieldAt("reportingController"))],
  [
    "source",
    firstOf(
      fieldAt("source", "component"),
      fieldAt("deprecatedSource", "component"),
      fieldAt("reportingComponent"),
      fieldAt("reportingController"),
    ),
  ],
  ...plainFields("reason", "type", "metadata.name", "metadata.namespace"),
];

/** The first of several values that is not empty. */
const firstOf =
  (...values: readonly FieldValue[]): FieldValue =>
  (object) =>
    values.reduce((found, value) => (found === "" ? value(object) : found), "");

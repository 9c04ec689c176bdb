/**
 * What a report of what happened must hold, and how its two forms correspond: that of its own group, and the older one of
 * the core group. Written from document 2 and the published types.
 */
import type { JsonObject } from "../client/types.ts";
import { isJsonObject } from "../client/types.ts";

/** The row of the requirements that each field's rule belongs to. */
export const ruleOfField = {
  eventTime: "events.event-time",
  action: "events.action",
  reason: "events.reason",
  type: "events.type",
  reportingController: "events.controller",
  reportingInstance: "events.instance",
  note: "events.note-length",
  series: "events.series",
} as const;
export type RuledField = keyof typeof ruleOfField;

const shortMax = 128;
const noteMaxBytes = 1024;

/** The first field whose rule a new event breaks; undefined when it must be taken, but for `openRule`. Fields in the order of the table. */
export function brokenField(event: JsonObject): RuledField | undefined {
  const text = (field: string): string => (typeof event[field] === "string" ? event[field] : "");
  const bounded = (field: string): boolean => text(field) !== "" && text(field).length <= shortMax;
  const holds: Readonly<Record<RuledField, boolean>> = {
    eventTime: text("eventTime") !== "",
    action: bounded("action"),
    reason: bounded("reason"),
    type: text("type") !== "",
    reportingController: text("reportingController") !== "",
    reportingInstance: bounded("reportingInstance"),
    note: new TextEncoder().encode(text("note")).length <= noteMaxBytes,
    series: seriesHolds(event["series"]),
  };
  return (Object.keys(holds) as RuledField[]).find((field) => !holds[field]);
}

/**
 * What the documents leave open, or for the future: another type, a series of fewer than two, and fields of the older
 * form in a new event. The row that says what was observed; undefined for an event that is to be taken or refused in any case.
 */
export function openRule(
  event: JsonObject,
): "events.type-known" | "events.series-count" | "events.deprecated-unset" | undefined {
  if (!["Normal", "Warning"].includes(String(event["type"]))) return "events.type-known";
  if (names.some(([own]) => own.startsWith("deprecated") && !isEmpty(event[own]))) return "events.deprecated-unset";
  const series = event["series"];
  const count = isJsonObject(series) ? series["count"] : undefined;
  return typeof count === "number" && count < 2 ? "events.series-count" : undefined;
}

function seriesHolds(series: JsonObject[string]): boolean {
  if (series === undefined || series === null) return true;
  if (!isJsonObject(series)) return false;
  return typeof series["count"] === "number" && typeof series["lastObservedTime"] === "string";
}

/** Names of fields in the own group, and in the core group. */
const names: readonly (readonly [own: string, core: string])[] = [
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

/** What an event says, under the names of its own group, whichever form it came in; what is empty is left out. */
export function reportOf(event: JsonObject, form: "own" | "core"): JsonObject {
  const entries = names.map(([own, core]) => [own, event[form === "own" ? own : core]] as const);
  return Object.fromEntries(entries.filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: JsonObject[string]): boolean {
  if (value === undefined || value === null || value === "" || value === 0) return true;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** The first field in which two reports differ; undefined when they say the same. Times are equal as texts of one precision. */
export function differingField(a: JsonObject, b: JsonObject): string | undefined {
  return names.map(([own]) => own).find((field) => canonical(a[field]) !== canonical(b[field]));
}

function canonical(value: JsonObject[string]): string {
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "";
  const fields = Object.keys(value).sort();
  return JSON.stringify(fields.map((field) => [field, canonical(value[field])]));
}

/** Whether a field selector's `path=value` chooses an event; paths are those of the event's own form. */
export function isSelected(report: JsonObject, path: string, value: string): boolean {
  let found: JsonObject[string] = report;
  for (const name of path.split(".")) found = isJsonObject(found) ? found[name] : undefined;
  return (typeof found === "string" ? found : "") === value;
}

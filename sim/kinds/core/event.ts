/**
 * Events, in both their spellings. Errors name the fields of the older one, whichever was sent.
 * Source: the facts, section 6; recorded answers (09).
 */
import { goQuote, utf8Length } from "../../../wire/go-strings.ts";
import { dns1123SubdomainErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { goMicroTime, invalidText, invalidValue, pushInvalid, requiredValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { eventColumns, eventFields } from "./event-columns.ts";
import type { KindRow } from "../kind-row.ts";
import type { KindRules } from "../../objects/kind-rules.ts";

const shortMax = 128;

/** What the short texts are counted in. Document 2, Limits: characters; D24: bytes. */
const shortLength: Readonly<Record<Dialect["name"], (text: string) => number>> = {
  svc: (text) => Array.from(text).length,
  kubernetes: utf8Length,
};
const noteMax = 1024;

/** How the two versions spell what they share. */
interface Spelling {
  readonly regarding: string;
  readonly note: string;
  readonly controller: string;
  /** The path under which errors name the controller. */
  readonly controllerPath: string;
}

const core: Spelling = {
  regarding: "involvedObject",
  note: "message",
  controller: "reportingComponent",
  controllerPath: "reportingController",
};
const current: Spelling = {
  regarding: "regarding",
  note: "note",
  controller: "reportingController",
  controllerPath: "reportingController",
};

const coreEventRules: KindRules = {
  validate(object, causes, dialect) {
    namespaceCauses(object, core, causes);
    if ((object["eventTime"] ?? null) !== null)
      fieldCauses(object, { ...core, controllerPath: "reportingComponent" }, causes, dialect);
  },
};

const eventRules: KindRules = {
  validate(object, causes, dialect) {
    namespaceCauses(object, current, causes);
    if ((object["eventTime"] ?? null) === null) causes.push(requiredValue("eventTime"));
    else fieldCauses(object, current, causes, dialect); // an event without a time is judged by the older, laxer rules
    typeCauses(object, causes);
    seriesCauses(object["series"], causes);
    deprecatedCauses(object, causes);
  },
  stepFirst: true,
  validateUpdate(object, live, causes) {
    for (const [field, path, shown] of immutableFields) {
      if (jsonEqual(object[field], live[field])) continue;
      causes.push(invalidText(path, shown(object[field]), "field is immutable"));
    }
  },
};

function typeCauses(object: JsonObject, causes: Cause[]): void {
  const type = (object["type"] ?? "") as string;
  if (type !== "Normal" && type !== "Warning") causes.push(invalidValue("type", "", `has invalid value: ${type}`));
}

/** An event stands in its object's namespace; one about a cluster-scoped object in `default` or the system's. */
function namespaceCauses(object: JsonObject, spelling: Spelling, causes: Cause[]): void {
  const namespace = metadataOf(object).namespace ?? "";
  const regarding = (object[spelling.regarding] ?? {}) as JsonObject;
  const about = (regarding["namespace"] ?? "") as string;
  const timed = (object["eventTime"] ?? null) !== null;
  const fits = about === "" ? isClusterEventNamespace(namespace) : timed || about === namespace;
  if (!fits) causes.push(invalidValue("involvedObject.namespace", about, "does not match event.namespace"));
}

const isClusterEventNamespace = (namespace: string): boolean =>
  namespace === "" || namespace === "default" || namespace === "kube-system" || namespace === "svc-system";

function fieldCauses(object: JsonObject, spelling: Spelling, causes: Cause[], dialect: Dialect): void {
  const controller = (object[spelling.controller] ?? "") as string;
  const path = spelling.controllerPath;
  if (controller === "") causes.push(requiredValue(path));
  pushInvalid(path, controller, qualifiedNameErrors(controller), causes);
  for (const field of ["reportingInstance", "action", "reason"]) boundedText(object[field], field, causes, dialect);
  const note = (object[spelling.note] ?? "") as string;
  if (utf8Length(note) > noteMax) causes.push(invalidValue("message", "", `can have at most ${noteMax} characters`));
  pushInvalid(
    "metadata.name",
    metadataOf(object).name ?? "",
    dns1123SubdomainErrors(metadataOf(object).name ?? ""),
    causes,
  );
}

function boundedText(value: Json | undefined, path: string, causes: Cause[], { name }: Dialect): void {
  const text = (value ?? "") as string;
  if (text === "") causes.push(requiredValue(path));
  else if (shortLength[name](text) > shortMax)
    causes.push(invalidValue(path, "", `can have at most ${shortMax} characters`));
}

function seriesCauses(series: Json | undefined, causes: Cause[]): void {
  if (!isObject(series)) return;
  if ((series["count"] as number) < 2) causes.push(invalidValue("series.count", "", "should be at least 2"));
  if ((series["lastObservedTime"] ?? null) === null) causes.push(requiredValue("series.lastObservedTime"));
}

const deprecatedFields: readonly (readonly [field: string, path: string])[] = [
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
  ["deprecatedSource", "source"],
];

function deprecatedCauses(object: JsonObject, causes: Cause[]): void {
  for (const [field, path] of deprecatedFields) {
    const value = object[field] ?? null;
    const unset = value === null || value === 0 || (isObject(value) && Object.keys(value).length === 0);
    if (!unset) causes.push(invalidValue(path, "", "needs to be unset"));
  }
}

/** How a text shows the value of a field that may not change: as the language of the real server prints it. */
type Shown = (value: Json | undefined) => string;

const text: Shown = (value) => goQuote((value ?? "") as string);
const count: Shown = (value) => String(value ?? 0);
const time: Shown = (value) => (typeof value === "string" ? goMicroTime(value) : "0001-01-01 00:00:00 +0000 UTC");
const reference: Shown = (value) => goStruct("core.ObjectReference", referenceFields, value);
const related: Shown = (value) => (isObject(value) ? reference(value) : '"null"');
const source: Shown = (value) =>
  goStruct(
    "core.EventSource",
    [
      ["Component", "component"],
      ["Host", "host"],
    ],
    value,
  );

const referenceFields = [
  ["Kind", "kind"],
  ["Namespace", "namespace"],
  ["Name", "name"],
  ["UID", "uid"],
  ["APIVersion", "apiVersion"],
  ["ResourceVersion", "resourceVersion"],
  ["FieldPath", "fieldPath"],
] as const;

function goStruct(
  name: string,
  fields: readonly (readonly [shown: string, field: string])[],
  value: Json | undefined,
): string {
  const object = isObject(value) ? value : {};
  return `${name}{${fields.map(([shown, field]) => `${shown}:${text(object[field])}`).join(", ")}}`;
}

/** Fields, in the order in which the real server looks at them: at the reason it looks twice. */
const immutableFields: readonly (readonly [field: string, path: string, shown: Shown])[] = [
  ["regarding", "involvedObject", reference],
  ["reason", "reason", text],
  ["note", "message", text],
  ["deprecatedSource", "source", source],
  ["deprecatedFirstTimestamp", "firstTimestamp", time],
  ["deprecatedLastTimestamp", "lastTimestamp", time],
  ["deprecatedCount", "count", count],
  ["reason", "reason", text],
  ["type", "type", text],
  ["eventTime", "eventTime", time],
  ["action", "action", text],
  ["related", "related", related],
  ["reportingController", "reportingController", text],
  ["reportingInstance", "reportingInstance", text],
];

export const eventKind: KindRow = {
  resource: "/events",
  quota: { isUncounted: true },
  createOnUpdate: true,
  propagation: "unsupported",
  rules: coreEventRules,
  columns: eventColumns,
  fieldLabels: eventFields("involvedObject", "reportingComponent"),
};

export const groupEventKind: KindRow = {
  resource: "events.svc.io/events",
  quota: { isUncounted: true },
  createOnUpdate: true,
  propagation: "unsupported",
  rules: eventRules,
  columns: eventColumns,
  fieldLabels: eventFields("regarding", "reportingController"),
};

/**
 * Events, in both their spellings. Errors name the fields of the older one, whichever was sent.
 * Source: the facts, section 6; recorded answers (09).
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { goQuote, utf8Length } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { goMicroTime, invalidText } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { Check, Place, Rule } from "../../objects/place.ts";
import {
  all,
  always,
  anyText,
  called,
  fieldRules,
  fields,
  present,
  required,
  struct,
  type Table,
} from "../../objects/rules.ts";
import type { KindRow } from "../kind-row.ts";
import { qualifiedName, subdomain } from "../shared/formats.ts";
import { eventColumns, eventFields } from "./event-columns.ts";

const shortMax = 128;

/** What the short texts are counted in. Document 2, Limits: characters; D24: bytes. */
const shortLength: Readonly<Record<Dialect["name"], (text: string) => number>> = {
  svc: (text) => Array.from(text).length,
  kubernetes: utf8Length,
};
const noteMax = 1024;

const shortText: Rule = {
  zero: "",
  absent: "",
  judge(text: string, at) {
    if (text === "") at.required();
    else if (shortLength[at.dialect.name](text) > shortMax) at.invalid("", `can have at most ${shortMax} characters`);
  },
};

const note: Check = (text: string, at: Place) => {
  if (utf8Length(text) > noteMax) at.invalid("", `can have at most ${noteMax} characters`);
};

const controller: Rule = { ...all(required(anyText), qualifiedName), absent: "" };

/** `more` are fields that the two versions spell differently. */
const timedEvent = (more: Table): Rule =>
  struct({ ...more, ...fields(["reportingInstance", "action", "reason"], shortText) });

const named = { "metadata.name": always(subdomain) };
const oldTimed = struct(timedEvent({ reportingComponent: controller }), { message: note }, named);
const newTimed = struct(timedEvent({ reportingController: controller }), { note: called("message", note) }, named);

const isTimed = (event: JsonObject): boolean => (event["eventTime"] ?? null) !== null;

const coreEventRules: KindRules = {
  validate: fieldRules(ownNamespace("involvedObject"), (event: JsonObject, at) => {
    if (isTimed(event)) oldTimed.judge(event as never, at);
  }),
};

const unset: Check = (value: Json, at: Place) => {
  if (value !== 0 && !(isObject(value) && Object.keys(value).length === 0)) at.invalid("", "needs to be unset");
};

const eventRules: KindRules = {
  validate: fieldRules(
    ownNamespace("regarding"),
    (event: JsonObject, at) => {
      if (isTimed(event)) newTimed.judge(event as never, at);
      else at.of("eventTime").required(); // an event without a time is judged by the older, laxer rules
    },
    {
      type: {
        zero: "",
        absent: "",
        judge(type: string, at) {
          if (type !== "Normal" && type !== "Warning") at.invalid("", `has invalid value: ${type}`);
        },
      },
      series: struct({
        count(count: number, at: Place) {
          if (count < 2) at.invalid("", "should be at least 2");
        },
        lastObservedTime: present(),
      }),
      deprecatedFirstTimestamp: called("firstTimestamp", unset),
      deprecatedLastTimestamp: called("lastTimestamp", unset),
      deprecatedCount: called("count", unset),
      deprecatedSource: called("source", unset),
    },
  ),
  stepFirst: true,
  validateUpdate(object, live, causes) {
    for (const [field, path, shown] of immutableFields) {
      if (jsonEqual(object[field], live[field])) continue;
      causes.push(invalidText(path, shown(object[field]), "field is immutable"));
    }
  },
};

/** An event stands in its object's namespace; one about a cluster-scoped object in `default` or the system's. */
function ownNamespace(regarding: string): Check {
  return (event: JsonObject, at: Place) => {
    const namespace = metadataOf(event).namespace ?? "";
    const { namespace: about = "" } = (event[regarding] ?? {}) as JsonObject;
    const fits = about === "" ? isClusterEventNamespace(namespace) : isTimed(event) || about === namespace;
    if (!fits) at.of("involvedObject", "namespace").invalid(about, "does not match event.namespace");
  };
}

const isClusterEventNamespace = (namespace: string): boolean =>
  namespace === "" || namespace === "default" || namespace === "kube-system" || namespace === "svc-system";

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

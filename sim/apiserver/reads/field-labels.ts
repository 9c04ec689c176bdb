/**
 * Which fields a selector may name, a table by resource; every other type has `metadata.name` and
 * `metadata.namespace` alone. Events are stored in one form and named in two.
 * Source: the facts, section 3; kubernetes, pkg/apis/core/v1/conversion.go and the strategies' selectable fields.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { FieldSelector } from "../../../wire/selectors.ts";
import { badRequest } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { FieldLabels, FieldValue } from "./types.ts";

/** The labels of a resource; group in the `svc` dialect, "" for the core group. */
export function fieldLabelsOf(group: string, resource: string): FieldLabels {
  const own = tables[`${group}/${resource}`];
  return own === undefined ? { values: metadata, metadataOnly: true } : { values: new Map(own), metadataOnly: false };
}

/** Throws 400 when the selector names a field that the resource does not have. */
export function checkFieldLabels(selector: FieldSelector, labels: FieldLabels): void {
  for (const { field } of selector.requirements) {
    if (labels.values.has(field)) continue;
    throw badRequest(
      labels.metadataOnly
        ? `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
        : `field label not supported: ${field}`,
    );
  }
}

/** A test of objects; undefined when the selector is empty. All its fields are supported. */
export function fieldMatcher(
  selector: FieldSelector,
  labels: FieldLabels,
): ((object: JsonObject) => boolean) | undefined {
  if (selector.empty) return undefined;
  const tests = selector.requirements.map(({ field, operator, value }) => {
    const read = labels.values.get(field) as FieldValue;
    return operator === "="
      ? (object: JsonObject) => read(object) === value
      : (object: JsonObject) => read(object) !== value;
  });
  const [only] = tests;
  return tests.length === 1 && only !== undefined ? only : (object) => tests.every((test) => test(object));
}

type Row = readonly [label: string, value: FieldValue];

/** The string at a path of fields; "" when there is none. */
const at =
  (...path: readonly string[]): FieldValue =>
  (object) => {
    const value = walk(object, path);
    return typeof value === "string" ? value : "";
  };

/** A flag that is false when absent. */
const flagAt =
  (...path: readonly string[]): FieldValue =>
  (object) =>
    String(walk(object, path) === true);

const countAt =
  (...path: readonly string[]): FieldValue =>
  (object) =>
    String(walk(object, path) ?? 0);

/** The first of several values that is not empty. */
const firstOf =
  (...values: readonly FieldValue[]): FieldValue =>
  (object) =>
    values.reduce((found, value) => (found === "" ? value(object) : found), "");

function walk(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const name of path) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

const plain = (label: string): Row => [label, at(...label.split("."))];

const name = plain("metadata.name");
const namespace = plain("metadata.namespace");
const metadata = new Map([name, namespace]);

const referenceFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
const eventRows = (reference: string, controller: string): readonly Row[] => [
  ...referenceFields.map(
    (field): Row => [`${reference}.${field}`, firstOf(at("involvedObject", field), at("regarding", field))],
  ),
  [controller, firstOf(at("reportingComponent"), at("reportingController"))],
  [
    "source",
    firstOf(
      at("source", "component"),
      at("deprecatedSource", "component"),
      at("reportingComponent"),
      at("reportingController"),
    ),
  ],
  ...[plain("reason"), plain("type"), name, namespace],
];

const tables: Readonly<Record<string, readonly Row[]>> = {
  "/pods": [
    ...["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"].map(plain),
    ["spec.hostNetwork", flagAt("spec", "hostNetwork")],
    ...["status.phase", "status.podIP", "status.nominatedNodeName"].map(plain),
    ["status.podIPs", () => ""], // may be named, but is never filled
    ...[name, namespace],
  ],
  "/nodes": [["spec.unschedulable", flagAt("spec", "unschedulable")], name],
  "/namespaces": [plain("status.phase"), name],
  "/secrets": [plain("type"), name, namespace],
  "/services": [plain("spec.clusterIP"), plain("spec.type"), name, namespace],
  "/replicationcontrollers": [["status.replicas", countAt("status", "replicas")], name, namespace],
  "batch/jobs": [["status.successful", countAt("status", "succeeded")], name, namespace],
  "certificates.svc.io/certificatesigningrequests": [plain("spec.signerName"), name],
  "/events": eventRows("involvedObject", "reportingComponent"),
  "events.svc.io/events": eventRows("regarding", "reportingController"),
};

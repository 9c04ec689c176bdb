/**
 * Which fields a selector may name: those that the kind's row says; every other type has `metadata.name` and
 * `metadata.namespace` alone.
 * Source: the facts, section 3; kubernetes, pkg/apis/core/v1/conversion.go and the strategies' selectable fields.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { FieldSelector } from "../../../wire/selectors.ts";
import { badRequest } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kindRow } from "../../kinds/all-kinds.ts";
import { type FieldValue, nameAndNamespace } from "../../kinds/shared/field-labels.ts";
import type { FieldLabels } from "./types.ts";

/** The labels of a resource; group in the `svc` dialect, "" for the core group. */
export function fieldLabelsOf(group: string, version: string, resource: string): FieldLabels {
  const own = kindRow(group, version, resource)?.fieldLabels;
  return own === undefined ? { values: metadata, metadataOnly: true } : { values: new Map(own), metadataOnly: false };
}

const metadata = new Map(nameAndNamespace);

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
  // However often a field may not be this or that, it is read once.
  const excluded = Map.groupBy(
    selector.requirements.filter(({ operator }) => operator === "!="),
    ({ field }) => field,
  );
  const wanted = new Map(
    selector.requirements.flatMap(({ field, operator, value }) => (operator === "=" ? [[field, value] as const] : [])),
  );
  const never = new Map([...excluded].map(([field, rows]) => [field, new Set(rows.map(({ value }) => value))]));
  if (selector.requirements.length > fewRequirements) {
    if (contradicts(selector)) return () => false;
    return (object) =>
      [...wanted].every(([field, value]) => (labels.values.get(field) as FieldValue)(object) === value) &&
      [...never].every(([field, values]) => !values.has((labels.values.get(field) as FieldValue)(object)));
  }
  const tests = selector.requirements.map(({ field, operator, value }) => {
    const read = labels.values.get(field) as FieldValue;
    return operator === "="
      ? (object: JsonObject) => read(object) === value
      : (object: JsonObject) => read(object) !== value;
  });
  const [only] = tests;
  return tests.length === 1 && only !== undefined ? only : (object) => tests.every((test) => test(object));
}

const fewRequirements = 8;

/** Whether one field would have to be two things. */
function contradicts({ requirements }: FieldSelector): boolean {
  const wanted = new Map<string, string>();
  for (const { field, operator, value } of requirements) {
    if (operator !== "=") continue;
    if ((wanted.get(field) ?? value) !== value) return true;
    wanted.set(field, value);
  }
  return false;
}

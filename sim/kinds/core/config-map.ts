/**
 * ConfigMaps. Source: recorded answers (immutable ones); the published limits: keys of file names, 1 MiB in all.
 */
import { utf8Length } from "../../../wire/go-strings.ts";
import { noErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, pushInvalid, tooLongValue } from "../../objects/causes.ts";
import { sizeInParts } from "../../objects/place.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, sizeAt, ageColumn } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";

export const dataBytesMax = 1_048_576;

const configMapRules: KindRules = {
  validate(object, causes) {
    const data = bag(object, "data");
    const binary = bag(object, "binaryData");
    const textBytes = sizeInParts(data, causes, dataKeyCost, (key) => {
      dataKeyCauses("data", key, causes);
      if (Object.hasOwn(binary, key)) {
        causes.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
      }
      return utf8Length(data[key] as string);
    });
    const binaryBytes = sizeInParts(binary, causes, dataKeyCost, (key) => {
      dataKeyCauses("binaryData", key, causes);
      return decodedLength(binary[key] as string);
    });
    // The field that stands for the whole object.
    if (textBytes + binaryBytes > dataBytesMax) causes.push(tooLongValue("[]", dataBytesMax));
  },
  stepFirst: true,
  validateUpdate(object, live, causes) {
    immutableCauses(object, live, ["data", "binaryData"], causes);
  },
};

export function bag(object: JsonObject, field: string): Readonly<Record<string, string>> {
  return (object[field] as Readonly<Record<string, string>> | undefined) ?? empty;
}

const empty: Readonly<Record<string, string>> = Object.freeze({});

const keyForm = /^[-._a-zA-Z0-9]+$/;
const keyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

export function dataKeyCauses(field: string, key: string, causes: Cause[]): void {
  const errors = dataKeyErrors(key);
  if (errors.length > 0) pushInvalid(`${field}[${key}]`, key, errors, causes);
}

/** Of a key that is judged with its value, by the measure of expressions (`pace.ts`). */
export const dataKeyCost = 8;

/** Keys become file names, so they may not climb out of a directory. */
export function dataKeyErrors(key: string): readonly string[] {
  if (key.length <= 253 && keyForm.test(key) && !key.startsWith(".")) return noErrors;
  const errors: string[] = [];
  if (key.length > 253) errors.push("must be no more than 253 characters");
  if (!keyForm.test(key)) errors.push(keyText);
  if (key === "." || key === "..") errors.push(`must not be '${key}'`);
  else if (key.startsWith("..")) errors.push("must not start with '..'");
  return errors;
}

/** Bytes behind a base64 text. */
export function decodedLength(base64: string): number {
  if (base64 === "") return 0;
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

/** An object marked immutable keeps the mark and its data. */
export function immutableCauses(
  object: JsonObject,
  live: JsonObject,
  fields: readonly string[],
  causes: Cause[],
): void {
  if (live["immutable"] !== true) return;
  const detail = "field is immutable when `immutable` is set";
  if (object["immutable"] !== true) causes.push(forbiddenField("immutable", detail));
  for (const field of fields) {
    if (!jsonEqual(object[field] ?? {}, live[field] ?? {})) causes.push(forbiddenField(field, detail));
  }
}

export const configMapKind: KindRow = {
  resource: "/configmaps",
  rules: configMapRules,
  columns: printer(
    nameColumn,
    column("Data", "How many entries there are.", (it) => sizeAt(it, "data") + sizeAt(it, "binaryData")),
    ageColumn,
  ),
};

/**
 * What makes a CustomResourceDefinition unfit to be stored. Order, paths and texts are the real server's: it lifts what
 * all versions share to the top before it judges, so a definition of one version is judged at `spec.validation`.
 * Source: recorded answers (crd-invalid, crd-no-schema); the published rules.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { utf8Length } from "../../../wire/go-strings.ts";
import { dns1035LabelErrors, dns1123SubdomainErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import {
  forbiddenField,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
  unsupportedValue,
} from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { type DefinedVersion, type Definition, readDefinition } from "./definition.ts";
import { fieldNames, parseJsonPath } from "./json-path.ts";
import { resolveFieldPath } from "./field-path.ts";
import { readSchema } from "./schema.ts";
import { schemaCauses } from "./schema-rules.ts";

/** Causes of a definition by itself. */
export function definitionCauses(object: JsonObject, causes: Cause[], dialect: Dialect): void {
  const definition = readDefinition(object);
  const { name, group, names } = definition;
  if (name !== `${names.plural}.${group}`) {
    causes.push(invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group'));
  }
  groupCauses(group, causes);
  const scope = ((object["spec"] ?? {}) as JsonObject)["scope"];
  if (scope === "") causes.push(requiredValue("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    causes.push(unsupportedValue("spec.scope", scope, ["Cluster", "Namespaced"]));
  }
  if (((object["spec"] ?? {}) as JsonObject)["preserveUnknownFields"] === true) {
    const instead = `set ${dialect.extensionPrefix}preserve-unknown-fields to true in spec.versions[*].schema instead`;
    causes.push(invalidValue("spec.preserveUnknownFields", true, `cannot set to true, ${instead}`));
  }
  versionCauses(definition, causes);
  nameCauses(definition, causes);
  partCauses(definition, dialect, causes);
  conversionCauses(object, causes);
  storedVersionCauses(object, definition, causes);
  approvalCauses(object, group, dialect, causes);
}

function groupCauses(group: string, causes: Cause[]): void {
  if (group === "") {
    causes.push(requiredValue("spec.group"));
    return;
  }
  const errors = dns1123SubdomainErrors(group);
  if (errors.length > 0) causes.push(invalidValue("spec.group", group, errors.join(",")));
  else if (!group.includes(".")) {
    causes.push(invalidValue("spec.group", group, "should be a domain with at least one dot"));
  }
}

function versionCauses({ versions }: Definition, causes: Cause[]): void {
  versions.forEach(({ name, deprecated, deprecationWarning }, at) => {
    const errors = dns1035LabelErrors(name);
    if (errors.length > 0) causes.push(invalidValue(`spec.versions[${at}].name`, name, errors.join(",")));
    const path = `spec.versions[${at}].deprecationWarning`;
    if (deprecationWarning === undefined) return;
    if (!deprecated) causes.push(invalidValue(path, deprecationWarning, "can only be set for deprecated versions"));
    pushInvalid(path, deprecationWarning, warningErrors(deprecationWarning), causes);
  });
  const shown = `[]apiextensions.CustomResourceDefinitionVersion{${versions.map(({ name }) => name).join(", ")}}`;
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    causes.push(invalidText("spec.versions", shown, "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    causes.push(invalidText("spec.versions", shown, "must have exactly one version marked as storage version"));
  }
}

const warningBytesMax = 256;

/** A warning travels in a header. */
function warningErrors(warning: string): readonly string[] {
  const errors: string[] = [];
  if (utf8Length(warning) > warningBytesMax) errors.push(`must be <= ${warningBytesMax} characters long`);
  if (warning === "") errors.push("must not be an empty string");
  const hidden = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (hidden !== null) {
    const index = utf8Length(warning.slice(0, hidden.index));
    errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
  }
  return errors;
}

function nameCauses({ names }: Definition, causes: Cause[]): void {
  const at = "spec.names";
  const { plural, singular, kind, listKind } = names;
  for (const [field, value] of Object.entries({ plural, singular, kind, listKind })) {
    if (value === "") causes.push(requiredValue(`${at}.${field}`));
  }
  labelCauses(`${at}.plural`, plural, "", causes);
  labelCauses(`${at}.singular`, singular, "", causes);
  const mixedCase = "may have mixed case, but should otherwise match: ";
  labelCauses(`${at}.kind`, kind, mixedCase, causes);
  labelCauses(`${at}.listKind`, listKind, mixedCase, causes);
  names.shortNames.forEach((name, index) => labelCauses(`${at}.shortNames[${index}]`, name, "", causes));
  if (kind !== "" && kind === listKind) {
    causes.push(invalidValue(`${at}.listKind`, listKind, "kind and listKind may not be the same"));
  }
  names.categories.forEach((name, index) => labelCauses(`${at}.categories[${index}]`, name, "", causes));
}

function labelCauses(field: string, value: string, before: string, causes: Cause[]): void {
  if (value === "") return;
  const errors = dns1035LabelErrors(before === "" ? value : value.toLowerCase());
  if (errors.length > 0) causes.push(invalidValue(field, value, before + errors.join(",")));
}

/** Schemas, subresources, columns and selectable fields, each at the top when all versions share it. */
function partCauses({ versions }: Definition, dialect: Dialect, causes: Cause[]): void {
  const first = versions[0];
  if (first === undefined) return;
  const shares = (part: (version: DefinedVersion) => unknown): boolean =>
    versions.every((version) => jsonEqual(part(version) as Json, part(first) as Json));
  const each = (shared: boolean, work: (version: DefinedVersion, at: string) => void): void => {
    if (shared) work(first, "spec");
    else versions.forEach((version, index) => work(version, `spec.versions[${index}]`));
  };
  const schemaShared = first.schema !== undefined && shares(({ schema }) => schema);
  if (!schemaShared) {
    versions.forEach(({ schema }, index) => {
      if (schema !== undefined) return;
      causes.push(requiredValue(`spec.versions[${index}].schema.openAPIV3Schema`, "schemas are required"));
    });
  }
  each(schemaShared, ({ schema }, at) => {
    if (schema === undefined) return;
    const path = at === "spec" ? "spec.validation.openAPIV3Schema" : `${at}.schema.openAPIV3Schema`;
    schemaCauses(schema, path, dialect.extensionPrefix, causes);
  });
  each(
    shares(({ scale }) => scale && { ...scale }),
    (version, at) => scaleCauses(version, at, causes),
  );
  each(
    shares(({ columns }) => columns.map((column) => ({ ...column }))),
    (version, at) => columnCauses(version, at, causes),
  );
  each(
    shares(({ selectable }) => selectable),
    (version, at) => selectableCauses(version, at, dialect, causes),
  );
}

function scaleCauses({ scale }: DefinedVersion, at: string, causes: Cause[]): void {
  if (scale === undefined) return;
  for (const [field, value] of Object.entries(scale)) {
    const path = `${at}.subresources.scale.${field}`;
    const root = field === "specReplicasPath" ? ".spec" : ".status";
    if (value === "") {
      if (field !== "labelSelectorPath") causes.push(requiredValue(path));
      continue;
    }
    const either = field === "labelSelectorPath" && value.startsWith(".spec.");
    if (!either && !value.startsWith(`${root}.`)) {
      const text =
        field === "labelSelectorPath"
          ? "should be a json path under .status or .spec"
          : `should be a json path under ${root}`;
      causes.push(invalidValue(path, value, text));
    } else if (fieldNames(value) === undefined) {
      causes.push(invalidValue(path, value, "should be a simple json path of fields"));
    }
  }
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnCauses({ columns }: DefinedVersion, at: string, causes: Cause[]): void {
  columns.forEach(({ name, type, format, jsonPath }, index) => {
    const path = `${at}.additionalPrinterColumns[${index}]`;
    if (name === "") causes.push(requiredValue(`${path}.name`));
    if (type === "") causes.push(requiredValue(`${path}.type`, `must be one of ${columnTypes.join(",")}`));
    else if (!columnTypes.includes(type)) {
      causes.push(invalidValue(`${path}.type`, type, `must be one of ${columnTypes.join(",")}`));
    }
    if (format !== "" && !columnFormats.includes(format)) {
      causes.push(invalidValue(`${path}.format`, format, `must be one of ${columnFormats.join(",")}`));
    }
    if (jsonPath === "") causes.push(requiredValue(`${path}.JSONPath`));
    else if (parseJsonPath(jsonPath) === undefined) {
      causes.push(invalidValue(`${path}.JSONPath`, jsonPath, "is an invalid json path"));
    }
  });
}

const selectableMax = 8;

/** Types of fields that can be compared with a text. */
const selectableTypes = ["boolean", "integer", "string"];

function selectableCauses(
  { selectable, schema: raw }: DefinedVersion,
  at: string,
  { extensionPrefix }: Dialect,
  causes: Cause[],
): void {
  const schema = raw === undefined || selectable.length === 0 ? undefined : readSchema(raw, extensionPrefix);
  const seen = new Set<string>();
  selectable.forEach((path, index) => {
    const field = `${at}.selectableFields[${index}].jsonPath`;
    if (path === "") causes.push(requiredValue(field));
    else if (fieldNames(path) === undefined)
      causes.push(invalidValue(field, path, "is an invalid path: must be a simple path of fields"));
    else if (path.startsWith(".metadata."))
      causes.push(invalidValue(field, path, "must not point to fields in metadata"));
    else if (schema !== undefined) {
      const found = resolveFieldPath(path, schema);
      if ("error" in found) causes.push(invalidValue(field, path, `is an invalid path: ${found.error}`));
      else if (!selectableTypes.includes(found.schema.type)) {
        const text =
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
        causes.push(invalidValue(field, path, text));
      }
    }
    if (seen.has(path)) {
      causes.push({ reason: "FieldValueDuplicate", message: `Duplicate value: ${JSON.stringify(path)}`, field });
    }
    seen.add(path);
  });
  if (selectable.length > selectableMax) {
    const message = `Too many: ${selectable.length}: must have at most ${selectableMax} items`;
    causes.push({ reason: "FieldValueTooMany", message, field: `${at}.selectableFields` });
  }
}

function conversionCauses(object: JsonObject, causes: Cause[]): void {
  const conversion = ((object["spec"] ?? {}) as JsonObject)["conversion"];
  if (!isObject(conversion)) return;
  const strategy = conversion["strategy"];
  if (strategy === "Webhook") {
    causes.push(forbiddenField("spec.conversion.strategy", "conversion webhooks are not supported by this simulator"));
  } else if (strategy !== "None") {
    causes.push(unsupportedValue("spec.conversion.strategy", strategy, ["None", "Webhook"]));
  } else if (conversion["webhook"] !== undefined) {
    causes.push(forbiddenField("spec.conversion.webhook", "should not be set when strategy is not set to Webhook"));
  }
}

function storedVersionCauses(object: JsonObject, { versions }: Definition, causes: Cause[]): void {
  const stored = (((object["status"] ?? {}) as JsonObject)["storedVersions"] ?? []) as readonly string[];
  const known = new Set(versions.map(({ name }) => name));
  stored.forEach((version, at) => {
    if (known.has(version)) return;
    const text = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    causes.push(invalidValue(`status.storedVersions[${at}]`, version, text));
  });
  const storage = versions.find((version) => version.storage);
  if (storage !== undefined && !stored.includes(storage.name)) {
    const shown = `[]string{${stored.map((each) => JSON.stringify(each)).join(", ")}}`;
    causes.push(invalidText("status.storedVersions", shown, `must have the storage version ${storage.name}`));
  }
}

/** Groups under the brand's own domains need the community's consent. */
function approvalCauses(object: JsonObject, group: string, dialect: Dialect, causes: Cause[]): void {
  const isProtected = [dialect.groupSuffix, dialect.labelSuffix].some(
    (suffix) => group === suffix || group.endsWith(`.${suffix}`),
  );
  if (!isProtected) return;
  const annotation = `api-approved.${dialect.labelSuffix}`;
  const value = metadataOf(object).annotations?.[annotation] ?? "";
  const field = `metadata.annotations[${annotation}]`;
  if (value === "") {
    causes.push(requiredValue(field, `protected groups must have approval annotation "${annotation}"`));
  } else if (!value.startsWith("unapproved") && !/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+/i.test(value)) {
    causes.push(
      invalidValue(
        field,
        value,
        'protected groups must have approval annotation with either a URL or a reason starting with "unapproved"',
      ),
    );
  }
}

/** Causes of the step from `live` to `object`: an established definition keeps its scope and kind. */
export function definitionUpdateCauses(object: JsonObject, live: JsonObject, causes: Cause[]): void {
  const after = (object["spec"] ?? {}) as JsonObject;
  const before = (live["spec"] ?? {}) as JsonObject;
  const immutable = (field: string, now: Json | undefined, then: Json | undefined): void => {
    if (now !== then) causes.push(invalidValue(field, now, "field is immutable"));
  };
  const names = (spec: JsonObject): JsonObject => (spec["names"] ?? {}) as JsonObject;
  const established = readDefinition(live).conditions.some(
    ({ type, status }) => type === "Established" && status === "True",
  );
  if (established) {
    immutable("spec.scope", after["scope"], before["scope"]);
    immutable("spec.names.kind", names(after)["kind"], names(before)["kind"]);
  }
  immutable("spec.group", after["group"], before["group"]);
  immutable("spec.names.plural", names(after)["plural"], names(before)["plural"]);
}

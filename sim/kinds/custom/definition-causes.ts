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
import { duplicateValue, invalidValue, requiredValue, tooManyItems } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { metadataOf } from "../../contract/objects.ts";
import { type Check, judgeAt, type Place, type Rule } from "../../objects/place.ts";
import {
  always,
  called,
  caseOf,
  each,
  fieldRules,
  fields,
  firstOf,
  forbidden,
  format,
  immutable,
  oneOf,
  required,
  type Step,
  stepRules,
  struct,
  textThat,
  unlessEmpty,
} from "../../objects/rules.ts";
import { type DefinedVersion, type Definition, isTrue, readDefinition } from "./definition.ts";
import { fieldNames, parseJsonPath } from "./json-path.ts";
import { resolveFieldPath } from "./field-path.ts";
import { readSchema } from "./schema.ts";
import { schemaCauses } from "./schema-rules.ts";

/** A text of a form; whatever is wrong with it is told at once. */
const form = (errors: (text: string) => readonly string[], before = ""): Rule => ({
  zero: "",
  holds: (text: string) => errors(text).length === 0,
  judge: (text: string, at) => at.invalid(text, before + errors(text).join(",")),
});

const name = form(dns1035LabelErrors);
const kindName = form(
  (text) => dns1035LabelErrors(text.toLowerCase()),
  "may have mixed case, but should otherwise match: ",
);
const group = firstOf(
  form(dns1123SubdomainErrors),
  textThat((text) => text.includes("."), "should be a domain with at least one dot"),
);

const ownName: Check = (object: JsonObject, at) => {
  const { name, group, names } = readDefinition(object);
  if (name === `${names.plural}.${group}`) return;
  at.of("metadata", "name").invalid(name, 'must be spec.names.plural+"."+spec.group');
};

const preserveUnknownFields: Check = (all: boolean, at) => {
  const instead = `set ${at.dialect.extensionPrefix}preserve-unknown-fields to true in spec.versions[*].schema instead`;
  if (all) at.invalid(true, `cannot set to true, ${instead}`);
};

const warningOfDeprecated: Check = ({ deprecated, deprecationWarning }: JsonObject, at) => {
  if (deprecationWarning === undefined || deprecated === true) return;
  at.of("deprecationWarning").invalid(deprecationWarning, "can only be set for deprecated versions");
};

const versionsTogether: Check = ({ versions: given }: JsonObject, at) => {
  const versions = (given ?? []) as unknown as readonly { readonly name?: string; readonly storage?: boolean }[];
  const names = versions.map(({ name = "" }) => name);
  const shown = `[]apiextensions.CustomResourceDefinitionVersion{${names.join(", ")}}`;
  const tell = (detail: string): void => at.of("versions").invalidText(shown, detail);
  if (new Set(names).size < names.length) tell("must contain unique version names");
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    tell("must have exactly one version marked as storage version");
  }
};

const kindsDiffer: Check = ({ kind = "", listKind = "" }: JsonObject, at) => {
  if (kind === "" || kind !== listKind) return;
  at.of("listKind").invalid(listKind, "kind and listKind may not be the same");
};

const conversion = caseOf(
  "strategy",
  {
    None: { webhook: forbidden("should not be set when strategy is not set to Webhook") },
    Webhook: { strategy: forbidden("conversion webhooks are not supported by this simulator") },
  },
  { strategy: required(oneOf(["None", "Webhook"])) },
);

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

const storedVersions: Check = (object: JsonObject, at) => {
  const { versions } = readDefinition(object);
  const stored = (((object["status"] ?? {}) as JsonObject)["storedVersions"] ?? []) as readonly string[];
  const place = at.of("status", "storedVersions");
  const known = new Set(versions.map(({ name }) => name));
  stored.forEach((version, index) => {
    if (known.has(version)) return;
    const text = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    place.of(index).invalid(version, text);
  });
  const storage = versions.find((version) => version.storage);
  if (storage === undefined || stored.includes(storage.name)) return;
  const shown = `[]string{${stored.map((each) => JSON.stringify(each)).join(", ")}}`;
  place.invalidText(shown, `must have the storage version ${storage.name}`);
};

/** Groups under the brand's own domains need the community's consent. */
const approval: Check = (object: JsonObject, at) => {
  const { groupSuffix, labelSuffix } = at.dialect;
  const { group } = readDefinition(object);
  if (![groupSuffix, labelSuffix].some((suffix) => group === suffix || group.endsWith(`.${suffix}`))) return;
  const annotation = `api-approved.${labelSuffix}`;
  const value = metadataOf(object).annotations?.[annotation] ?? "";
  const place = at.of("metadata", "annotations", [annotation]);
  if (value === "") place.required(`protected groups must have approval annotation "${annotation}"`);
  else if (!value.startsWith("unapproved") && !/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+/i.test(value)) {
    const text =
      'protected groups must have approval annotation with either a URL or a reason starting with "unapproved"';
    place.invalid(value, text);
  }
};

/** Causes of a definition by itself. */
export const definitionCauses = fieldRules(
  ownName,
  {
    spec: always(
      struct(
        {
          group: required(group),
          scope: required(oneOf(["Cluster", "Namespaced"])),
          preserveUnknownFields,
          versions: each(
            struct({ name: always(name) }, warningOfDeprecated, { deprecationWarning: format(warningErrors) }),
          ),
        },
        versionsTogether,
        {
          names: always(
            struct(
              fields(["plural", "singular", "kind", "listKind"], required()),
              fields(["plural", "singular"], unlessEmpty(name)),
              fields(["kind", "listKind"], unlessEmpty(kindName)),
              { shortNames: each(unlessEmpty(name)) },
              kindsDiffer,
              { categories: each(unlessEmpty(name)) },
            ),
          ),
        },
      ),
    ),
  },
  (object: JsonObject, at: Place) => partCauses(readDefinition(object), at.dialect, at.causes),
  { "spec.conversion": conversion },
  storedVersions,
  approval,
);

/** Causes of the step to what replaces a definition: an established one keeps its scope and kind. */
export const definitionUpdateCauses = stepRules({
  "spec.scope": whenEstablished(immutable()),
  "spec.names.kind": whenEstablished(immutable()),
  "spec.group": immutable(),
  "spec.names.plural": immutable(),
});

function whenEstablished(step: Step): Step {
  return (now, before, at) => {
    if (at.live !== undefined && isTrue(readDefinition(at.live), "Established")) step(now, before, at);
  };
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
    (version, at) => {
      if (version.scale !== undefined) judgeAt(scale, { ...version.scale }, `${at}.subresources.scale`, causes);
    },
  );
  each(
    shares(({ columns }) => columns.map((column) => ({ ...column }))),
    (version, at) => judgeAt(columns, version.columns as unknown as Json, `${at}.additionalPrinterColumns`, causes),
  );
  each(
    shares(({ selectable }) => selectable),
    (version, at) => selectableCauses(version, at, dialect, causes),
  );
}

const pathUnder = (...roots: readonly string[]): Rule =>
  firstOf(
    textThat(
      (path) => roots.some((root) => path.startsWith(`${root}.`)),
      `should be a json path under ${roots.join(" or ")}`,
    ),
    textThat((path) => fieldNames(path) !== undefined, "should be a simple json path of fields"),
  );

const scale = struct({
  specReplicasPath: required(pathUnder(".spec")),
  statusReplicasPath: required(pathUnder(".status")),
  labelSelectorPath: unlessEmpty(pathUnder(".status", ".spec")),
});

const mustBeOneOf = (words: readonly string[]): string => `must be one of ${words.join(",")}`;
const wordOf = (words: readonly string[]): Rule => textThat((text) => words.includes(text), mustBeOneOf(words));
const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

const columns = each(
  struct({
    name: required(),
    type: required(wordOf(columnTypes), mustBeOneOf(columnTypes)),
    format: unlessEmpty(wordOf(columnFormats)),
    jsonPath: called(
      "JSONPath",
      required(textThat((path) => parseJsonPath(path) !== undefined, "is an invalid json path")),
    ),
  }),
);

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
    if (seen.has(path)) causes.push(duplicateValue(field, path));
    seen.add(path);
  });
  if (selectable.length > selectableMax) {
    causes.push(tooManyItems(`${at}.selectableFields`, selectable.length, selectableMax));
  }
}

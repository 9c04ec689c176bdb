/**
 * One version of a custom resource as the server serves it: the same parts that a built-in resource has, made from a
 * definition.
 */
import { type Dialect, groupFromDialect } from "../../../wire/dialect.ts";
import { resourceRows, type ResourceRow, type SubresourceRow } from "../../../wire/resources.ts";
import type { TypeRow } from "../../../wire/schema.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { invalidValue, requiredValue } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { seal } from "../../objects/seal.ts";
import type { Strategy } from "../../objects/strategy.ts";
import { usual } from "../../kinds/strategies.ts";
import { isObject } from "../../contract/objects.ts";
import { describe, type Walk } from "../../objects/walk-context.ts";
import { setCustomWalk } from "../../objects/walker.ts";
import type { FieldValue } from "../../kinds/shared/field-labels.ts";
import type { ObjectView } from "../encodings/object-views.ts";
import type { ServedResource } from "./served-resource.ts";
import { customPrinter } from "../../kinds/custom/columns.ts";
import type { DefinedVersion, Definition, ScalePaths } from "../../kinds/custom/definition.ts";
import { isTrue } from "../../kinds/custom/definition.ts";
import { fieldNames } from "../../kinds/custom/json-path.ts";
import { ruleValidator } from "../../kinds/custom/rule-validator.ts";
import { readSchema, type Schema } from "../../kinds/custom/schema.ts";
import { inKeyOrder, newShaping, shapeObject } from "../../kinds/custom/shape-value.ts";
import { storageVersionHash } from "../../kinds/custom/storage-version-hash.ts";
import { typeOfSchema } from "../../kinds/custom/type-of-schema.ts";
import { childPath, validateListTypes, validateValue } from "../../kinds/custom/validate-value.ts";

const servingVerbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const terminatingVerbs = ["delete", "deletecollection", "get", "list", "watch"];

/** The served resource of one version. */
export function customResource(definition: Definition, version: DefinedVersion, dialect: Dialect): ServedResource {
  const { group: dialectGroup, acceptedNames } = definition;
  const group = groupFromDialect(dialect, dialectGroup);
  const schema = readSchema(version.schema ?? { type: "object" }, dialect.extensionPrefix);
  const { kind } = definition.names;
  const type = typeWithWalk(kind, schema);
  const row = rowOf(definition, version, group, type);
  const apiVersion = `${dialectGroup}/${version.name}`;
  const name = { group: dialectGroup, resource: row.resource };
  return {
    row,
    target: { kind, group, version: version.name, type, dialect },
    strategy: strategyOfCustom(definition, version, { group, type, schema, dialect }),
    read: {
      prefix: `/registry/${row.resource}.${group}/`,
      namespaced: row.namespaced,
      cached: true,
      name,
      apiVersion,
      kind,
      fieldLabels: { values: fieldLabels(definition, version), metadataOnly: false },
    },
    name,
    group: dialectGroup,
    apiVersion,
    kindGroup: dialectGroup,
    view: versionView(definition, apiVersion, schema, dialect),
    custom: {
      scale: version.scale,
      printer: customPrinter(version.columns),
      listKind: acceptedNames.listKind,
      schema: version.schema ?? { type: "object" },
      warning: warningOf(definition, version),
      terminating: isTrue(definition, "Terminating"),
    },
  };
}

function typeWithWalk(kind: string, schema: Schema): TypeRow {
  const type = typeOfSchema(kind, schema, true);
  setCustomWalk(type, walkOf(schema));
  return type;
}

/** Types of fields are for validation to judge; only an object that is none at all is an error of reading. */
function walkOf(schema: Schema): Walk {
  return (value, context) => {
    if (!isObject(value)) {
      context.mismatch(describe(value), "map[string]interface {}");
      return {};
    }
    const shaping = newShaping();
    const shaped = shapeObject(value, schema, shaping);
    if (shaping.error !== undefined) context.fail(shaping.error);
    for (const path of shaping.unknown.sort()) context.unknown.push(path);
    return shaped;
  };
}

function rowOf(definition: Definition, version: DefinedVersion, group: string, type: TypeRow): ResourceRow {
  const { acceptedNames, names, namespaced } = definition;
  const own = { group, version: version.name, foreign: false, verbs: ["get", "patch", "update"], type };
  const subresources: SubresourceRow[] = [];
  if (version.status) subresources.push({ ...own, subresource: "status", kind: names.kind });
  if (version.scale !== undefined) subresources.push({ ...scaleRow, verbs: own.verbs });
  return {
    group,
    version: version.name,
    groupVersion: `${group}/${version.name}`,
    resource: names.plural,
    kind: names.kind,
    singularName: acceptedNames.singular,
    namespaced,
    verbs: isTrue(definition, "Terminating") ? terminatingVerbs : servingVerbs,
    shortNames: acceptedNames.shortNames,
    categories: acceptedNames.categories,
    type,
    subresources,
    custom: true,
    storageVersionHash: hashOf(definition, version),
  };
}

/** All versions of a definition have the hash of the one that is stored. */
const hashes = new WeakMap<Definition, string>();

function hashOf(definition: Definition, version: DefinedVersion): string {
  const { group, names, storage } = definition;
  if (storage === undefined) return storageVersionHash(group, version.name, names.kind);
  let hash = hashes.get(definition);
  if (hash === undefined) hashes.set(definition, (hash = storageVersionHash(group, storage.name, names.kind)));
  return hash;
}

const scaleRow = resourceRows
  .flatMap(({ subresources }) => subresources)
  .find(({ subresource }) => subresource === "scale") as SubresourceRow;

/** A status request writes status alone. */
const metadataOfObjects = ["labels", "annotations", "finalizers", "ownerReferences", "generateName"];

/** The types of all versions, each made when somebody needs it. */
function typesOf(
  { group, names, versions }: Definition,
  dialect: Dialect,
): (apiVersion: string) => TypeRow | undefined {
  const types = new Map<string, TypeRow>();
  return (apiVersion) => {
    const version = versions.find(({ name }) => `${group}/${name}` === apiVersion);
    if (version === undefined) return undefined;
    let type = types.get(apiVersion);
    if (type === undefined) {
      type = typeOfSchema(names.kind, readSchema(version.schema ?? { type: "object" }, dialect.extensionPrefix));
      types.set(apiVersion, type);
    }
    return type;
  };
}

interface StrategyParts {
  readonly group: string;
  readonly type: TypeRow;
  readonly schema: Schema;
  readonly dialect: Dialect;
}

function strategyOfCustom(definition: Definition, version: DefinedVersion, parts: StrategyParts): Strategy {
  const { group, type, schema, dialect } = parts;
  return {
    ...usual,
    unconditionalUpdate: false,
    usesGeneration: true,
    statusLocks: metadataOfObjects,
    statusOwnsLocked: true,
    type,
    typeIn: typesOf(definition, dialect),
    kind: definition.names.kind,
    group,
    errorGroup: definition.group,
    namespaced: definition.namespaced,
    dialect,
    hasStatus: version.status,
    zeroStatus: undefined,
    knownFinalizersOnly: false,
    rules: rulesOf(schema, version.scale),
  };
}

function rulesOf(schema: Schema, scale: ScalePaths | undefined): KindRules {
  const ownCauses = (object: JsonObject, causes: Cause[]): void => {
    pushAll(causes, validateValue(object, schema));
    if (scale !== undefined) scaleCauses(object, scale, causes);
    if (schema.within.embedded) embeddedCauses(object, schema, "", causes);
  };
  const rules = ruleValidator(schema);
  return {
    validate(object, causes, _dialect, live) {
      const before = causes.length;
      ownCauses(object, causes);
      pushAll(causes, validateListTypes(object, schema));
      if (rules === undefined) return;
      if (causes.slice(before).some(({ reason }) => blocking.has(reason))) causes.push(unchecked);
      else pushAll(causes, rules(object, live));
    },
  };
}

/** One by one: a call takes no more than some hundred thousand arguments. */
function pushAll(causes: Cause[], more: readonly Cause[]): void {
  for (const cause of more) causes.push(cause);
}

/** What makes an object unfit to be looked at by rules. */
const blocking: ReadonlySet<string | undefined> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const unchecked = invalidValue(
  "<nil>",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);

const int32Max = 2_147_483_647;

function scaleCauses(object: JsonObject, scale: ScalePaths, causes: Cause[]): void {
  for (const path of [scale.specReplicasPath, scale.statusReplicasPath]) {
    const value = valueOf(object, path);
    if (value === undefined || value === null) continue;
    if (typeof value !== "number" || !Number.isInteger(value)) {
      const text = `${path} accessor error: ${JSON.stringify(value)} is not an integer`;
      causes.push(invalidValue(path, 0, text));
    } else if (value < 0) causes.push(invalidValue(path, value, "should be a non-negative integer"));
    else if (value > int32Max) {
      causes.push(invalidValue(path, value, `should be less than or equal to ${int32Max}`));
    }
  }
}

/** What stands at a simple path; undefined when there is nothing. */
export function valueOf(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const name of fieldNames(path) ?? []) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** An embedded object must say what it is. */
function embeddedCauses(value: Json, schema: Schema, path: string, causes: Cause[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) {
      (value as readonly Json[]).forEach((item, at) => embeddedCauses(item, items, `${path}[${at}]`, causes));
    }
    return;
  }
  if (!isObject(value)) return;
  if (schema.embedded && path !== "") {
    for (const field of ["apiVersion", "kind"]) {
      if ((value[field] ?? "") === "") causes.push(requiredValue(`${path}.${field}`, "must not be empty"));
    }
  }
  for (const key of Object.keys(value)) {
    const inner = schema.properties.get(key) ?? (schema.additional === "any" ? undefined : schema.additional);
    if (inner !== undefined) embeddedCauses(value[key] as Json, inner, childPath(path, key), causes);
  }
}

/**
 * Stored objects as this version shows them. What was stored by an older schema is pruned and defaulted again; what
 * needs no change is shown as it is stored.
 */
function versionView(definition: Definition, apiVersion: string, schema: Schema, dialect: Dialect): ObjectView {
  const { storage } = definition;
  const storedAs = storage === undefined ? apiVersion : `${definition.group}/${storage.name}`;
  const storageSchema =
    storedAs === apiVersion || storage?.schema === undefined
      ? schema
      : readSchema(storage.schema, dialect.extensionPrefix);
  const shown = new WeakMap<JsonObject, JsonObject>();
  /** Those that were written through this version, and decoded by its schema: they are in shape. */
  const fitting = new WeakSet<JsonObject>();
  const viewOf = (stored: JsonObject): JsonObject =>
    fitting.has(stored) ? inOrder(stored, stored, apiVersion) : reshaped(stored, apiVersion, schema);
  return {
    fromStored(stored) {
      let view = shown.get(stored);
      if (view === undefined) shown.set(stored, (view = seal(viewOf(stored))));
      return view;
    },
    toStored(object) {
      if (storedAs !== apiVersion) return reshaped(object, storedAs, storageSchema);
      fitting.add(object);
      return object;
    },
  };
}

function reshaped(object: JsonObject, apiVersion: string, schema: Schema): JsonObject {
  const { metadata: _metadata, ...rest } = object;
  return inOrder(shapeObject(rest as JsonObject, schema, newShaping()), object, apiVersion);
}

/** `shaped`, with the metadata of `object`. */
function inOrder(shaped: JsonObject, { metadata }: JsonObject, apiVersion: string): JsonObject {
  return inKeyOrder({
    ...shaped,
    apiVersion,
    ...(metadata === undefined ? {} : { metadata: inKeyOrder(metadata) }),
  }) as JsonObject;
}

function fieldLabels({ namespaced }: Definition, { selectable }: DefinedVersion): ReadonlyMap<string, FieldValue> {
  const metadata =
    (field: string): FieldValue =>
    (object) => {
      const value = (object["metadata"] as JsonObject | undefined)?.[field];
      return typeof value === "string" ? value : "";
    };
  const labels = new Map<string, FieldValue>([["metadata.name", metadata("name")]]);
  if (namespaced) labels.set("metadata.namespace", metadata("namespace"));
  for (const path of selectable) {
    labels.set(path.replace(/^\./, ""), (object) => {
      const value = valueOf(object, path);
      return value === undefined || value === null || typeof value === "object" ? "" : String(value);
    });
  }
  return labels;
}

function warningOf({ group, names }: Definition, version: DefinedVersion): string | undefined {
  if (!version.deprecated) return undefined;
  return version.deprecationWarning ?? `${group}/${version.name} ${names.kind} is deprecated`;
}

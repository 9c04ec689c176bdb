/**
 * What makes a schema unfit: the structural rules, and the defaults that it sets. Paths and texts are the real server's.
 * Source: the published structural schema rules.
 */
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { isObject } from "../../contract/objects.ts";
import { isLargeValue } from "../../objects/value-limit.ts";
import { askedOnce, paced, pacedParts } from "../../expressions/pace.ts";
import { ruleCompileCauses, ruleFormCauses } from "./rule-causes.ts";
import {
  compilePattern,
  type ExtensionNames,
  extensionNames,
  pacedEntries,
  readSchema,
  type Schema,
  schemaReader,
} from "./schema.ts";
import { newShaping, shapeObject } from "./shape-value.ts";
import { validateValue } from "./validate-value.ts";

type Place = "root" | "field" | "items";

interface Judging {
  readonly names: ExtensionNames;
  readonly prefix: string;
  readonly read: (raw: JsonObject) => Schema;
  readonly causes: Cause[];
  hasRules: boolean;
  /** Of a large schema some properties or alternatives are judged at a time, between which the judgement may be broken off. */
  readonly isInParts: boolean;
}

type Naming = Pick<Judging, "names" | "causes">;

/** Causes for refusing a version's schema; `at` is the path of the schema itself. */
export function schemaCauses(schema: JsonObject, at: string, prefix: string, causes: Cause[]): void {
  const before = causes.length;
  const read = schemaReader(prefix);
  const isInParts = isLargeValue(schema);
  const judging: Judging = { names: extensionNames(prefix), prefix, read, causes, hasRules: false, isInParts };
  judgeSchema(schema, at, "root", judging);
  judgeRootMetadata(schema, at, causes);
  // Rules are compiled only against a schema that is sound: their errors would come from its own.
  if (causes.length > before) return;
  const isStored = Object.isFrozen(schema);
  if (judging.hasRules || (isInParts && isStored)) {
    const sound = isStored ? readSchema(schema, prefix) : askedOnce(() => read(schema));
    if (judging.hasRules) ruleCompileCauses(sound, at, prefix, causes);
  }
}

/** Of a property or an alternative, without what is within it, by the measure of expressions (`pace.ts`). */
const nodeCost = 8;

function judgeEach<Item>(
  items: readonly Item[],
  judging: Judging,
  judgeOne: (item: Item, index: number, judging: Judging) => void,
): void {
  if (!judging.isInParts) {
    items.forEach((item, index) => judgeOne(item, index, judging));
    return;
  }
  const judgeSome = (from: number, end: number): Judging => {
    const own: Judging = { ...judging, causes: [], hasRules: false };
    for (let index = from; index < end; index++) judgeOne(items[index] as Item, index, own);
    return own;
  };
  for (const part of pacedParts(items.length, judgeSome, (_, length) => nodeCost * length)) {
    for (const cause of part.causes) judging.causes.push(cause);
    judging.hasRules ||= part.hasRules;
  }
}

const neverSupported: readonly (readonly [name: string, text: string])[] = Object.entries({
  $ref: "$ref is not supported",
  additionalItems: "additionalItems is not supported",
  definitions: "definitions is not supported",
  dependencies: "dependencies is not supported",
  id: "id is not supported",
  patternProperties: "patternProperties is not supported",
});

function judgeSchema(schema: JsonObject, at: string, place: Place, judging: Judging): void {
  const { causes, names } = judging;
  for (const [name, text] of neverSupported) {
    if (schema[name] !== undefined) causes.push(forbiddenField(`${at}.${name}`, text));
  }
  if (schema["uniqueItems"] === true) {
    const text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    causes.push(forbiddenField(`${at}.uniqueItems`, text));
  }
  if (schema[names.validations] !== undefined) {
    judging.hasRules = true;
    const read = askedOnce(() => judging.read(schema));
    ruleFormCauses(read.rules, read, `${at}.${names.validations}`, causes);
  }
  judgeType(schema, at, place, judging);
  judgePattern(schema, at, causes);
  judgeExtensions(schema, at, judging);
  judgeProperties(schema, at, place, judging);
  const { items } = schema;
  if (Array.isArray(items))
    causes.push(forbiddenField(`${at}.items`, "items must be a schema object and not an array"));
  else if (isObject(items)) judgeSchema(items, `${at}.items`, "items", judging);
  else if (schema["type"] === "array") causes.push(requiredValue(`${at}.items`, "must be specified"));
  judgeJunctions(schema, at, judging);
  judgeDefault(schema, at, judging);
}

const types = ["array", "boolean", "integer", "number", "object", "string"];

function judgeType(schema: JsonObject, at: string, place: Place, { causes, names }: Judging): void {
  const type = (schema["type"] ?? "") as string;
  if (type === "null") {
    causes.push(forbiddenField(`${at}.type`, "type cannot be set to null, use nullable as an alternative"));
    return;
  }
  if (schema[names.intOrString] === true) {
    if (type !== "") causes.push(invalidValue(`${at}.type`, type, `must be empty if ${names.intOrString} is true`));
    return;
  }
  if (type === "") {
    if (place !== "root" && schema[names.preserveUnknownFields] === true) return;
    causes.push(requiredValue(`${at}.type`, emptyTypeTexts[place]));
  } else if (place === "root" && type !== "object") {
    causes.push(invalidValue(`${at}.type`, type, "must be object at the root"));
  } else if (!types.includes(type)) causes.push(unsupportedValue(`${at}.type`, type, types));
}

const emptyTypeTexts: Readonly<Record<Place, string>> = {
  root: "must not be empty at the root",
  field: "must not be empty for specified object fields",
  items: "must not be empty for specified array items",
};

function judgePattern(schema: JsonObject, at: string, causes: Cause[]): void {
  const pattern = (schema["pattern"] ?? "") as string;
  if (pattern === "") return;
  const isPattern = paced(
    () => compilePattern(pattern) !== undefined,
    () => pattern.length * compileCost,
  );
  if (isPattern) return;
  causes.push(invalidValue(`${at}.pattern`, pattern, "must be a valid regular expression"));
}

/** Reading a character of a pattern takes about as long as so many steps of an expression. */
const compileCost = 18;

const listTypes = ["atomic", "map", "set"];
const mapTypes = ["atomic", "granular"];
const noKeys: readonly string[] = [];

function judgeExtensions(schema: JsonObject, at: string, { causes, names }: Naming): void {
  const type = schema["type"];
  const preserves = schema[names.preserveUnknownFields];
  if (preserves === false) {
    causes.push(invalidValue(`${at}.${names.preserveUnknownFields}`, false, "must be true or undefined"));
  }
  if (schema[names.embeddedResource] === true) {
    const flag = `${names.embeddedResource} is true`;
    if (type !== "object") causes.push(invalidValue(`${at}.type`, type ?? "", `must be object if ${flag}`));
    if (schema["properties"] === undefined && preserves !== true) {
      const text = `must not be empty if ${flag} without ${names.preserveUnknownFields}`;
      causes.push(requiredValue(`${at}.properties`, text));
    }
  }
  const listType = schema[names.listType] as string | undefined;
  if (listType !== undefined) {
    if (!listTypes.includes(listType)) causes.push(unsupportedValue(`${at}.${names.listType}`, listType, listTypes));
    if (type !== "array") {
      causes.push(invalidValue(`${at}.type`, type ?? "", `must be array if ${names.listType} is specified`));
    }
  }
  judgeListKeys(schema, at, listType, { causes, names });
  const mapType = schema[names.mapType] as string | undefined;
  if (mapType === undefined) return;
  if (!mapTypes.includes(mapType)) causes.push(unsupportedValue(`${at}.${names.mapType}`, mapType, mapTypes));
  if (type !== "object") {
    causes.push(invalidValue(`${at}.type`, type ?? "", `must be object if ${names.mapType} is specified`));
  }
}

function judgeListKeys(schema: JsonObject, at: string, listType: string | undefined, { causes, names }: Naming): void {
  const keys = (schema[names.listMapKeys] ?? noKeys) as readonly string[];
  const items = isObject(schema["items"]) ? schema["items"] : undefined;
  if (listType !== "map") {
    if (keys.length > 0) {
      causes.push(
        invalidValue(`${at}.${names.listType}`, listType ?? "", `must be map if ${names.listMapKeys} is non-empty`),
      );
    }
    if (listType === "set" && items !== undefined) judgeSetItems(items, at, { causes, names });
    return;
  }
  const path = `${at}.${names.listMapKeys}`;
  if (keys.length === 0) {
    causes.push(requiredValue(path, `must not be empty if ${names.listType} is map`));
  }
  if (items === undefined) return;
  if (items["type"] !== "object") {
    causes.push(
      invalidValue(
        `${at}.items.type`,
        items["type"] ?? "",
        `must be object if parent array's ${names.listType} is map`,
      ),
    );
  }
  const properties = (items["properties"] ?? {}) as JsonObject;
  const required = new Set((items["required"] ?? []) as readonly string[]);
  const seen = new Set<string>();
  keys.forEach((key, index) => {
    const property = Object.hasOwn(properties, key) ? (properties[key] as JsonObject) : undefined;
    const field = `${at}.items.properties[${key}]`;
    if (property === undefined) {
      causes.push(invalidValue(`${path}[${index}]`, key, "entries must all be names of item properties"));
    } else if (property["type"] === "object" || property["type"] === "array") {
      causes.push(
        invalidValue(
          `${field}.type`,
          property["type"],
          `must be a scalar type if parent array's ${names.listType} is map`,
        ),
      );
    } else if (!required.has(key) && property["default"] === undefined) {
      const text = `this property is in ${names.listMapKeys}, so it must have a default or be a required property`;
      causes.push(requiredValue(`${field}.default`, text));
    }
    if (seen.has(key)) {
      causes.push({
        reason: "FieldValueDuplicate",
        message: `Duplicate value: ${JSON.stringify(key)}`,
        field: `${path}[${index}]`,
      });
    }
    seen.add(key);
  });
}

/** Elements of a set are compared as a whole. */
function judgeSetItems(items: JsonObject, at: string, { causes, names }: Naming): void {
  if (items["nullable"] === true) {
    causes.push(forbiddenField(`${at}.items.nullable`, `cannot be nullable when ${names.listType} is set`));
  }
  if (items["type"] === "object" && items[names.mapType] !== "atomic") {
    const text = `must be atomic as item of a list with ${names.listType}=set`;
    causes.push(invalidValue(`${at}.items.${names.mapType}`, items[names.mapType] ?? "", text));
  }
  if (items["type"] === "array" && (items[names.listType] ?? "atomic") !== "atomic") {
    const text = `must be atomic as item of a list with ${names.listType}=set`;
    causes.push(invalidValue(`${at}.items.${names.listType}`, items[names.listType], text));
  }
}

function judgeProperties(schema: JsonObject, at: string, place: Place, judging: Judging): void {
  const { causes } = judging;
  const { properties, additionalProperties } = schema;
  if (additionalProperties !== undefined) {
    const path = `${at}.additionalProperties`;
    if (additionalProperties === false)
      causes.push(forbiddenField(path, "additionalProperties cannot be set to false"));
    else if (place === "root") causes.push(forbiddenField(path, "must not be used at the root"));
    if (properties !== undefined) {
      causes.push(forbiddenField(path, "additionalProperties and properties are mutual exclusive"));
    }
    if (isObject(additionalProperties)) judgeSchema(additionalProperties, path, "field", judging);
  }
  if (!isObject(properties)) return;
  judgeEach(pacedEntries(properties), judging, ([name, property], _, own) => {
    if (isObject(property)) judgeSchema(property, `${at}.properties[${name}]`, "field", own);
  });
}

/** Inside a junction only rules of values may stand: what a value is must be said outside. */
function judgeJunctions(schema: JsonObject, at: string, judging: Judging): void {
  const idiom = schema[judging.names.intOrString] === true;
  for (const junction of ["allOf", "anyOf", "oneOf"]) {
    judgeEach((schema[junction] ?? []) as readonly Json[], judging, (part, index, own) => {
      if (!isObject(part)) return;
      const path = `${at}.${junction}[${index}]`;
      judgeRulesOnly(part, path, idiom && junction !== "oneOf", own);
      judgeComplete(part, path, schema, at, own);
    });
  }
  if (!isObject(schema["not"])) return;
  judgeRulesOnly(schema["not"], `${at}.not`, false, judging);
  judgeComplete(schema["not"], `${at}.not`, schema, at, judging);
}

/** What rules inside a junction speak of, the schema at `at` has to name outside of it. */
function judgeComplete(rules: JsonObject, path: string, schema: JsonObject, at: string, judging: Judging): void {
  const { properties, items } = schema;
  const known = isObject(properties) ? properties : {};
  const hasValues = isObject(schema["additionalProperties"]);
  const missing = (place: string, from: string): unknown =>
    judging.causes.push(requiredValue(place, `because it is defined in ${from}`));
  for (const [name, part] of Object.entries((rules["properties"] ?? {}) as JsonObject)) {
    if (!isObject(part)) continue;
    const field = `properties[${name}]`;
    const inner = Object.hasOwn(known, name) ? known[name] : undefined;
    if (isObject(inner)) judgeComplete(part, `${path}.${field}`, inner, `${at}.${field}`, judging);
    else if (!hasValues) missing(`${at}.${field}`, `${path}.${field}`);
  }
  if (isObject(rules["items"])) {
    if (isObject(items)) judgeComplete(rules["items"], `${path}.items`, items, `${at}.items`, judging);
    else missing(`${at}.items`, `${path}.items`);
  }
  for (const junction of ["allOf", "anyOf", "oneOf"]) {
    ((rules[junction] ?? []) as readonly Json[]).forEach((part, index) => {
      if (isObject(part)) judgeComplete(part, `${path}.${junction}[${index}]`, schema, at, judging);
    });
  }
  if (isObject(rules["not"])) judgeComplete(rules["not"], `${path}.not`, schema, at, judging);
}

const structuralOnly = ["additionalProperties", "default", "description", "nullable", "title", "type"];

/** `typed`: a union of integer and string spells both types out in its alternatives. */
function judgeRulesOnly(rules: JsonObject, at: string, typed: boolean, judging: Judging): void {
  const { causes, prefix } = judging;
  for (const name of Object.keys(rules)) {
    if (typed && name === "type") continue;
    if (structuralOnly.includes(name) || name.startsWith(prefix)) {
      causes.push(forbiddenField(`${at}.${name}`, "must be undefined to be structural"));
    }
  }
  judgePattern(rules, at, causes);
  for (const [name, property] of Object.entries((rules["properties"] ?? {}) as JsonObject)) {
    if (isObject(property)) judgeRulesOnly(property, `${at}.properties[${name}]`, false, judging);
  }
  if (isObject(rules["items"])) judgeRulesOnly(rules["items"], `${at}.items`, false, judging);
  for (const junction of ["allOf", "anyOf", "oneOf"]) {
    ((rules[junction] ?? []) as readonly Json[]).forEach((part, index) => {
      if (isObject(part)) judgeRulesOnly(part, `${at}.${junction}[${index}]`, typed, judging);
    });
  }
  if (isObject(rules["not"])) judgeRulesOnly(rules["not"], `${at}.not`, false, judging);
}

/** A default must be what the schema would store. */
function judgeDefault(schema: JsonObject, at: string, { causes, read: reader }: Judging): void {
  const value = schema["default"];
  if (value === undefined) return;
  const read: Schema = { ...reader(schema), default: undefined };
  const shaping = newShaping();
  if (isObject(value)) shapeObject(value, { ...read, embedded: false }, shaping);
  if (shaping.unknown.length > 0) {
    causes.push(invalidValue(`${at}.default`, value, "must not have unknown fields"));
    return;
  }
  for (const { message, reason, field = "" } of validateValue(value, read)) {
    causes.push({ reason, message, field: field === "<nil>" ? `${at}.default` : `${at}.default.${field}` });
  }
}

function judgeRootMetadata(schema: JsonObject, at: string, causes: Cause[]): void {
  const metadata = ((schema["properties"] ?? {}) as JsonObject)["metadata"];
  if (!isObject(metadata)) return;
  const path = `${at}.properties[metadata]`;
  if (metadata["type"] !== "object")
    causes.push(invalidValue(`${path}.type`, metadata["type"] ?? "", "must be object"));
  const others = Object.keys((metadata["properties"] ?? {}) as JsonObject).filter(
    (name) => name !== "name" && name !== "generateName",
  );
  if (others.length === 0) return;
  const text = "must not specify anything other than name and generateName, but metadata is implicitly specified";
  causes.push(forbiddenField(path, text));
}

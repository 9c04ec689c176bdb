/**
 * A custom resource's OpenAPI schema as data: read once from a definition, then driven by pruning, defaulting,
 * validation, managed fields and apply. Extension keys are the dialect's (`x-svc-…`, `x-kubernetes-…`).
 * Source: the published structural schema rules.
 */
import { askedOnce, paced, pacedParts } from "../../expressions/pace.ts";
import { compileRegex } from "../../expressions/library/regex.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { seal } from "../../objects/seal.ts";
import { isObject } from "../../contract/objects.ts";
import { readRule, type ValidationRule } from "./rule.ts";

export interface Schema {
  /** `object`, `array`, `string`, `integer`, `number`, `boolean`; "" when any type will do. */
  readonly type: string;
  readonly format: string;
  readonly nullable: boolean;
  readonly preservesUnknown: boolean;
  readonly intOrString: boolean;
  readonly embedded: boolean;
  readonly properties: ReadonlyMap<string, Schema>;
  /** Values of fields that `properties` does not name; `any` where the schema just says true. */
  readonly additional: Schema | "any" | undefined;
  readonly items: Schema | undefined;
  /** Frozen; undefined when there is none. */
  readonly default: Json | undefined;
  readonly enum: readonly Json[] | undefined;
  readonly required: readonly string[];
  readonly listType: "atomic" | "set" | "map";
  readonly listMapKeys: readonly string[];
  readonly atomicMap: boolean;
  readonly limits: Limits;
  readonly pattern: Pattern | undefined;
  readonly allOf: readonly Schema[];
  readonly anyOf: readonly Schema[];
  readonly oneOf: readonly Schema[];
  readonly not: Schema | undefined;
  readonly rules: readonly ValidationRule[];
  readonly within: Within;
}

/** Whether any of the properties, items and other fields, at any depth, has rules or is an embedded object. */
export interface Within {
  readonly rules: boolean;
  readonly embedded: boolean;
}

/** Undefined where the schema sets none. */
export interface Limits {
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
}

/** Names of the extension keys in one dialect. */
export interface ExtensionNames {
  readonly preserveUnknownFields: string;
  readonly intOrString: string;
  readonly embeddedResource: string;
  readonly listType: string;
  readonly listMapKeys: string;
  readonly mapType: string;
  readonly validations: string;
}

interface Dialected {
  readonly names: ExtensionNames;
  /** Schemas of frozen roots that were read already: a definition is looked at again whenever its status changes. */
  readonly known: WeakMap<JsonObject, Schema>;
}

const byPrefix = new Map<string, Dialected>();

/** There are two prefixes, and a large schema has tens of thousands of nodes that are asked for each of these names. */
function dialected(prefix: string): Dialected {
  let found = byPrefix.get(prefix);
  if (found === undefined) {
    const names: ExtensionNames = {
      preserveUnknownFields: `${prefix}preserve-unknown-fields`,
      intOrString: `${prefix}int-or-string`,
      embeddedResource: `${prefix}embedded-resource`,
      listType: `${prefix}list-type`,
      listMapKeys: `${prefix}list-map-keys`,
      mapType: `${prefix}map-type`,
      validations: `${prefix}validations`,
    };
    byPrefix.set(prefix, (found = { names, known: new WeakMap() }));
  }
  return found;
}

/** `prefix` begins the extension keys. */
export const extensionNames = (prefix: string): ExtensionNames => dialected(prefix).names;

/** A reader that reads no schema twice: whoever judges every node of one would else read all below it again and again. */
export function schemaReader(prefix: string): (raw: JsonObject) => Schema {
  const known = new Map<JsonObject, Schema>();
  const names = extensionNames(prefix);
  const read = (raw: JsonObject): Schema => {
    let schema = known.get(raw);
    if (schema === undefined) known.set(raw, (schema = schemaOf(raw, names, read, schemasOf)));
    return schema;
  };
  return read;
}

/**
 * Reads a schema that validation has accepted; `prefix` begins the extension keys. Within a judgement it is read in parts, and what is
 * stored is then known when it comes into force.
 */
export function readSchema(raw: JsonObject, prefix: string): Schema {
  const { names, known } = dialected(prefix);
  const read = (inner: JsonObject): Schema => schemaOf(inner, names, read, schemasInParts);
  return askedOnce(() => {
    const before = askedOnce(() => known.get(raw));
    if (before !== undefined) return before;
    const schema = read(raw);
    if (Object.isFrozen(raw)) known.set(raw, schema);
    return schema;
  });
}

const noProperties: ReadonlyMap<string, Schema> = new Map();
const nothing: readonly never[] = [];

type Inner = (value: Json | undefined) => Schema | undefined;

function schemaOf(
  raw: JsonObject,
  names: ExtensionNames,
  read: (raw: JsonObject) => Schema,
  readAll: (properties: JsonObject, inner: Inner) => ReadonlyMap<string, Schema>,
): Schema {
  const inner: Inner = (value) => (isObject(value) ? read(value) : undefined);
  const list = (name: string): readonly Schema[] => {
    const parts = raw[name] as readonly Json[] | undefined;
    return parts === undefined ? nothing : parts.flatMap((each) => inner(each) ?? []);
  };
  const pattern = textOf(raw["pattern"]);
  const rules = raw[names.validations] as readonly JsonObject[] | undefined;
  const properties = isObject(raw["properties"]) ? readAll(raw["properties"], inner) : noProperties;
  const additional = raw["additionalProperties"] === true ? "any" : inner(raw["additionalProperties"]);
  const items = inner(raw["items"]);
  return {
    type: textOf(raw["type"]),
    format: textOf(raw["format"]),
    nullable: raw["nullable"] === true,
    preservesUnknown: raw[names.preserveUnknownFields] === true,
    intOrString: raw[names.intOrString] === true,
    embedded: raw[names.embeddedResource] === true,
    properties,
    additional,
    items,
    default: raw["default"] === undefined ? undefined : seal(raw["default"] as Json),
    enum: raw["enum"] as readonly Json[] | undefined,
    required: (raw["required"] as readonly string[] | undefined) ?? nothing,
    listType: (raw[names.listType] as Schema["listType"] | undefined) ?? "atomic",
    listMapKeys: (raw[names.listMapKeys] as readonly string[] | undefined) ?? nothing,
    atomicMap: raw[names.mapType] === "atomic",
    limits: readLimits(raw),
    pattern: pattern === "" ? undefined : patternOf(pattern),
    allOf: list("allOf"),
    anyOf: list("anyOf"),
    oneOf: list("oneOf"),
    not: inner(raw["not"]),
    rules: rules === undefined ? nothing : rules.map(readRule),
    within: withinOf(properties, additional === "any" ? undefined : additional, items),
  };
}

function withinOf(
  properties: ReadonlyMap<string, Schema>,
  additional: Schema | undefined,
  items: Schema | undefined,
): Within {
  let rules = false;
  let embedded = false;
  const look = (schema: Schema): void => {
    rules ||= schema.rules.length > 0 || schema.within.rules;
    embedded ||= schema.embedded || schema.within.embedded;
  };
  for (const property of properties.values()) look(property);
  if (additional !== undefined) look(additional);
  if (items !== undefined) look(items);
  return rules || embedded ? { rules, embedded } : nothingWithin;
}

export const nothingWithin: Within = { rules: false, embedded: false };

const schemasOf = (properties: JsonObject, inner: Inner): ReadonlyMap<string, Schema> =>
  new Map(schemasAmong(Object.entries(properties) as [string, Json][], inner));

/** Not for a reader that remembers: what it had read in one turn of a judgement (`pace.ts`) would be a part less in the next. */
function schemasInParts(properties: JsonObject, inner: Inner): ReadonlyMap<string, Schema> {
  const entries = pacedEntries(properties);
  const read = (from: number, end: number): readonly NamedSchema[] => schemasAmong(entries.slice(from, end), inner);
  const parts = [...pacedParts(entries.length, read, (_, length) => nodeCost * length)];
  return paced(
    () => new Map(parts.flat()),
    ({ size }) => size,
  );
}

type NamedSchema = readonly [name: string, schema: Schema];

const schemasAmong = (entries: readonly (readonly [string, Json])[], inner: Inner): readonly NamedSchema[] =>
  entries.flatMap(([name, value]) => {
    const schema = inner(value);
    return schema === undefined ? [] : [[name, schema] as const];
  });

/** Of many properties, which take as long to be listed as to be judged: listed once, however often a judgement is broken off. */
export function pacedEntries(properties: JsonObject): readonly (readonly [name: string, property: Json])[] {
  return paced(
    () => Object.entries(properties) as [string, Json][],
    ({ length }) => 5 * length,
  );
}

/** Of a property that is read, without what is within it. */
const nodeCost = 6;

function readLimits(raw: JsonObject): Limits {
  if (!limitNames.some((name) => raw[name] !== undefined)) return noLimits;
  // Bounds of 64 bits take part in estimates: what is lost beyond 2^53 bounds nothing.
  const number = (name: string): number | undefined => (raw[name] === undefined ? undefined : Number(raw[name]));
  return {
    minimum: number("minimum"),
    exclusiveMinimum: raw["exclusiveMinimum"] === true,
    maximum: number("maximum"),
    exclusiveMaximum: raw["exclusiveMaximum"] === true,
    multipleOf: number("multipleOf"),
    minLength: number("minLength"),
    maxLength: number("maxLength"),
    minItems: number("minItems"),
    maxItems: number("maxItems"),
    minProperties: number("minProperties"),
    maxProperties: number("maxProperties"),
  };
}

/** Most schemas set none. */
export const noLimits: Limits = {
  minimum: undefined,
  exclusiveMinimum: false,
  maximum: undefined,
  exclusiveMaximum: false,
  multipleOf: undefined,
  minLength: undefined,
  maxLength: undefined,
  minItems: undefined,
  maxItems: undefined,
  minProperties: undefined,
  maxProperties: undefined,
};
const limitNames = Object.keys(noLimits);

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** A pattern in RE2's language, whose time grows with the length of a text alone. */
export interface Pattern {
  /** As written. */
  readonly source: string;
  /** Whether it is found anywhere in a text. */
  test(text: string): boolean;
}

/** Compiled when it is first asked. One that validation is about to refuse, since it is no pattern, is found in every text. */
function patternOf(source: string): Pattern {
  let compiled: Pattern | undefined;
  const everywhere: Pattern = { source, test: () => true };
  return { source, test: (text) => (compiled ??= compilePattern(source) ?? everywhere).test(text) };
}

/** Undefined for what is no pattern. */
export function compilePattern(source: string): Pattern | undefined {
  const compiled = compileRegex(source);
  if (typeof compiled === "string") return undefined;
  return { source, test: (text) => compiled.matcher(text).find() };
}

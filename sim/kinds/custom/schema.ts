/**
 * A custom resource's OpenAPI schema as data: read once from a definition, then driven by pruning, defaulting,
 * validation, managed fields and apply. Extension keys are the dialect's (`x-svc-…`, `x-kubernetes-…`).
 * Source: the published structural schema rules.
 */
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

/** A reader that reads no schema twice: whoever judges every node of one would else read all below it again and again. */
export function schemaReader(prefix: string): (raw: JsonObject) => Schema {
  const known = new Map<JsonObject, Schema>();
  const read = (raw: JsonObject): Schema => {
    let schema = known.get(raw);
    if (schema === undefined) known.set(raw, (schema = schemaOf(raw, prefix, read)));
    return schema;
  };
  return read;
}

/** Reads a schema that validation has accepted; `prefix` begins the extension keys. */
export const readSchema = (raw: JsonObject, prefix: string): Schema =>
  schemaOf(raw, prefix, (inner) => readSchema(inner, prefix));

function schemaOf(raw: JsonObject, prefix: string, read: (raw: JsonObject) => Schema): Schema {
  const inner = (value: Json | undefined): Schema | undefined => (isObject(value) ? read(value) : undefined);
  const list = (name: string): readonly Schema[] =>
    ((raw[name] as readonly Json[] | undefined) ?? []).flatMap((each) => inner(each) ?? []);
  const additional = raw["additionalProperties"];
  const pattern = textOf(raw["pattern"]);
  return {
    type: textOf(raw["type"]),
    format: textOf(raw["format"]),
    nullable: raw["nullable"] === true,
    preservesUnknown: raw[`${prefix}preserve-unknown-fields`] === true,
    intOrString: raw[`${prefix}int-or-string`] === true,
    embedded: raw[`${prefix}embedded-resource`] === true,
    properties: new Map(
      Object.entries((raw["properties"] as JsonObject | undefined) ?? {}).flatMap(([name, value]) => {
        const schema = inner(value);
        return schema === undefined ? [] : [[name, schema] as const];
      }),
    ),
    additional: additional === true ? "any" : inner(additional),
    items: inner(raw["items"]),
    default: raw["default"] === undefined ? undefined : seal(raw["default"] as Json),
    enum: raw["enum"] as readonly Json[] | undefined,
    required: (raw["required"] as readonly string[] | undefined) ?? [],
    listType: (raw[`${prefix}list-type`] as Schema["listType"] | undefined) ?? "atomic",
    listMapKeys: (raw[`${prefix}list-map-keys`] as readonly string[] | undefined) ?? [],
    atomicMap: raw[`${prefix}map-type`] === "atomic",
    limits: readLimits(raw),
    pattern: pattern === "" ? undefined : patternOf(pattern),
    allOf: list("allOf"),
    anyOf: list("anyOf"),
    oneOf: list("oneOf"),
    not: inner(raw["not"]),
    rules: ((raw[`${prefix}validations`] as readonly JsonObject[] | undefined) ?? []).map(readRule),
  };
}

function readLimits(raw: JsonObject): Limits {
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

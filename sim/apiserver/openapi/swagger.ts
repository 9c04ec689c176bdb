/**
 * `/openapi/v2`: every group version in one Swagger 2.0 document. Clients from before OpenAPI 3 cannot create an
 * object without it: they validate by it, and learn from it who knows dry runs.
 * Source: document 1, API documents; the Swagger 2.0 specification.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { groupRows } from "../../../wire/resources.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { mappedValues } from "./mapped-values.ts";
import { forSwagger } from "./custom-schemas.ts";
import { openApiSteps } from "./document.ts";

/** What one document after another has for all of them, by their names; a step for each schema. */
interface Parts {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
}

/** A document, made in steps when its turn comes. */
export type MakeDocument = () => Generator<void, JsonObject>;

/** Paths that are converted in a step. */
const pathsPerStep = 100;

/** Every built-in group version. */
export function* swaggerDocument(dialect: Dialect): Generator<void, JsonObject> {
  const places = [["", "v1"] as const, ...groupRows.flatMap((row) => row.versions.map((v) => [row.group, v] as const))];
  const first = yield* openApiSteps(dialect, "", "v1");
  const made = places.map(
    ([group, version]): MakeDocument =>
      () =>
        openApiSteps(dialect, group, version),
  );
  const { paths, definitions } = yield* partsOf(made, [schemaInSwagger]);
  return { swagger: "2.0", info: first["info"] as JsonObject, paths, definitions };
}

/** The same with documents of custom resources. */
export function* swaggerWith(
  base: JsonObject,
  documents: readonly MakeDocument[],
  { extensionPrefix }: Dialect,
): Generator<void, JsonObject> {
  if (documents.length === 0) return base;
  const converts = [(schema: JsonObject) => forSwagger(schema, extensionPrefix), schemaInSwagger];
  const custom = yield* partsOf(documents, converts);
  const both = (part: keyof Parts): JsonObject => ({ ...custom[part], ...(base[part] as JsonObject) });
  return { ...base, paths: both("paths"), definitions: both("definitions") };
}

function* partsOf(
  documents: readonly MakeDocument[],
  converts: readonly ((schema: JsonObject) => JsonObject)[],
): Generator<void, Parts> {
  const paths = new Map<string, JsonObject>();
  const definitions = new Map<string, JsonObject>();
  for (const make of documents) {
    const document = yield* make();
    let left = pathsPerStep;
    for (const [path, item] of Object.entries(document["paths"] as JsonObject)) {
      if (left-- === 0) {
        left = pathsPerStep;
        yield;
      }
      paths.set(path, pathItem(item as JsonObject));
    }
    yield;
    const { schemas } = document["components"] as JsonObject;
    for (const [name, schema] of Object.entries(schemas as JsonObject)) {
      if (definitions.has(name)) continue;
      let converted = schema as JsonObject;
      for (const convert of converts) {
        converted = convert(converted);
        yield;
      }
      definitions.set(name, converted);
    }
  }
  return { paths: Object.fromEntries(paths), definitions: Object.fromEntries(definitions) };
}

const mapped = (object: Json | undefined, convert: (value: JsonObject) => JsonObject): JsonObject =>
  mappedValues((object ?? {}) as JsonObject, convert);

const toldOtherwise = ["$ref", "allOf", "oneOf", "properties", "items", "additionalProperties", "default"];

/** An OpenAPI 3 schema as Swagger has it: no alternatives, and extensions beside a reference. Itself where that is the same. */
export function schemaInSwagger(schema: JsonObject): JsonObject {
  if (!toldOtherwise.some((name) => schema[name] !== undefined)) return schema;
  const { $ref, allOf, oneOf, properties, items, additionalProperties, default: value, ...rest } = schema;
  const reference = $ref ?? (Array.isArray(allOf) && isObject(allOf[0]) ? allOf[0]["$ref"] : undefined);
  if (typeof reference === "string") {
    return { ...rest, $ref: reference.replace("#/components/schemas/", "#/definitions/") };
  }
  // What is a number or a text is called a text; of other alternatives nothing can be said.
  if (oneOf !== undefined) return rest["format"] === undefined ? rest : { ...rest, type: "string" };
  return {
    ...rest,
    ...(value === undefined ? {} : { default: value }),
    ...(properties === undefined ? {} : { properties: mapped(properties, schemaInSwagger) }),
    ...(items === undefined ? {} : { items: schemaInSwagger(items as JsonObject) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: schemaInSwagger(additionalProperties as JsonObject) }),
  };
}

function pathItem(item: JsonObject): JsonObject {
  const { parameters, ...operations } = item;
  return { ...mapped(operations, operation), parameters: parametersInSwagger(parameters) };
}

function operation({ parameters, requestBody, responses, ...rest }: JsonObject): JsonObject {
  const body = contentOf(requestBody);
  const inBody = body === undefined ? [] : [{ name: "body", in: "body", required: true, schema: body.schema }];
  return {
    ...rest,
    consumes: body?.mediaTypes ?? ["*/*"],
    produces: ["application/json"],
    parameters: [...inBody, ...parametersInSwagger(parameters)],
    responses: mapped(responses, (response) => {
      const schema = contentOf(response)?.schema;
      return { description: response["description"] as Json, ...(schema === undefined ? {} : { schema }) };
    }),
  };
}

/** The schema of a body, whichever of its media types it comes in. */
function contentOf(body: Json | undefined): { readonly schema: JsonObject; readonly mediaTypes: string[] } | undefined {
  const content = isObject(body) ? (body["content"] as JsonObject | undefined) : undefined;
  const first = Object.values(content ?? {})[0];
  if (content === undefined || !isObject(first)) return undefined;
  return { schema: schemaInSwagger(first["schema"] as JsonObject), mediaTypes: Object.keys(content) };
}

function parametersInSwagger(parameters: Json | undefined): JsonObject[] {
  return ((parameters ?? []) as JsonObject[]).map(({ schema, ...rest }) => ({ ...rest, ...(schema as JsonObject) }));
}

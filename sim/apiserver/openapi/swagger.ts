/**
 * `/openapi/v2`: every group version in one Swagger 2.0 document. Clients from before OpenAPI 3 cannot create an
 * object without it: they validate by it, and learn from it who knows dry runs.
 * Source: document 1, API documents; the Swagger 2.0 specification.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { groupRows } from "../../../wire/resources.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { forSwagger } from "./custom-schemas.ts";
import { openApiDocument } from "./document.ts";

/** Every built-in group version. */
export function swaggerDocument(dialect: Dialect): JsonObject {
  const places = [["", "v1"] as const, ...groupRows.flatMap((row) => row.versions.map((v) => [row.group, v] as const))];
  return swaggerOf(places.map(([group, version]) => openApiDocument(dialect, group, version)));
}

/** The same with documents of custom resources. */
export function swaggerWith(
  base: JsonObject,
  documents: readonly JsonObject[],
  { extensionPrefix }: Dialect,
): JsonObject {
  if (documents.length === 0) return base;
  const custom = swaggerOf(documents.map((document) => plainSchemas(document, extensionPrefix)));
  const both = (part: string): JsonObject => ({ ...(custom[part] as JsonObject), ...(base[part] as JsonObject) });
  return { ...base, paths: both("paths"), definitions: both("definitions") };
}

function plainSchemas(document: JsonObject, prefix: string): JsonObject {
  const { schemas } = document["components"] as JsonObject;
  return { ...document, components: { schemas: mapped(schemas, (schema) => forSwagger(schema, prefix)) } };
}

function swaggerOf(documents: readonly JsonObject[]): JsonObject {
  const merged = (part: (document: JsonObject) => Json | undefined): JsonObject =>
    Object.fromEntries(documents.flatMap((document) => Object.entries((part(document) ?? {}) as JsonObject)));
  return {
    swagger: "2.0",
    info: documents[0]?.["info"] as JsonObject,
    paths: mapped(
      merged(({ paths }) => paths),
      pathItem,
    ),
    definitions: mapped(
      merged(({ components }) => (components as JsonObject)["schemas"]),
      schemaInSwagger,
    ),
  };
}

const mapped = (object: Json | undefined, convert: (value: JsonObject) => JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries((object ?? {}) as JsonObject).map(([key, value]) => [key, convert(value as JsonObject)]),
  );

/** An OpenAPI 3 schema as Swagger has it: no alternatives, and extensions beside a reference. */
export function schemaInSwagger(schema: JsonObject): JsonObject {
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

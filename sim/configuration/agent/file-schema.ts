/** The JSON schema of a file of an agent's configuration, for editors: made of the table of fields. */
import type { Dialect } from "../../../wire/dialect.ts";
import { agentFileKind } from "./agent-file.ts";
import { type FieldType, type FileField, fileFields } from "./file-fields.ts";
import { flagRow } from "./flag-parsing.ts";

interface Schema {
  readonly [keyword: string]: unknown;
}

const text: Schema = { type: "string" };
const integer: Schema = { type: "integer" };
const mapOf = (values: Schema): Schema => ({ type: "object", additionalProperties: values });
const listOf = (items: Schema): Schema => ({ type: "array", items });
const record = (properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const schemas: Readonly<Record<FieldType, Schema>> = {
  bool: { type: "boolean" },
  int32: integer,
  int: integer,
  level: integer,
  double: { type: "number" },
  duration: text,
  string: text,
  bytes: { type: ["string", "integer"] },
  ip: text,
  strings: listOf(text),
  gates: mapOf({ type: "boolean" }),
  labels: mapOf(text),
  pairs: mapOf(text),
  thresholds: mapOf(text),
  headers: mapOf(listOf(text)),
  taints: listOf(record({ key: text, value: text, effect: text, timeAdded: text }, ["key", "effect"])),
  reservedMemory: listOf(record({ numaNode: integer, limits: mapOf(text) }, ["numaNode", "limits"])),
  vmodule: listOf(record({ filePattern: text, verbosity: integer }, ["filePattern", "verbosity"])),
  open: {},
};

/** JSON Schema 2020-12. */
export function agentFileSchema(dialect: Dialect): object {
  const { apiVersion, kind } = agentFileKind(dialect);
  const properties: Record<string, unknown> = { apiVersion: { const: apiVersion }, kind: { const: kind } };
  for (const field of fileFields) place(properties, field.field.split("."), fieldSchema(field));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: kind,
    type: "object",
    properties,
    required: ["apiVersion", "kind"],
    additionalProperties: false,
  };
}

function fieldSchema({ type, flag }: FileField): Schema {
  const help = flag === undefined ? undefined : flagRow(flag)?.help;
  return help === undefined ? schemas[type] : { description: help, ...schemas[type] };
}

interface Group {
  readonly properties: Record<string, unknown>;
}

function place(properties: Record<string, unknown>, path: readonly string[], schema: Schema): void {
  let at = properties;
  for (const key of path.slice(0, -1)) {
    at[key] ??= { type: "object", properties: {}, additionalProperties: false };
    at = (at[key] as Group).properties;
  }
  at[path.at(-1) as string] = schema;
}

/**
 * What a schema makes one field of a value, for those who apply it: keys of maps and records, elements of sets and of lists with
 * keys each are one, and what is atomic is one as a whole.
 * Source: the published rules of merging by schema; the observed rules that the requirements of `apply` name.
 */
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import type { Fields } from "./ownership.ts";

export type OwnedNode =
  | { readonly is: "text" }
  | { readonly is: "record"; readonly atomic: boolean; readonly fields: Readonly<Record<string, OwnedNode>> }
  | { readonly is: "map"; readonly atomic: boolean; readonly values: OwnedNode }
  /** One as a whole. */
  | { readonly is: "list" }
  | { readonly is: "set" }
  /** Elements are told apart by these fields of theirs, which each of them has. */
  | { readonly is: "keyed"; readonly keys: readonly string[]; readonly items: OwnedRecord };

export type OwnedRecord = Extract<OwnedNode, { is: "record" }>;

/** In the words of a definition. */
export function ownedSchema(node: OwnedNode, extensionPrefix: string): JsonObject {
  const inner = (each: OwnedNode): JsonObject => ownedSchema(each, extensionPrefix);
  const mapType = (atomic: boolean): JsonObject => (atomic ? { [`${extensionPrefix}map-type`]: "atomic" } : {});
  const list = (items: JsonObject, type: string): JsonObject => ({
    type: "array",
    items,
    [`${extensionPrefix}list-type`]: type,
  });
  switch (node.is) {
    case "text":
      return { type: "string" };
    case "record": {
      const properties = Object.fromEntries(Object.entries(node.fields).map(([name, field]) => [name, inner(field)]));
      return { type: "object", properties, ...mapType(node.atomic) };
    }
    case "map":
      return { type: "object", additionalProperties: inner(node.values), ...mapType(node.atomic) };
    case "list":
      return list({ type: "string" }, "atomic");
    case "set":
      return list({ type: "string" }, "set");
    case "keyed": {
      const items = { ...inner(node.items), required: [...node.keys] };
      return { ...list(items, "map"), [`${extensionPrefix}list-map-keys`]: [...node.keys] };
    }
  }
}

/** The fields of a value, by path. */
export function ownedFields(node: OwnedNode, value: Json | undefined, path: string): Fields {
  const fields = new Map<string, string>();
  note(fields, node, value, path);
  return fields;
}

function note(fields: Map<string, string>, node: OwnedNode, value: Json | undefined, path: string): void {
  if (value === undefined) return;
  const isWhole = node.is === "text" || node.is === "list" || ("atomic" in node && node.atomic);
  if (isWhole) fields.set(path, textOf(value));
  else if (node.is === "set") for (const each of itemsOf(value)) fields.set(`${path}[=${JSON.stringify(each)}]`, "");
  else if (node.is === "keyed") for (const each of itemsOf(value)) noteElement(fields, node, each as JsonObject, path);
  else if (isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const of = node.is === "map" ? node.values : node.is === "record" ? node.fields[name] : undefined;
      if (of === undefined) continue;
      // A key that no schema names is owned, as an element of a list with keys is.
      if (node.is === "map") fields.set(`${path}.${name}`, "");
      note(fields, of, inner as Json, `${path}.${name}`);
    }
  }
}

function noteElement(
  fields: Map<string, string>,
  { keys, items }: Extract<OwnedNode, { is: "keyed" }>,
  element: JsonObject,
  path: string,
): void {
  const place = `${path}[${keys.map((key) => `${key}=${JSON.stringify(element[key])}`).join(",")}]`;
  fields.set(place, ""); // an element is owned, and so are the fields that are its keys
  note(fields, items, element, place);
}

const itemsOf = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** Whatever order the fields are in. */
function textOf(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(textOf).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${textOf(inner as Json)}`);
  return `{${entries.sort().join()}}`;
}

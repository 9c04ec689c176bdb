import type { Dialect } from "../../wire/dialect.ts";
import { apiVersionFromDialect } from "../../wire/dialect.ts";
import { findResourceOfKind, splitGroupVersion } from "../../wire/resources.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { parseYaml } from "../objects/yaml-body.ts";

/**
 * Creates objects in order through the API: YAML documents as the server reads them, or objects; a `List` stands for
 * its items. Fields that the server does not know are refused. Throws at the first that is refused, naming it.
 */
export async function createObjects(
  fetch: typeof globalThis.fetch,
  url: string,
  dialect: Dialect,
  objects: string | readonly JsonObject[],
): Promise<JsonObject[]> {
  const created: JsonObject[] = [];
  const given = typeof objects === "string" ? documentsOf(objects) : objects;
  for (const object of given.flatMap(itemsOf)) {
    const response = await fetch(`${url}${collectionPath(dialect, object)}?fieldValidation=Strict`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(object),
    });
    const answer = (await response.json()) as JsonObject;
    if (response.status !== 201) {
      throw new Error(`${nameOf(object)} was not created: ${response.status} ${String(answer["message"])}`);
    }
    created.push(answer);
  }
  return created;
}

/** The documents of a YAML stream; those without content are none. */
function documentsOf(text: string): JsonObject[] {
  // A document marker at the beginning of a line ends whatever came before it, a block of text too.
  return text.split(/^---(?=\s|$)/m).flatMap((document, index) => {
    const body = parseYaml(document);
    const problem = body.ok ? body.duplicates[0] : body.error;
    if (problem !== undefined) throw new Error(`objects, part ${index + 1} of the YAML: ${problem}`);
    const value = (body as { readonly value: unknown }).value;
    if (value === null) return [];
    if (typeof value !== "object" || Array.isArray(value)) {
      throw new Error(`objects, part ${index + 1} of the YAML is no object: ${JSON.stringify(value)}`);
    }
    return [value as JsonObject];
  });
}

const itemsOf = (object: JsonObject): readonly JsonObject[] =>
  object["kind"] === "List" ? (object["items"] as readonly JsonObject[]) : [object];

function collectionPath(dialect: Dialect, object: JsonObject): string {
  const apiVersion = String(object["apiVersion"]);
  const [group, version] = splitGroupVersion(apiVersionFromDialect(dialect, apiVersion));
  const row = findResourceOfKind(group, version, String(object["kind"]));
  if (row === undefined) throw new Error(`${nameOf(object)}: no served resource has this apiVersion and kind`);
  const prefix = group === "" ? `/api/${version}` : `/apis/${apiVersion}`;
  const namespace = (object["metadata"] as JsonObject | undefined)?.["namespace"] ?? "default";
  return row.namespaced ? `${prefix}/namespaces/${String(namespace)}/${row.resource}` : `${prefix}/${row.resource}`;
}

/** `v1 ConfigMap settings`. */
function nameOf(object: JsonObject): string {
  const { name, generateName } = (object["metadata"] ?? {}) as JsonObject;
  const given = [name, generateName].find((each) => typeof each === "string" && each !== "");
  return `${String(object["apiVersion"])} ${String(object["kind"])} ${given === undefined ? "without a name" : String(given)}`;
}

/** What a target says that it serves, read from its discovery documents. */
import { append } from "../../wire/lists.ts";
import type { Client } from "./client.ts";
import { type JsonObject, objectsIn } from "./types.ts";

/** One resource of one version, or a subresource: then the name has a slash. */
export interface ServedType {
  /** Of the group and version: `/api/v1`, `/apis/batch/v1`. */
  readonly prefix: string;
  readonly groupVersion: string;
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: ReadonlySet<string>;
}

/** Every type of the core group and of the groups below `/apis`. What does not answer as a document has no types. */
export async function servedTypes(client: Client): Promise<readonly ServedType[]> {
  const groups = objectsIn((await client.request("GET", "/apis")).json, "groups");
  const versions = groups.flatMap((group) => objectsIn(group, "versions"));
  const types = await typesOf(client, "/api/v1", "v1");
  for (const { groupVersion } of versions) {
    append(types, await typesOf(client, `/apis/${String(groupVersion)}`, String(groupVersion)));
  }
  return types;
}

/**
 * Whether the target goes on naming a version, or a type in it, that it has named before. Others' definitions may go at any
 * moment, and discovery may be a while behind: what has gone two seconds later is no failure.
 */
export async function goesOnNaming(client: Client, groupVersion: string, name?: string): Promise<boolean> {
  if (groupVersion === "v1") return true;
  for (let tries = 0; ; tries += 1) {
    if (!(await isNamed(client, groupVersion, name))) return false;
    if (tries === lookAgainMax) return true;
    await client.pause(lookAgainMillis);
  }
}

const lookAgainMax = 4;
const lookAgainMillis = 500;

async function isNamed(client: Client, groupVersion: string, name: string | undefined): Promise<boolean> {
  const groups = objectsIn((await client.request("GET", "/apis")).json, "groups");
  const versions = groups.flatMap((group) => objectsIn(group, "versions"));
  if (!versions.some((version) => version["groupVersion"] === groupVersion)) return false;
  if (name === undefined) return true;
  return (await typesOf(client, `/apis/${groupVersion}`, groupVersion)).some((type) => type.name === name);
}

async function typesOf(client: Client, prefix: string, groupVersion: string): Promise<ServedType[]> {
  const resources = objectsIn((await client.request("GET", prefix)).json, "resources");
  return resources.map((resource) => ({ prefix, groupVersion, ...fieldsOf(resource) }));
}

function fieldsOf({ name, kind, namespaced, verbs }: JsonObject): Omit<ServedType, "prefix" | "groupVersion"> {
  return {
    name: String(name),
    kind: String(kind),
    namespaced: namespaced === true,
    verbs: new Set(Array.isArray(verbs) ? verbs.map(String) : []),
  };
}

/** What a target says that it serves, read from its discovery documents. */
import { append } from "../../wire/lists.ts";
import type { Client } from "./client.ts";
import { Inconclusive } from "./findings.ts";
import { type Json, type JsonObject, objectsIn } from "./types.ts";

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

/** Clusters with hundreds of definitions have some hundred versions of groups, and some thousand types. */
const versionsMax = 1000;
const typesMax = 10_000;
const walkMinutesMax = 10;

/**
 * A walk over what a target names: each of its versions and types costs a request or more, and the target decides how many there
 * are and how long it takes to answer. Throws `Inconclusive` beyond the limits.
 */
export class DiscoveryWalk {
  private readonly client: Client;
  private readonly startedMillis: number;
  private typeCount = 0;

  constructor(client: Client) {
    this.client = client;
    this.startedMillis = client.clock.nowMillis();
  }

  /** What the document of `/apis` names, as `batch/v1`. */
  versions(document: Json | undefined): readonly string[] {
    const groups = objectsIn(document, "groups");
    const versions = groups.flatMap((group) => objectsIn(group, "versions"));
    requireFew(versions.length, versionsMax, "versions of groups");
    return versions.map(({ groupVersion }) => String(groupVersion));
  }

  /** What the document of one version names. */
  types(document: Json | undefined): readonly JsonObject[] {
    const resources = objectsIn(document, "resources");
    this.typeCount += resources.length;
    requireFew(this.typeCount, typesMax, "types");
    return resources;
  }

  /** One after the other, as long as there is time. */
  *through<T>(all: readonly T[]): Generator<T, void> {
    for (const [index, each] of all.entries()) {
      if (this.client.clock.nowMillis() - this.startedMillis > walkMinutesMax * 60_000)
        throw new Inconclusive(
          `${walkMinutesMax} minutes were over after ${index} of ${all.length} that discovery names`,
        );
      yield each;
    }
  }
}

function requireFew(count: number, max: number, what: string): void {
  if (count <= max) return;
  const [named, most] = [count, max].map((each) => each.toLocaleString("en"));
  throw new Inconclusive(`discovery names ${named} ${what} or more, and the suite looks at ${most} at most`);
}

/** Every type of the core group and of the groups below `/apis`. What does not answer as a document has no types. */
export async function servedTypes(client: Client, walk = new DiscoveryWalk(client)): Promise<readonly ServedType[]> {
  const versions = walk.versions((await client.request("GET", "/apis")).json);
  const types = await typesOf(client, walk, "/api/v1", "v1");
  for (const version of walk.through(versions)) append(types, await typesOf(client, walk, `/apis/${version}`, version));
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
  const document = (await client.request("GET", `/apis/${groupVersion}`)).json;
  return objectsIn(document, "resources").some((type) => String(type["name"]) === name);
}

async function typesOf(
  client: Client,
  walk: DiscoveryWalk,
  prefix: string,
  groupVersion: string,
): Promise<ServedType[]> {
  const resources = walk.types((await client.request("GET", prefix)).json);
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

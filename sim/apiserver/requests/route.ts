/**
 * From a path and a method to what is asked: a resource with verb, namespace and name, or a path that is no
 * resource. Names in the route are the tables' (`svc`); the URL speaks the profile's dialect.
 * Source: document 1, path shapes; the facts, sections 1 and 2; recorded 404 and 405 forms.
 */
import { type Dialect, groupFromDialect, groupInDialect } from "../../../wire/dialect.ts";
import {
  findResource,
  groupRows,
  type ResourceRow,
  resourcesOf,
  type SubresourceRow,
} from "../../../wire/resources.ts";
import type { CustomResources } from "../catalogue/custom-resources.ts";
import { methodNotAllowed, noSuchResource, type ResourceName } from "../../contract/errors.ts";
import { parsePath } from "./url.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection" | "options";

/** What a path names; independent of the method. */
export type Place =
  | { readonly is: "resource"; readonly place: ResourcePlace }
  /** A path inside a served group and version that names no resource: a 404 as a Status. */
  | { readonly is: "noResource" }
  /** A custom resource without the subresource that was asked for. */
  | { readonly is: "noSubresource"; readonly resourceName: ResourceName; readonly name: string }
  /** Discovery of `/api/v1` (group "") or `/apis/g/v`. */
  | { readonly is: "version"; readonly group: string; readonly version: string }
  /** Discovery of `/apis/g`. */
  | { readonly is: "group"; readonly group: string }
  /** Everything else, as decoded segments: health, version, or nobody's. */
  | { readonly is: "other"; readonly segments: readonly string[] };

export interface ResourcePlace {
  readonly row: ResourceRow;
  readonly subresource: SubresourceRow | undefined;
  /** Empty for cluster-scoped resources and for lists over all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** The deprecated `/watch/` prefix. */
  readonly watchPrefix: boolean;
  /** As errors name the resource: the dialect's group and the plural. */
  readonly resourceName: ResourceName;
  /** Storage key of the object, kept here by the first read of it: its hash is worth keeping, too. */
  key: string | undefined;
}

/** Resolves paths for one dialect and remembers recent ones: clients ask for the same few thousand over and over. */
export class Router {
  private readonly dialect: Dialect;
  private readonly custom: CustomResources;
  private recent = new Map<string, Place>();
  /** The ones before: those of them that are asked for again stay. */
  private older = new Map<string, Place>();
  /** Of the custom resources that the remembered places were found among. */
  private generation = 0;

  constructor(dialect: Dialect, custom: CustomResources) {
    this.dialect = dialect;
    this.custom = custom;
  }

  /** Throws 400 for malformed percent-encoding. */
  resolve(path: string): Place {
    if (this.generation !== this.custom.generation) {
      this.generation = this.custom.generation;
      this.recent.clear();
      this.older.clear();
    }
    const known = this.recent.get(path);
    if (known !== undefined) return known;
    const place = this.older.get(path) ?? resolve(this.dialect, this.custom, parsePath(path));
    if (this.recent.size >= rememberedPathsMax) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(path, place);
    return place;
  }
}

/** Twice as many are kept: what a few thousand nodes ask for every ten seconds has its place. */
const rememberedPathsMax = 16_384;

function resolve(dialect: Dialect, custom: CustomResources, segments: readonly string[]): Place {
  const isCore = segments[0] === "api";
  if (!isCore && segments[0] !== "apis") return { is: "other", segments };
  const group = isCore ? "" : groupFromDialect(dialect, segments[1] ?? "");
  const version = segments[isCore ? 1 : 2];
  // A client must use the dialect's spelling: `events.svc.io` is nobody on a server that says `events.k8s.io`.
  const spelled = isCore || groupInDialect(dialect, group) === segments[1];
  if (version === undefined) {
    return isCore || segments.length < 2 || !spelled ? { is: "other", segments } : { is: "group", group };
  }
  const isBuiltIn = resourcesOf(group, version).length > 0;
  // Below a built-in group every path is the server's own: a version that it does not have is a 404 as a Status, too.
  const isGroups = isCore || builtInGroups.has(group);
  if (spelled && isGroups && !isBuiltIn && !(version === "" && segments.length === (isCore ? 2 : 3))) {
    return { is: "noResource" };
  }
  if (!spelled || !(isBuiltIn || custom.serves(group, version))) return { is: "other", segments };
  const rest = segments.slice(isCore ? 2 : 3);
  if (rest.length === 0) return { is: "version", group, version };
  const place = resolveResource(dialect, custom, group, version, rest);
  if (place !== undefined) return "is" in place ? place : { is: "resource", place };
  return isBuiltIn ? { is: "noResource" } : { is: "other", segments };
}

const builtInGroups: ReadonlySet<string> = new Set(groupRows.map(({ group }) => group));

/** Subresources of a namespace; any other third segment is a resource type inside it. */
const namespaceSubresources = new Set(["status", "finalize"]);

function resolveResource(
  dialect: Dialect,
  custom: CustomResources,
  group: string,
  version: string,
  segments: readonly string[],
): ResourcePlace | Extract<Place, { readonly is: "noSubresource" }> | undefined {
  let parts = segments;
  const watchPrefix = parts[0] === "watch" && parts.length > 1;
  if (watchPrefix) parts = parts.slice(1);
  if (group === "") parts = withoutProxied(parts);
  if (parts.includes("")) return undefined;
  let namespace = "";
  if (parts[0] === "namespaces" && parts.length > 2 && !namespaceSubresources.has(parts[2] as string)) {
    namespace = parts[1] as string;
    parts = parts.slice(2);
  }
  const [resource, name = "", subresourceName, ...deeper] = parts;
  const row = findResource(group, version, resource as string) ?? custom.find(group, version, resource as string)?.row;
  if (row === undefined || deeper.length > 0) return undefined;
  if (!row.namespaced && namespace !== "") return undefined;
  if (row.namespaced && namespace === "" && name !== "") return undefined;
  const subresource = row.subresources.find((each) => each.subresource === subresourceName);
  const dialectGroup = groupInDialect(dialect, group);
  const resourceName = { group: dialectGroup, resource: row.resource };
  if (subresourceName !== undefined && subresource === undefined) {
    return row.custom ? { is: "noSubresource", resourceName, name } : undefined;
  }
  return {
    row,
    subresource,
    namespace,
    name,
    watchPrefix,
    resourceName,
    key: undefined,
  };
}

/** What follows `proxy` is not for this server. */
function withoutProxied(parts: readonly string[]): readonly string[] {
  const at = parts[0] === "namespaces" ? 4 : 2;
  return parts[at] === "proxy" ? parts.slice(0, at + 1) : parts;
}

const collectionVerbs: Readonly<Record<string, Verb>> = { GET: "list", POST: "create", DELETE: "deletecollection" };
const itemVerbs: Readonly<Record<string, Verb>> = { GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };
const subresourceVerbs: Readonly<Record<string, Verb>> = { ...itemVerbs, POST: "create" };
const proxyVerbs: Readonly<Record<string, Verb>> = { ...subresourceVerbs, HEAD: "get", OPTIONS: "options" };

/** The verb that authorization sees, before anybody asks whether the resource has it; the empty string when none fits. */
export function verbOf(place: ResourcePlace, method: string, watch: boolean): Verb | "" {
  if (place.watchPrefix) return method === "GET" ? "watch" : "";
  if (place.subresource !== undefined) return verbsOf(place.subresource)[method] ?? "";
  if (place.name !== "") return itemVerbs[method] ?? "";
  const verb = collectionVerbs[method] ?? "";
  return verb === "list" && watch ? "watch" : verb;
}

const verbsOf = ({ subresource }: SubresourceRow): typeof proxyVerbs =>
  subresource === "proxy" ? proxyVerbs : subresourceVerbs;

/** Throws 405 when the resource does not have the verb at this place, 404 when there is no such place. */
export function requireVerb(place: ResourcePlace, verb: Verb | ""): asserts verb is Verb {
  const { row, subresource } = place;
  if (verb === "") throw methodNotAllowed();
  if (row.namespaced && place.namespace === "" && verb !== "list" && verb !== "watch") {
    // Collections over all namespaces can only be read. A virtual type has no such collection at all.
    throw row.verbs.includes("list") ? methodNotAllowed() : noSuchResource();
  }
  const verbs = subresource?.verbs ?? row.verbs;
  if (verb === "watch" && !verbs.includes("watch") && verbs.includes("list")) return; // the caller decides: see startWatch
  // No table lists this one: only what is handed on has it.
  if (!verbs.includes(verb) && verb !== "options") throw methodNotAllowed();
}

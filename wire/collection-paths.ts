/** Paths of collections that the server serves by itself, as a person writes them: what is wrong with one, and what was probably meant. */
import { apiVersionFromDialect, apiVersionInDialect, type Dialect } from "./dialect.ts";
import { didYouMean } from "./near-names.ts";
import resourceTable from "./tables/resources.json" with { type: "json" };

const table = new Map<string, { readonly namespaced: boolean; readonly verbs: readonly string[] }>(
  Object.entries(resourceTable),
);

export type CollectionVerb = "list" | "watch" | "patch";

/**
 * Why objects of this path cannot be had with this verb; undefined when they can. Groups in `ownGroups`, which objects of the user
 * define, are not looked into.
 */
export function collectionProblem(
  path: string,
  verb: CollectionVerb,
  dialect: Dialect,
  ownGroups: readonly string[],
): string | undefined {
  const found = /^\/(?:api|apis\/([^/]+))\/([^/]+)(\/namespaces\/[^/]+)?\/([^/]+)$/.exec(path);
  if (found === null)
    return "expected the path of a collection such as /api/v1/pods, and not that of one object or of a part of one";
  const [, group, version = "", within, resource = ""] = found;
  if (group !== undefined && ownGroups.includes(group)) return undefined;
  const apiVersion = group === undefined ? version : `${group}/${version}`;
  const translated = apiVersionFromDialect(dialect, apiVersion);
  // Spelt as another dialect spells it: this one has nothing there.
  const inTable = apiVersionInDialect(dialect, translated) === apiVersion ? translated : "";
  const row = table.get(`${inTable}/${resource}`);
  if (row === undefined) {
    const there = resourcesOf(inTable);
    const root = rootOf(apiVersion);
    return there.length > 0
      ? `the server serves no ${resource} under ${root}${didYouMean(resource, there)}`
      : `the server serves nothing under ${root}${didYouMean(root, rootsIn(dialect))}`;
  }
  if (within !== undefined && !row.namespaced)
    return `${resource} are in no namespace: write ${rootOf(apiVersion)}/${resource}`;
  return row.verbs.includes(verb) ? undefined : `the server lets nobody ${verb} ${resource}`;
}

const rootOf = (apiVersion: string): string => `${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`;

/** Of the keys of the table, `group/version/resource[/subresource]`, where the core group has no name. */
function resourcesOf(apiVersion: string): readonly string[] {
  const names = [...table.keys()].filter((key) => key.startsWith(`${apiVersion}/`));
  return names.map((key) => key.slice(apiVersion.length + 1)).filter((name) => !name.includes("/"));
}

const rootsIn = (dialect: Dialect): readonly string[] => [
  ...new Set([...table.keys()].map((key) => rootOf(apiVersionInDialect(dialect, apiVersionOf(key))))),
];

const apiVersionOf = (key: string): string => /^(?:[^/]+\/)?v\d[^/]*(?=\/)/.exec(key)?.[0] ?? key;

/**
 * What is served, as two documents say it: the list of one group and version, and discovery of everything at once. They are
 * two answers about one thing. Source: the published forms of both.
 */
import type { Violation } from "../client/findings.ts";
import { isJsonObject, type Json, type JsonObject, objectsIn } from "../client/types.ts";

/** One type of a version, or a subresource, in a form that both documents come to. By its name: `pods`, `pods/status`. */
type Served = ReadonlyMap<string, string>;

const listIn = (object: JsonObject, field: string): string =>
  (Array.isArray(object[field]) ? (object[field] as readonly Json[]) : []).map(String).sort().join(" ");

const textIn = (object: JsonObject | Json | undefined, field: string): string =>
  isJsonObject(object) ? String(object[field] ?? "") : "";

const shown = (kind: string, isNamespaced: boolean, verbs: string, more: readonly string[]): string =>
  [kind, isNamespaced ? "Namespaced" : "Cluster", verbs, ...more].join("; ");

/** Of the list of one version. */
export function servedByList(document: Json | undefined): Served {
  const entries = objectsIn(document, "resources").map((type): [string, string] => {
    const name = textIn(type, "name");
    const more = name.includes("/")
      ? []
      : [textIn(type, "singularName"), listIn(type, "shortNames"), listIn(type, "categories")];
    return [name, shown(textIn(type, "kind"), type["namespaced"] === true, listIn(type, "verbs"), more)];
  });
  return new Map(entries);
}

/** Of one version in discovery of everything at once. */
export function servedByAggregate(version: JsonObject): Served {
  const served = new Map<string, string>();
  for (const type of objectsIn(version, "resources")) {
    const name = textIn(type, "resource");
    const isNamespaced = type["scope"] === "Namespaced";
    const verbs = listIn(type, "verbs");
    const more = [textIn(type, "singularResource"), listIn(type, "shortNames"), listIn(type, "categories")];
    // What has no verbs stands there for the sake of its subresources.
    if (verbs !== "") served.set(name, shown(textIn(type["responseKind"], "kind"), isNamespaced, verbs, more));
    for (const inner of objectsIn(type, "subresources")) {
      const kind = textIn(inner["responseKind"], "kind");
      served.set(`${name}/${textIn(inner, "subresource")}`, shown(kind, isNamespaced, listIn(inner, "verbs"), []));
    }
  }
  return served;
}

/** Versions in discovery of everything at once, by `batch/v1`: those of other servers that are away may be told as they were. */
export function currentVersions(document: Json | undefined): ReadonlyMap<string, JsonObject> {
  const versions = objectsIn(document, "items").flatMap((group) =>
    objectsIn(group, "versions").map((version): [string, JsonObject] => {
      const name = textIn(group["metadata"], "name");
      return [name === "" ? textIn(version, "version") : `${name}/${textIn(version, "version")}`, version];
    }),
  );
  return new Map(versions.filter(([, { freshness }]) => freshness === undefined || freshness === "Current"));
}

export function judgeSameServed(groupVersion: string, list: Served, aggregate: Served): Violation | undefined {
  const names = [...new Set([...list.keys(), ...aggregate.keys()])].sort();
  const name = names.find((each) => list.get(each) !== aggregate.get(each));
  if (name === undefined) return undefined;
  const said = (by: Served): string => `${name} of ${groupVersion}: ${by.get(name) ?? "not named"}`;
  return {
    expected: `${said(list)}, as its list says`,
    actual: `${said(aggregate)}, in discovery of everything at once`,
  };
}

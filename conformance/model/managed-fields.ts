/** Who owns what, as `metadata.managedFields` says it. */
import { type ApiObject, isJsonObject, type JsonObject, objectsIn } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";

/** Paths by owner. An owner is `manager operation`, and `manager operation subresource` where there is one. */
export type Owners = ReadonlyMap<string, ReadonlySet<string>>;

export function ownerName(manager: string, operation: "Apply" | "Update", subresource = ""): string {
  return [manager, operation, subresource].filter((word) => word !== "").join(" ");
}

/** The owners of an object's fields, of those alone whose path begins with one of `prefixes`. Without those who own none. */
export function ownersOf(object: ApiObject, prefixes: readonly string[]): Owners {
  const owners = new Map<string, ReadonlySet<string>>();
  for (const entry of entriesOf(object)) {
    const tree = entry["fieldsV1"];
    if (!isJsonObject(tree)) continue;
    const paths = [...pathsIn(tree)].filter((path) => prefixes.some((prefix) => path.startsWith(prefix)));
    if (paths.length === 0) continue;
    const operation = entry["operation"] === "Apply" ? "Apply" : "Update";
    const owner = ownerName(String(entry["manager"]), operation, String(entry["subresource"] ?? ""));
    owners.set(owner, new Set([...(owners.get(owner) ?? []), ...paths]));
  }
  return owners;
}

export function entriesOf(object: ApiObject): JsonObject[] {
  return objectsIn(object.metadata, "managedFields");
}

/**
 * The paths in a `fieldsV1` tree, as conflicts write them: `.spec.replicas`, `.containers[name="c"]`, `.finalizers[="a"]`.
 * A node is owned itself when it has no children, or the child `.`.
 */
export function pathsIn(tree: JsonObject, path = ""): Set<string> {
  const paths = new Set<string>();
  const children = Object.entries(tree);
  if (path !== "" && (children.length === 0 || "." in tree)) paths.add(path);
  for (const [key, child] of children) {
    if (key === "." || !isJsonObject(child)) continue;
    for (const below of pathsIn(child, path + stepOf(key))) paths.add(below);
  }
  return paths;
}

function stepOf(key: string): string {
  const rest = key.slice(2);
  if (key.startsWith("f:")) return `.${rest}`;
  if (key.startsWith("v:")) return `[=${rest}]`;
  if (key.startsWith("i:")) return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
}

export function judgeOwners(expected: Owners, actual: Owners): Violation | undefined {
  const known = [expected, actual].map(textOf);
  return known[0] === known[1] ? undefined : { expected: known[0] as string, actual: known[1] as string };
}

function textOf(owners: Owners): string {
  const lines = [...owners]
    .filter(([, paths]) => paths.size > 0)
    .map(([owner, paths]) => `${owner}: ${[...paths].sort().join(" ")}`);
  return lines.length === 0 ? "nobody owns any of it" : lines.sort().join("; ");
}

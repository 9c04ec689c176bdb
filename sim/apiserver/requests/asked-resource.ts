/**
 * What authorization is asked about a path below a group and version, whether or not anybody serves it: who may not do it must
 * not learn what is there. Source: the published reading of requests (request info), which knows no types.
 */
import type { Attributes } from "../access/authorize.ts";
import { parsePath } from "./url.ts";

const verbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const namespaceSubresources = new Set(["status", "finalize"]);

/** Undefined for paths that are about no resource: discovery, health and whatever is not below `/api` and `/apis`. Throws 400 for one that cannot be read. */
export function askedResource(method: string, path: string, watch: boolean): Attributes | undefined {
  const [root, ...segments] = parsePath(path);
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "api" ? "" : (segments.shift() ?? "");
  const version = segments.shift();
  if (version === undefined || segments.length === 0) return undefined;
  const watchPrefix = segments[0] === "watch" && segments.length > 1;
  if (watchPrefix) segments.shift();
  let namespace = "";
  if (segments[0] === "namespaces" && segments.length > 1) {
    namespace = segments[1] as string;
    if (segments.length > 2 && !namespaceSubresources.has(segments[2] as string)) segments.splice(0, 2);
  }
  const [resource = "", name = "", subresource = ""] = segments;
  const verb = verbs[method] ?? "";
  return {
    is: "resource",
    verb: watchPrefix ? "watch" : name === "" ? ofCollection(verb, watch) : verb,
    resource: { group, resource },
    version,
    subresource,
    namespace,
    name,
  };
}

function ofCollection(verb: string, watch: boolean): string {
  if (verb === "get") return watch ? "watch" : "list";
  return verb === "delete" ? "deletecollection" : verb;
}

import type { Json, JsonObject } from "../client/types.ts";

/**
 * A PodTemplate as a client sends it. Nobody acts on one, and it has fields of every sort: maps, lists with keys,
 * lists that are replaced whole. Its one container is called `main` unless `spec` has containers.
 */
export function podTemplate(
  name: string,
  parts: { readonly metadata?: JsonObject; readonly main?: JsonObject; readonly spec?: JsonObject } = {},
): JsonObject {
  const containers: Json = [{ name: "main", image: "example.com/main:1", ...parts.main }];
  return {
    apiVersion: "v1",
    kind: "PodTemplate",
    metadata: { ...parts.metadata, name },
    template: { metadata: { labels: { app: "a" } }, spec: { containers, ...parts.spec } },
  };
}

/** Where the fields of `main` and of the pod are, in a PodTemplate. */
export const mainPath = ["template", "spec", "containers", 0] as const;
export const specPath = ["template", "spec"] as const;

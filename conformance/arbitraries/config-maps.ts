import fc from "fast-check";
import type { JsonObject } from "../client/types.ts";

/**
 * Names that clash on purpose: prefixes of one another, and with characters that sort before and after `/`, letters
 * and digits. Few, so that programs meet on the same objects.
 */
export const clashingNames = ["a", "a-0", "a.b", "a0", "aa", "ab", "b"] as const;
export const anyName = fc.constantFrom(...clashingNames);

/** The label that selectors look at. */
const teams = ["red", "blue", "none"] as const;
export type Team = (typeof teams)[number];
export const anyTeam = fc.constantFrom<Team>(...teams);

export interface ConfigMapParts {
  readonly team?: Team;
  readonly labels?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly resourceVersion?: string | undefined;
  readonly uid?: string | undefined;
}

/** A ConfigMap as a client sends it. */
export function configMap(name: string, parts: ConfigMapParts = {}): JsonObject {
  const labels = {
    ...parts.labels,
    ...(parts.team === undefined || parts.team === "none" ? {} : { team: parts.team }),
  };
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name,
      labels,
      ...(parts.finalizers === undefined ? {} : { finalizers: parts.finalizers }),
      ...(parts.resourceVersion === undefined ? {} : { resourceVersion: parts.resourceVersion }),
      ...(parts.uid === undefined ? {} : { uid: parts.uid }),
    },
    data: { ...parts.data },
  };
}

/** A CustomResourceDefinition as the rest of this folder reads it. */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";

export interface Names {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** "" when there is none. */
  readonly labelSelectorPath: string;
}

export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  /** Undefined: the server words the warning. */
  readonly deprecationWarning: string | undefined;
  /** As written, in the dialect. */
  readonly schema: JsonObject | undefined;
  readonly columns: readonly Column[];
  readonly status: boolean;
  readonly scale: ScalePaths | undefined;
  /** JSON paths that field selectors may name. */
  readonly selectable: readonly string[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface Definition {
  readonly name: string;
  readonly uid: string;
  /** In the dialect. */
  readonly group: string;
  readonly namespaced: boolean;
  /** As asked for. */
  readonly names: Names;
  /** As granted. */
  readonly acceptedNames: Names;
  readonly versions: readonly DefinedVersion[];
  /** That by which instances are stored; undefined where none is. */
  readonly storage: DefinedVersion | undefined;
  readonly conditions: readonly Condition[];
  /** Types of the conditions that are true. */
  readonly met: ReadonlySet<string>;
  readonly deleting: boolean;
}

export function readDefinition(object: JsonObject): Definition {
  const { name = "", uid = "", deletionTimestamp } = metadataOf(object);
  const spec = fieldsOf(object["spec"]);
  const status = fieldsOf(object["status"]);
  const versions = listOf(spec["versions"]).map(readVersion);
  const conditions = listOf(status["conditions"]) as unknown as readonly Condition[];
  return {
    name,
    uid,
    group: text(spec["group"]),
    namespaced: spec["scope"] === "Namespaced",
    names: readNames(spec["names"]),
    acceptedNames: readNames(status["acceptedNames"]),
    versions,
    storage: versions.find((version) => version.storage),
    conditions,
    met: new Set(conditions.flatMap((condition) => (condition.status === "True" ? [condition.type] : []))),
    deleting: deletionTimestamp !== undefined,
  };
}

function readNames(names: Json | undefined): Names {
  const fields = fieldsOf(names);
  return {
    plural: text(fields["plural"]),
    singular: text(fields["singular"]),
    kind: text(fields["kind"]),
    listKind: text(fields["listKind"]),
    shortNames: (fields["shortNames"] ?? []) as readonly string[],
    categories: (fields["categories"] ?? []) as readonly string[],
  };
}

function readVersion(version: JsonObject): DefinedVersion {
  const subresources = fieldsOf(version["subresources"]);
  return {
    name: text(version["name"]),
    served: version["served"] === true,
    storage: version["storage"] === true,
    deprecated: version["deprecated"] === true,
    deprecationWarning: version["deprecationWarning"] as string | undefined,
    schema: fieldsOf(version["schema"])["openAPIV3Schema"] as JsonObject | undefined,
    columns: listOf(version["additionalPrinterColumns"]).map((column) => ({
      name: text(column["name"]),
      type: text(column["type"]),
      format: text(column["format"]),
      description: text(column["description"]),
      priority: (column["priority"] as number | undefined) ?? 0,
      jsonPath: text(column["jsonPath"]),
    })),
    status: isObject(subresources["status"]),
    scale: isObject(subresources["scale"]) ? readScale(subresources["scale"]) : undefined,
    selectable: listOf(version["selectableFields"]).map((field) => text(field["jsonPath"])),
  };
}

function readScale(scale: JsonObject): ScalePaths {
  return {
    specReplicasPath: text(scale["specReplicasPath"]),
    statusReplicasPath: text(scale["statusReplicasPath"]),
    labelSelectorPath: text(scale["labelSelectorPath"]),
  };
}

const nothing: JsonObject = {};
const fieldsOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : nothing);
const listOf = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value : []) as never;
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

export function isTrue(definition: Definition, type: string): boolean {
  return definition.met.has(type);
}

/** Versions, the most preferred first: stable before beta before alpha, higher before lower, all others by name. */
export function compareVersions(left: string, right: string): number {
  const a = rankOf(left);
  const b = rankOf(right);
  if (a === undefined || b === undefined) {
    if (a === b) return left < right ? -1 : left > right ? 1 : 0;
    return a === undefined ? 1 : -1;
  }
  return b.stage - a.stage || b.major - a.major || b.minor - a.minor;
}

const stages: Readonly<Record<string, number>> = { "": 2, beta: 1, alpha: 0 };

function rankOf(
  version: string,
): { readonly stage: number; readonly major: number; readonly minor: number } | undefined {
  const [, major, stage = "", minor] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  return { stage: stages[stage] as number, major: Number(major), minor: Number(minor ?? 0) };
}

/**
 * Every built-in resource as data, in the `svc` dialect: names, scope, verbs and the type behind it.
 * What a resource does (who may create by PUT, what it prints) is not here.
 * Source: document 1, path shapes; the recorded discovery answers of a 1.33 server, whose order of groups and
 * versions and whose storage version hashes are repeated below.
 */

import { structOfKind, type TypeRow } from "./schema.ts";
import resourceTable from "./tables/resources.json" with { type: "json" };

export interface SubresourceRow {
  /** The last path segment: `status`, `scale`, `eviction`. */
  readonly subresource: string;
  /** Group and version of the subresource's own kind: the parent's unless it is a Scale, an Eviction or a TokenRequest. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** True when discovery must name group and version, because they are not the parent's. */
  readonly foreign: boolean;
  readonly verbs: readonly string[];
  /** Undefined for kinds that are only query options (`PodExecOptions`). */
  readonly type: TypeRow | undefined;
}

export interface ResourceRow {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** `v1`, or `group/version`. */
  readonly groupVersion: string;
  /** The plural in the path. */
  readonly resource: string;
  readonly kind: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  /** As discovery lists them: sorted. Empty is impossible. */
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly type: TypeRow | undefined;
  readonly subresources: readonly SubresourceRow[];
  /** Made at run time from a definition. */
  readonly custom?: true;
  /** As recorded; undefined where no recording shows it, and for virtual types, which store nothing. */
  /** Of custom resources: built-in types have it from what they are stored as. */
  readonly storageVersionHash: string | undefined;
}

export interface GroupRow {
  readonly group: string;
  /** Most preferred first. */
  readonly versions: readonly string[];
  readonly preferredVersion: string;
}

/**
 * The order in which a 1.33 server lists its groups, each with its versions, the preferred first. It also serves
 * groups and versions that the tables lack; those are left out of `groupRows`, for nothing could be served under them.
 */
const discoveryOrder: readonly (readonly [group: string, ...versions: string[]])[] = [
  ["apiregistration.svc.io", "v1"],
  ["apps", "v1"],
  ["events.svc.io", "v1"],
  ["authentication.svc.io", "v1"],
  ["authorization.svc.io", "v1"],
  ["autoscaling", "v2", "v1"],
  ["batch", "v1"],
  ["certificates.svc.io", "v1"],
  ["networking.svc.io", "v1"],
  ["policy", "v1"],
  ["rbac.authorization.svc.io", "v1"],
  ["storage.svc.io", "v1"],
  ["admissionregistration.svc.io", "v1"],
  ["apiextensions.svc.io", "v1"],
  ["scheduling.svc.io", "v1"],
  ["coordination.svc.io", "v1"],
  ["node.svc.io", "v1"],
  ["discovery.svc.io", "v1"],
  ["flowcontrol.apiserver.svc.io", "v1"],
];

interface RawResource {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly singularName?: string;
  readonly group?: string;
  readonly version?: string;
}

/** Every resource, in table order: by group version, then by plural. */
export const resourceRows: readonly ResourceRow[] = readTable(resourceTable as Readonly<Record<string, RawResource>>);

const byGroup = index(resourceRows);

/** The named groups that the tables serve, in discovery order. The core group is not among them: it is under `/api`. */
export const groupRows: readonly GroupRow[] = discoveryOrder.flatMap(([group, ...listed]) => {
  const versions = listed.filter((version) => byGroup.get(group)?.has(version) === true);
  const preferredVersion = versions[0];
  return preferredVersion === undefined ? [] : [{ group, versions, preferredVersion }];
});

/** One resource by the parts of its path (svc dialect, "" for the core group); undefined when there is none. */
export function findResource(group: string, version: string, resource: string): ResourceRow | undefined {
  return byGroup.get(group)?.get(version)?.get(resource);
}

/** One resource by kind; the first in table order, should several share it. */
export function findResourceOfKind(group: string, version: string, kind: string): ResourceRow | undefined {
  for (const row of resourcesOf(group, version)) if (row.kind === kind) return row;
  return undefined;
}

/** The resources of one group version in discovery order; empty when it is not served. */
export function resourcesOf(group: string, version: string): readonly ResourceRow[] {
  return [...(byGroup.get(group)?.get(version)?.values() ?? [])];
}

/** `v1` → `["", "v1"]`, `apps/v1` → `["apps", "v1"]`. */
export function splitGroupVersion(groupVersion: string): readonly [group: string, version: string] {
  const slash = groupVersion.lastIndexOf("/");
  return [slash < 0 ? "" : groupVersion.slice(0, slash), groupVersion.slice(slash + 1)];
}

/** The inverse: the core group has no slash. */
export function joinGroupVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

function readTable(table: Readonly<Record<string, RawResource>>): readonly ResourceRow[] {
  const rows = new Map<string, ResourceRow & { readonly subresources: SubresourceRow[] }>();
  for (const [path, raw] of Object.entries(table)) {
    const [, groupVersion, resource, subresource] = /^((?:[^/]+\/)?v[^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    if (groupVersion === undefined || resource === undefined) throw new Error(`resource table: bad key ${path}`);
    const [group, version] = splitGroupVersion(groupVersion);
    if (subresource === undefined) {
      rows.set(path, {
        group,
        version,
        groupVersion,
        resource,
        kind: raw.kind,
        singularName: raw.singularName ?? "",
        namespaced: raw.namespaced,
        verbs: raw.verbs,
        shortNames: raw.shortNames ?? [],
        categories: raw.categories ?? [],
        type: structOfKind(groupVersion, raw.kind),
        subresources: [],
        storageVersionHash: undefined,
      });
      continue;
    }
    const parent = rows.get(`${groupVersion}/${resource}`); // a parent stands before its subresources
    if (parent === undefined) throw new Error(`resource table: ${path} has no parent before it`);
    const own = { group: raw.group ?? group, version: raw.version ?? version };
    parent.subresources.push({
      subresource,
      ...own,
      kind: raw.kind,
      foreign: raw.group !== undefined,
      verbs: raw.verbs,
      type: structOfKind(joinGroupVersion(own.group, own.version), raw.kind),
    });
  }
  return [...rows.values()];
}

function index(rows: readonly ResourceRow[]): Map<string, Map<string, Map<string, ResourceRow>>> {
  const groups = new Map<string, Map<string, Map<string, ResourceRow>>>();
  for (const row of rows) {
    const versions = groups.get(row.group) ?? new Map<string, Map<string, ResourceRow>>();
    const resources = versions.get(row.version) ?? new Map<string, ResourceRow>();
    groups.set(row.group, versions.set(row.version, resources.set(row.resource, row)));
  }
  return groups;
}

/**
 * What the server says about itself: groups, versions and resources, plain and aggregated. Built from the resource table in
 * the profile's dialect, once for all servers, but for what definitions add.
 * Source: the facts, section 5; recorded discovery answers.
 */
import { apiVersionInDialect, type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import {
  type GroupRow,
  groupRows,
  joinGroupVersion,
  type ResourceRow,
  resourcesOf,
  type SubresourceRow,
} from "../../../wire/resources.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { storageVersionHash } from "../../kinds/custom/storage-version-hash.ts";
import type { Profile } from "../../contract/profile.ts";

export interface DiscoveryDocuments {
  /** `/api`. */
  readonly coreVersions: JsonObject;
  /** `/apis`. */
  readonly groups: JsonObject;
  /** `/apis/g`, by svc group name. */
  readonly group: ReadonlyMap<string, JsonObject>;
  /** `/api/v1` and `/apis/g/v`, by svc group version. */
  readonly resources: ReadonlyMap<string, JsonObject>;
  /** `/api` and `/apis` for a client that asks for everything at once. */
  readonly aggregatedCore: JsonObject;
  readonly aggregated: JsonObject;
}

/** The groups, versions and resources that definitions add to the built-in ones. */
export interface CustomDiscovery {
  groups(): readonly GroupRow[];
  rowsOf(group: string, version: string): readonly ResourceRow[];
}

type Rows = (group: string, version: string) => readonly ResourceRow[];

const core: GroupRow = { group: "", versions: ["v1"], preferredVersion: "v1" };

/** `serverAddress` is what `/api` tells clients to use, host and port. */
export function discoveryDocuments(
  profile: Profile,
  serverAddress: string,
  custom: CustomDiscovery,
): DiscoveryDocuments {
  const coreVersions = {
    kind: "APIVersions",
    versions: core.versions,
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
  const builtIn = builtInOf(profile);
  const addsTo = ({ group, versions }: GroupRow): boolean =>
    versions.some((version) => custom.rowsOf(group, version).length > 0);
  const more = custom.groups();
  if (more.length === 0 && ![core, ...groupRows].some(addsTo)) return { ...builtIn.documents, coreVersions };
  const rowsOf: Rows = (group, version) => [...resourcesOf(group, version), ...custom.rowsOf(group, version)];
  const said = (row: GroupRow): Said =>
    (addsTo(row) ? undefined : builtIn.said.get(row)) ?? saidOf(profile, row, rowsOf);
  return { ...documentsOf(profile, said, more), coreVersions };
}

/** What is said of one group. */
interface Said {
  readonly group: JsonObject;
  /** By svc group version. */
  readonly resources: readonly (readonly [groupVersion: string, list: JsonObject])[];
  readonly aggregated: JsonObject;
}

interface BuiltIn {
  readonly said: ReadonlyMap<GroupRow, Said>;
  readonly documents: Omit<DiscoveryDocuments, "coreVersions">;
}

/** By what of a profile is told. Making them takes a good part of a server's start, and each definition changes few of them. */
const builtIns = new Map<boolean, WeakMap<Dialect, BuiltIn>>([
  [false, new WeakMap()],
  [true, new WeakMap()],
]);

function builtInOf(profile: Profile): BuiltIn {
  const byDialect = builtIns.get(profile.nullCreationTimes) as WeakMap<Dialect, BuiltIn>;
  const known = byDialect.get(profile.dialect);
  if (known !== undefined) return known;
  const said = new Map([core, ...groupRows].map((row) => [row, saidOf(profile, row, resourcesOf)]));
  const made = { said, documents: documentsOf(profile, (row) => said.get(row) as Said, []) };
  byDialect.set(profile.dialect, made);
  return made;
}

function saidOf(profile: Profile, row: GroupRow, rowsOf: Rows): Said {
  const { dialect } = profile;
  const { group, versions } = row;
  return {
    group: groupFields(dialect, row),
    resources: versions.map((version) => [
      joinGroupVersion(group, version),
      resourceList(dialect, group, version, rowsOf(group, version)),
    ]),
    aggregated: aggregatedGroup(profile, row, rowsOf),
  };
}

function documentsOf(
  { dialect }: Profile,
  saidOfRow: (row: GroupRow) => Said,
  more: readonly GroupRow[],
): Omit<DiscoveryDocuments, "coreVersions"> {
  const ofCore = saidOfRow(core);
  const named = [...groupRows, ...more].map((row) => ({ name: row.group, ...saidOfRow(row) }));
  const aggregated = (all: readonly Said[]): JsonObject => ({
    kind: "APIGroupDiscoveryList",
    apiVersion: `${groupInDialect(dialect, "apidiscovery.svc.io")}/v2`,
    metadata: {},
    items: all.map((said) => said.aggregated),
  });
  return {
    groups: { kind: "APIGroupList", apiVersion: "v1", groups: named.map(({ group }) => group) },
    group: new Map(named.map(({ name, group }) => [name, { kind: "APIGroup", apiVersion: "v1", ...group }])),
    resources: new Map([ofCore, ...named].flatMap(({ resources }) => resources)),
    aggregatedCore: aggregated([ofCore]),
    aggregated: aggregated(named),
  };
}

function groupFields(dialect: Dialect, { group, versions, preferredVersion }: GroupRow): JsonObject {
  const name = groupInDialect(dialect, group);
  const entry = (version: string): JsonObject => ({ groupVersion: `${name}/${version}`, version });
  return { name, versions: versions.map(entry), preferredVersion: entry(preferredVersion) };
}

function resourceList(dialect: Dialect, group: string, version: string, rows: readonly ResourceRow[]): JsonObject {
  const resources = rows.flatMap((row) => [
    resourceFields(dialect, row),
    ...row.subresources.map((subresource) => subresourceFields(dialect, row, subresource)),
  ]);
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }), // the core list has none
    groupVersion: apiVersionInDialect(dialect, joinGroupVersion(group, version)),
    resources,
  };
}

function resourceFields(dialect: Dialect, row: ResourceRow): JsonObject {
  const hash = row.storageVersionHash ?? hashOfBuiltIn(dialect, row);
  return {
    name: row.resource,
    singularName: row.singularName,
    namespaced: row.namespaced,
    kind: row.kind,
    verbs: row.verbs,
    ...unlessEmpty("shortNames", row.shortNames),
    ...unlessEmpty("categories", row.categories),
    ...(hash === undefined ? {} : { storageVersionHash: hash }),
  };
}

/** Types that are stored in another group or version than the one they are served in. */
const storedIn: Readonly<Record<string, readonly [group: string, version: string]>> = {
  "events.svc.io/v1/events": ["", "v1"],
  "autoscaling/v1/horizontalpodautoscalers": ["autoscaling", "v2"],
};

/** What nobody can watch is stored nowhere. */
function hashOfBuiltIn(dialect: Dialect, { groupVersion, resource, kind, ...row }: ResourceRow): string | undefined {
  if (!row.verbs.includes("watch")) return undefined;
  const [storedGroup, version] = storedIn[`${groupVersion}/${resource}`] ?? [row.group, row.version];
  const group = groupInDialect(dialect, storedGroup);
  const type = `${group}/${version}/${kind}`;
  const hash = builtInHashes.get(type) ?? storageVersionHash(group, version, kind);
  builtInHashes.set(type, hash);
  return hash;
}

/** Profiles that differ in other things say the same hashes, and hashing all built-in types takes longer than all else of a server's start. */
const builtInHashes = new Map<string, string>();

function subresourceFields(dialect: Dialect, row: ResourceRow, subresource: SubresourceRow): JsonObject {
  return {
    name: `${row.resource}/${subresource.subresource}`,
    singularName: "",
    namespaced: row.namespaced,
    ...(subresource.foreign ? { group: groupInDialect(dialect, subresource.group), version: subresource.version } : {}),
    kind: subresource.kind,
    verbs: subresource.verbs,
  };
}

function aggregatedGroup(
  { dialect, nullCreationTimes }: Profile,
  { group, versions }: GroupRow,
  rowsOf: Rows,
): JsonObject {
  return {
    metadata: {
      ...(group === "" ? {} : { name: groupInDialect(dialect, group) }),
      ...(nullCreationTimes ? { creationTimestamp: null } : {}),
    },
    versions: versions.map((version) => ({
      version,
      resources: rowsOf(group, version).map((row) => aggregatedResource(dialect, row)),
      freshness: "Current",
    })),
  };
}

function aggregatedResource(dialect: Dialect, row: ResourceRow): JsonObject {
  const subresources = row.subresources.map((subresource) => ({
    subresource: subresource.subresource,
    responseKind: {
      group: subresource.foreign ? groupInDialect(dialect, subresource.group) : "",
      version: subresource.foreign ? subresource.version : "",
      kind: subresource.kind,
    },
    verbs: subresource.verbs,
  }));
  return {
    resource: row.resource,
    responseKind: { group: "", version: "", kind: row.kind },
    scope: row.namespaced ? "Namespaced" : "Cluster",
    singularResource: row.singularName,
    verbs: row.verbs,
    ...unlessEmpty("shortNames", row.shortNames),
    ...unlessEmpty("categories", row.categories),
    ...unlessEmpty("subresources", subresources),
  };
}

function unlessEmpty(name: string, list: readonly Json[]): JsonObject {
  return list.length === 0 ? {} : { [name]: list };
}

/**
 * Every resource of the tables as this server serves it: where it is stored, how it behaves, how it is named in
 * the profile's dialect. Made once a server.
 */
import { apiVersionInDialect, type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { findResource, joinGroupVersion, type ResourceRow, resourceRows } from "../../../wire/resources.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { CustomResources } from "./custom-resources.ts";
import type { ServedResource } from "./served-resource.ts";
import { strategyOf } from "../../kinds/strategies.ts";
import type { Strategy } from "../../objects/strategy.ts";
import type { Profile } from "../../contract/profile.ts";
import { readTargetOf } from "../reads/read-target.ts";
import { viewOf } from "../encodings/object-views.ts";

export class ServedResources {
  private readonly byRow = new Map<ResourceRow, ServedResource>();

  private readonly custom: CustomResources;
  /** As of one generation of custom resources. */
  private sharing: { readonly generation: number; readonly byPrefix: ReadonlyMap<string, readonly ServedResource[]> } =
    {
      generation: -1,
      byPrefix: new Map(),
    };

  private everything: { readonly generation: number; readonly list: readonly ServedResource[] } = {
    generation: -1,
    list: none,
  };

  constructor(profile: Profile, custom: CustomResources) {
    this.custom = custom;
    for (const row of resourceRows) {
      const served = serve(row, profile);
      if (served !== undefined) this.byRow.set(row, served);
    }
  }

  /** Undefined for kinds that are nothing but query options. */
  of(row: ResourceRow): ServedResource | undefined {
    if (row.custom) return this.custom.find(row.group, row.version, row.resource);
    return this.byRow.get(row);
  }

  /** One that the table must have; svc names. */
  named(group: string, version: string, resource: string): ServedResource {
    const row = findResource(group, version, resource);
    const served = row === undefined ? undefined : this.byRow.get(row);
    invariant(served !== undefined, "the resource table lacks a resource", { group, version, resource });
    return served;
  }

  /** In table order, the custom ones last. */
  all(): readonly ServedResource[] {
    const { generation } = this.custom;
    if (this.everything.generation !== generation) {
      this.everything = { generation, list: [...this.byRow.values(), ...this.custom.all()] };
    }
    return this.everything.list;
  }

  /** What else shows the objects that a resource shows, in another version; in the order of `all`. */
  sharingWith(resource: ServedResource): readonly ServedResource[] {
    const { generation } = this.custom;
    if (this.sharing.generation !== generation) {
      this.sharing = { generation, byPrefix: Map.groupBy(this.all(), ({ read }) => read.prefix) };
    }
    const found = this.sharing.byPrefix.get(resource.read.prefix) ?? none;
    return found.length > 1 ? found.filter((other) => other !== resource) : none;
  }
}

const none: readonly never[] = [];

function serve(row: ResourceRow, profile: Profile): ServedResource | undefined {
  const { dialect } = profile;
  const strategy = named(strategyOf(row, dialect), profile);
  const { group, version, resource, kind } = row;
  if (strategy === undefined) return undefined;
  const { type } = strategy;
  const view = viewOf(row, dialect);
  const groupName = groupInDialect(dialect, group);
  return {
    row,
    target: { kind, group, version, type, dialect, defaults: strategy.rules.defaults },
    strategy,
    read: readTargetOf(row, profile),
    name: { group: groupName, resource: row.resource },
    group: groupName,
    apiVersion: apiVersionOf(dialect, group, version),
    kindGroup: resource === "events" ? "" : groupName,
    view,
  };
}

/** The rule for names of services is the one that changed from one observed version to another. */
function named(strategy: Strategy | undefined, { serviceNames }: Profile): Strategy | undefined {
  if (serviceNames === "rfc-1035" || strategy?.nameRule !== "label1035") return strategy;
  return { ...strategy, nameRule: "label" };
}

const apiVersionOf = (dialect: Dialect, group: string, version: string): string =>
  apiVersionInDialect(dialect, joinGroupVersion(group, version));

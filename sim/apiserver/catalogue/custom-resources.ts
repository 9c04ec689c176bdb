/**
 * The custom resources that one server serves. They follow the definitions in the store: a resource appears when its
 * definition is established, is made anew when the definition changes, and goes with it.
 * Source: document 1, resources at run time; the published handler's rules of what is served when.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { groupFromDialect } from "../../../wire/dialect.ts";
import type { GroupRow, ResourceRow } from "../../../wire/resources.ts";
import type { Process } from "../../kernel/types.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { Store } from "../../store/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { ServedResource } from "./served-resource.ts";
import type { customResource } from "./custom-resource.ts";
import { compareVersions, type Definition, isTrue, readDefinition } from "../../kinds/custom/definition.ts";

const definitionsPrefix = "/registry/customresourcedefinitions.apiextensions.svc.io/";

export interface CustomResourcesOptions {
  readonly store: Store;
  readonly process: Process;
  readonly dialect: Dialect;
  /** What a version of a definition is served as. */
  readonly resourceOf: typeof customResource;
}

interface Entry {
  readonly definition: Definition;
  /** As stored: what requests are served by. */
  readonly object: JsonObject;
  readonly served: readonly ServedResource[];
}

/** `name` is the definition's: what was open on its resources is no longer fed. */
export type TornDown = (name: string) => void;

export class CustomResources {
  private readonly dialect: Dialect;
  private readonly resourceOf: typeof customResource;
  /** By the name of the definition, in byte order. */
  private entries = new Map<string, Entry>();
  private readonly byPath = new Map<string, ServedResource>();
  /** By group and version, as `byPath`: a definition may have thousands of versions, and discovery asks for each. */
  private readonly rows = new Map<string, ResourceRow[]>();
  private readonly owners = new WeakMap<ResourceRow, string>();
  private groupRows: readonly GroupRow[] = [];
  private readonly listeners: TornDown[] = [];
  private readonly followers: ((name: string) => void)[] = [];
  /** Counts changes, so that what is made from the resources knows when it is out of date. */
  generation = 0;

  constructor({ store, process, dialect, resourceOf }: CustomResourcesOptions) {
    this.dialect = dialect;
    this.resourceOf = resourceOf;
    const found = store.range(definitionsPrefix, prefixEnd(definitionsPrefix), { count: false });
    if (typeof found !== "string") for (const { value } of found.items) this.take(value as JsonObject);
    const unsubscribe = store.subscribe(({ key, value, previous }) => {
      if (!key.startsWith(definitionsPrefix)) return;
      if (!process.alive) unsubscribe();
      else this.follow(value as JsonObject | undefined, previous as JsonObject | undefined);
    });
  }

  /** Group in the `svc` dialect. */
  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.byPath.size === 0 ? undefined : this.byPath.get(`${group}/${version}/${resource}`);
  }

  serves(group: string, version: string): boolean {
    return this.groupRows.some((row) => row.group === group && row.versions.includes(version));
  }

  /** By name, each with its versions, the most preferred first. */
  groups(): readonly GroupRow[] {
    return this.groupRows;
  }

  rowsOf(group: string, version: string): readonly ResourceRow[] {
    return this.rows.get(`${group}/${version}`) ?? noRows;
  }

  /** In the order of their definitions' names. */
  all(): readonly ServedResource[] {
    return [...this.byPath.values()];
  }

  /** The definition that a row was made from; undefined for a built-in resource. */
  ownerOf(row: ResourceRow): string | undefined {
    return this.owners.get(row);
  }

  onTornDown(listener: TornDown): void {
    this.listeners.push(listener);
  }

  /** Called after a definition has changed, come or gone; with its name. */
  onDefinition(follower: (name: string) => void): void {
    this.followers.push(follower);
  }

  /** As stored; undefined when there is none. */
  definition(name: string): JsonObject | undefined {
    return this.entries.get(name)?.object;
  }

  definitions(): readonly JsonObject[] {
    return [...this.entries.values()].map(({ object }) => object);
  }

  private follow(value: JsonObject | undefined, previous: JsonObject | undefined): void {
    const name = metadataOf((value ?? previous) as JsonObject).name ?? "";
    if (value === undefined) this.drop(name);
    else this.take(value);
    for (const follower of this.followers) follower(name);
  }

  private take(object: JsonObject): void {
    const definition = readDefinition(object);
    const before = this.entries.get(definition.name);
    const versions = isTrue(definition, "Established") ? definition.versions.filter((version) => version.served) : [];
    if (before !== undefined && isSameService(before, { definition, object, served: versions })) {
      this.entries.set(definition.name, { definition, object, served: before.served });
      return;
    }
    const served = versions.map((version) => this.resourceOf(definition, version, this.dialect));
    this.entries.set(definition.name, { definition, object, served });
    this.entries = new Map([...this.entries].sort(([left], [right]) => (left < right ? -1 : 1)));
    for (const { row } of served) this.owners.set(row, definition.name);
    this.reindex();
    if (before !== undefined && !isSameForm(before.object, object)) this.tearDown(definition.name);
  }

  private drop(name: string): void {
    if (!this.entries.delete(name)) return;
    this.reindex();
    this.tearDown(name);
  }

  private tearDown(name: string): void {
    for (const listener of this.listeners) listener(name);
  }

  private reindex(): void {
    this.byPath.clear();
    this.rows.clear();
    const versions = new Map<string, Set<string>>();
    for (const { served } of this.entries.values()) {
      for (const resource of served) {
        const { group, version } = resource.row;
        const groupVersion = `${group}/${version}`;
        this.byPath.set(`${groupVersion}/${resource.row.resource}`, resource);
        const rows = this.rows.get(groupVersion);
        if (rows === undefined) this.rows.set(groupVersion, [resource.row]);
        else rows.push(resource.row);
        const known = versions.get(group) ?? new Set();
        versions.set(group, known.add(version));
      }
    }
    this.groupRows = [...versions]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([group, names]) => {
        const sorted = [...names].sort(compareVersions);
        return {
          group: groupFromDialect(this.dialect, group),
          versions: sorted,
          preferredVersion: sorted[0] as string,
        };
      });
    this.generation++;
  }
}

const noRows: readonly ResourceRow[] = [];

/** Requests are answered as before. */
function isSameService(before: Entry, after: Omit<Entry, "served"> & { readonly served: readonly unknown[] }): boolean {
  return (
    isSameForm(before.object, after.object) &&
    before.served.length === after.served.length &&
    isTrue(before.definition, "Terminating") === isTrue(after.definition, "Terminating")
  );
}

/** Neither what is asked for nor what was granted has changed: streams may go on. */
function isSameForm(before: JsonObject, after: JsonObject): boolean {
  const accepted = (object: JsonObject) => (object["status"] as JsonObject | undefined)?.["acceptedNames"];
  return jsonEqual(before["spec"], after["spec"]) && jsonEqual(accepted(before), accepted(after));
}

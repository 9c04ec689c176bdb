/**
 * The resources that a server has, as it says itself. Custom resources come and go: when a definition changes, the
 * server is asked again.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { groupInDialect } from "../../wire/dialect.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros } from "../kernel/types.ts";
import type { ControlClient } from "../client/control-client.ts";
import type { Reflectors } from "../client/reflectors.ts";
import { later } from "./shared/later.ts";

export interface ApiType {
  /** In the dialect; "" for the core group. */
  readonly group: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly hasScale: boolean;
}

/** Between hearing of a definition and asking again. */
const stepMicros: Micros = 10_000;
/** Wait before a server that did not answer is asked again. */
const retryMicros: Micros = 1_000_000;

export class ApiTypes {
  private readonly client: ControlClient;
  private readonly reflectors: Reflectors;
  private readonly dialect: Dialect;
  private types: Types = noTypes;
  private readonly listeners: (() => void)[] = [];
  private planned = false;

  constructor(client: ControlClient, reflectors: Reflectors, dialect: Dialect) {
    this.client = client;
    this.reflectors = reflectors;
    this.dialect = dialect;
  }

  /** Asks, and calls `known` when the answer is there. Then follows what changes. */
  start(known: () => void): void {
    const group = groupInDialect(this.dialect, "apiextensions.svc.io");
    this.ask(() => {
      const hearer = { replaced: () => this.askSoon(), changed: () => this.askSoon(), gone: () => this.askSoon() };
      this.reflectors.follow(`/apis/${group}/v1/customresourcedefinitions`, hearer);
      known();
    });
  }

  /** Called after types have come or gone. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  ofKind(apiVersion: string, kind: string): ApiType | undefined {
    return this.types.byKind.get(`${apiVersion} ${kind}`);
  }

  /** Each resource in one of its versions, the one that the server names first. */
  preferred(): readonly ApiType[] {
    return this.types.preferred;
  }

  private askSoon(): void {
    if (this.planned) return;
    this.planned = true;
    later(this.client.process, stepMicros, () => {
      this.planned = false;
      this.ask(() => {
        for (const listener of this.listeners) listener();
      });
    });
  }

  /** `changed` is called when the answer differs from the one before. */
  private ask(changed: () => void): void {
    const group = groupInDialect(this.dialect, "apidiscovery.svc.io");
    const accept = `application/json;g=${group};v=v2;as=APIGroupDiscoveryList`;
    this.client.call({ method: "GET", path: "/api", accept }, (core) => {
      this.client.call({ method: "GET", path: "/apis", accept }, (named) => {
        if (core.object === undefined || named.object === undefined) {
          later(this.client.process, retryMicros, () => this.ask(changed));
          return;
        }
        const types = typesOf(core.object, named.object);
        if (types.text === this.types.text) return;
        this.types = types;
        changed();
      });
    });
  }
}

/** What two documents tell, in their order. */
interface Types {
  /** All that is told, to be compared. */
  readonly text: string;
  /** By version and kind. */
  readonly byKind: ReadonlyMap<string, ApiType>;
  /** Each resource once. */
  readonly preferred: readonly ApiType[];
}

const noTypes: Types = { text: "", byKind: new Map(), preferred: [] };

/** By both documents: servers of one process share those of what is built in, and mostly have nothing else. */
const read = new WeakMap<JsonObject, WeakMap<JsonObject, Types>>();

function typesOf(core: JsonObject, named: JsonObject): Types {
  const ofCore = read.get(core) ?? new WeakMap<JsonObject, Types>();
  read.set(core, ofCore);
  const known = ofCore.get(named);
  if (known !== undefined) return known;
  const groups = [...listIn(core, "items"), ...listIn(named, "items")].map(groupOf);
  const types = groups.flatMap((group) => group.types);
  const byResource = new Map<string, ApiType>();
  for (const type of types) {
    const name = `${type.resource}.${type.group}`;
    if (!byResource.has(name)) byResource.set(name, type);
  }
  const made = {
    text: groups.map(({ text }) => text).join("\n"),
    byKind: new Map(types.map((type) => [`${type.apiVersion} ${type.kind}`, type])),
    preferred: [...byResource.values()],
  };
  ofCore.set(named, made);
  return made;
}

interface Group {
  readonly types: readonly ApiType[];
  readonly text: string;
}

/** What definitions leave as it is stands in the next documents, too. */
const groupsRead = new WeakMap<JsonObject, Group>();

function groupOf(item: JsonObject): Group {
  const known = groupsRead.get(item);
  if (known !== undefined) return known;
  const types = typesIn(item);
  const made = { types, text: JSON.stringify(types) };
  groupsRead.set(item, made);
  return made;
}

/** Where objects of a type lie: one of them, or without a name the collection of a namespace, or of all. */
export function pathOf(type: ApiType, namespace: string, name: string): string {
  const prefix = type.group === "" ? `/api/${type.apiVersion}` : `/apis/${type.apiVersion}`;
  const place = type.namespaced && namespace !== "" ? `/namespaces/${namespace}` : "";
  return `${prefix}${place}/${type.resource}${name === "" ? "" : `/${name}`}`;
}

/** The resources of a group in an aggregated discovery document, in its order. */
function typesIn(item: JsonObject): readonly ApiType[] {
  const group = ((item["metadata"] as JsonObject)["name"] as string | undefined) ?? "";
  return listIn(item, "versions").flatMap((version) => {
    const apiVersion = `${group === "" ? "" : `${group}/`}${String(version["version"])}`;
    return listIn(version, "resources").map((resource) => ({
      group,
      apiVersion,
      kind: (resource["responseKind"] as JsonObject)["kind"] as string,
      resource: resource["resource"] as string,
      namespaced: resource["scope"] === "Namespaced",
      verbs: resource["verbs"] as readonly string[],
      hasScale: listIn(resource, "subresources").some(({ subresource }) => subresource === "scale"),
    }));
  });
}

function listIn(object: JsonObject, key: string): readonly JsonObject[] {
  return (object[key] ?? []) as readonly JsonObject[];
}

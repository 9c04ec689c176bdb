import type { Answer } from "../client/exchange.ts";
import { Collection, objectOf, succeeded } from "../client/collection.ts";
import { isJsonObject, type Json, type JsonObject, objectsIn } from "../client/types.ts";
import { Inconclusive, Unsupported } from "../client/findings.ts";
import type { Attempt } from "./attempt.ts";
import { pollUntil } from "./poll.ts";
import { runLabel } from "./sandbox.ts";

/** A resource that this attempt alone has defined: `widgets` in a group of its own. */
export interface CustomDefinition {
  /** Path of the definition. */
  readonly path: string;
  readonly apiVersion: string;
  /** The same objects in the further version; those of the first where there is none. */
  readonly otherWidgets: Collection;
  /** Its objects in the attempt's namespace. */
  readonly widgets: Collection;
  widget(name: string, parts?: JsonObject): JsonObject;
  define(): Promise<void>;
  /** Asks for the definition's end and waits for it. */
  remove(): Promise<void>;
}

export interface DefinitionOptions {
  /** Further fields of the one version, such as `additionalPrinterColumns`. */
  readonly version?: JsonObject;
  /** Of a further namespace, for a second definition in one attempt: each has the group of its namespace. */
  readonly suffix?: string;
  /** Default Namespaced. Objects of the cluster are at `prefix` alone; `widgets` are then those. */
  readonly scope?: "Namespaced" | "Cluster";
  /** Objects are served as `v2`, too, and stored as `v1`. */
  readonly hasOther?: boolean;
}

/**
 * Runs `body` with an established definition, and asks for its end afterwards, however `body` ends: a definition
 * belongs to no namespace that would take it along. Throws `Unsupported` where definitions are not served, and
 * `Inconclusive` where one is not established in a minute, for which there is no promised time.
 */
export async function withDefinition(
  attempt: Attempt,
  schema: JsonObject,
  body: (definition: CustomDefinition) => Promise<void>,
  { version = {}, suffix = "", scope = "Namespaced", hasOther = false }: DefinitionOptions = {},
): Promise<void> {
  const { client, profile, target } = attempt;
  const extensions = `/apis/apiextensions.${profile.dialect.groupSuffix}/v1`;
  const served = objectsIn((await client.request("GET", extensions)).json, "resources");
  if (!served.some(({ name }) => name === "customresourcedefinitions")) {
    throw new Unsupported("customresourcedefinitions");
  }
  const namespace = await target.namespace(suffix);
  const group = `${target.name}${suffix}.example.com`;
  const apiVersion = `${group}/v1`;
  const collectionPath = `${extensions}/customresourcedefinitions`;
  const path = `${collectionPath}/widgets.${group}`;
  const place = scope === "Cluster" ? "" : `namespaces/${namespace}/`;
  const widgets = new Collection(client, `/apis/${apiVersion}/${place}widgets`, target);
  const otherPath = `/apis/${group}/${hasOther ? "v2" : "v1"}/${place}widgets`;
  const definition: CustomDefinition = {
    otherWidgets: new Collection(client, otherPath, target),
    path,
    apiVersion,
    widgets,
    widget: (name, parts = {}) => ({ apiVersion, kind: "Widget", metadata: { name }, ...parts }),
    async define() {
      const sent = definitionOf(
        extensions.slice("/apis/".length),
        group,
        {
          ...version,
          schema: { openAPIV3Schema: schema },
        },
        { [runLabel]: target.label },
        scope,
        hasOther,
      );
      objectOf(await client.request("POST", collectionPath, { body: sent }), "custom-resources.served");
      await within(attempt, `${path} is not established`, async () =>
        isEstablished(await client.request("GET", path)) ? true : undefined,
      );
      await within(attempt, `${widgets.path} is not served`, async () =>
        (await widgets.list()).status === 200 ? true : undefined,
      );
    },
    async remove() {
      succeeded(await client.request("DELETE", path), "custom-resources.deletion");
      await within(attempt, `${path} is still there`, async () =>
        (await client.request("GET", path)).status === 404 ? true : undefined,
      );
    },
  };
  try {
    await definition.define();
    await body(definition);
  } finally {
    await client.attempt("DELETE", path);
  }
}

async function within(attempt: Attempt, otherwise: string, ask: () => Promise<true | undefined>): Promise<void> {
  const done = await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, ask);
  if (done === undefined) throw new Inconclusive(`${otherwise} after ${patienceMillis} ms`);
}

const patienceMillis = 60_000;

/** The definition of `widgets` in a group; `apiVersion`: of definitions; `version`: what the one version has besides its name. */
export function definitionOf(
  apiVersion: string,
  group: string,
  version: JsonObject,
  labels?: Readonly<Record<string, string>>,
  scope: "Namespaced" | "Cluster" = "Namespaced",
  hasOther = false,
): JsonObject {
  return {
    apiVersion,
    kind: "CustomResourceDefinition",
    metadata: { name: `widgets.${group}`, ...(labels === undefined ? {} : { labels }) },
    spec: {
      group,
      scope,
      names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
      versions: [
        { ...version, name: "v1", served: true, storage: true },
        ...(hasOther ? [{ ...version, name: "v2", served: true, storage: false }] : []),
      ],
    },
  };
}

function isEstablished(answer: Answer): boolean {
  const status: Json | undefined = isJsonObject(answer.json) ? answer.json["status"] : undefined;
  return objectsIn(status, "conditions").some(({ type, status }) => type === "Established" && status === "True");
}

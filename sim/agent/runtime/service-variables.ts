/**
 * Variables by which a container finds the services that were there when it was started: `WEB_SERVICE_HOST` and its like, and
 * those of Docker's links. Source: the published agent's rules.
 */
import type { KeyValue } from "../../../wire/cri-messages.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { Recent } from "../../objects/recent.ts";
import { entryLength } from "./process-words.ts";

/** Services of the whole cluster, by namespace and name. */
export interface ServiceView {
  inNamespace(namespace: string): Iterable<JsonObject>;
  named(namespace: string, name: string): JsonObject | undefined;
}

/** By this one a cluster's server is reached: every pod is told of it, whatever it wants. */
const ownService = { namespace: "default", name: "kubernetes" };

/** What tells of some services. */
export interface ServiceLinks {
  readonly list: readonly KeyValue[];
  readonly byName: ReadonlyMap<string, KeyValue>;
  /** Of all of them, as `NAME=value`. */
  readonly length: number;
}

/**
 * Of the services in the pod's namespace, unless it wants none of them, and of the server's own. Ordered by name. Of the same
 * services it is the same object: thousands of containers that are told of the same hold one list.
 */
export function serviceLinks(services: ServiceView, namespace: string, wantsLinks: boolean): ServiceLinks {
  const told = servicesTold(services, namespace, wantsLinks);
  // Others than the server's own are of one namespace alone.
  const key = told.find(([name]) => name !== ownService.name)?.[1] ?? told[0]?.[1];
  if (key === undefined) return noLinks;
  const before = linksKnown.get(key);
  if (before !== undefined && areSame(before.of, told)) return before.links;
  const variables = told.flatMap(([name, service]) => variablesOf(name, service));
  const byName = new Map(variables.map((variable) => [variable.key ?? "", variable]));
  const list = [...byName.values()];
  const length = list.reduce((sum, { key = "", value = "" }) => sum + entryLength(key, value), 0);
  const links = { list, byName, length };
  linksKnown.set(key, { of: told, links });
  return links;
}

type NamedService = readonly [name: string, service: JsonObject];

export const noLinks: ServiceLinks = { list: [], byName: new Map(), length: 0 };

/** Agents of one process share services, and so what is made of them. */
const linksKnown = new Recent<JsonObject, { readonly of: readonly NamedService[]; readonly links: ServiceLinks }>(1000);

const areSame = (some: readonly NamedService[], others: readonly NamedService[]): boolean =>
  some.length === others.length && some.every(([, service], at) => service === others[at]?.[1]);

function servicesTold(services: ServiceView, namespace: string, wantsLinks: boolean): readonly NamedService[] {
  const named = new Map<string, JsonObject>();
  const own = services.named(ownService.namespace, ownService.name);
  if (own !== undefined && hasAddress(own)) named.set(ownService.name, own);
  if (wantsLinks) {
    for (const service of services.inNamespace(namespace)) {
      if (hasAddress(service)) named.set(metadataOf(service).name ?? "", service);
    }
  }
  return [...named].sort(([one], [other]) => (one < other ? -1 : 1));
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
}

interface ServiceSpec {
  readonly clusterIP?: string;
  readonly ports?: readonly ServicePort[];
}

const specOf = (service: JsonObject): ServiceSpec => (service["spec"] ?? {}) as ServiceSpec;

function hasAddress(service: JsonObject): boolean {
  const { clusterIP = "", ports = [] } = specOf(service);
  return clusterIP !== "" && clusterIP !== "None" && ports.length > 0;
}

const known = new Recent<JsonObject, readonly KeyValue[]>(10_000);

function variablesOf(name: string, service: JsonObject): readonly KeyValue[] {
  const before = known.get(service);
  if (before !== undefined) return before;
  const made = variablesFrom(name, specOf(service));
  known.set(service, made);
  return made;
}

function variablesFrom(name: string, { clusterIP = "", ports = [] }: ServiceSpec): readonly KeyValue[] {
  const prefix = variableName(name);
  const [first] = ports;
  const variables: KeyValue[] = [
    { key: `${prefix}_SERVICE_HOST`, value: clusterIP },
    { key: `${prefix}_SERVICE_PORT`, value: String(first?.port) },
  ];
  for (const { name: portName = "", port } of ports) {
    if (portName !== "")
      variables.push({ key: `${prefix}_SERVICE_PORT_${variableName(portName)}`, value: String(port) });
  }
  const host = clusterIP.includes(":") ? `[${clusterIP}]` : clusterIP;
  const url = ({ protocol = "TCP", port }: ServicePort): string => `${protocol.toLowerCase()}://${host}:${port}`;
  if (first !== undefined) variables.push({ key: `${prefix}_PORT`, value: url(first) });
  for (const each of ports) {
    const { protocol = "TCP", port } = each;
    const key = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
    variables.push(
      { key, value: url(each) },
      { key: `${key}_PROTO`, value: protocol.toLowerCase() },
      { key: `${key}_PORT`, value: String(port) },
      { key: `${key}_ADDR`, value: clusterIP },
    );
  }
  return variables;
}

const variableName = (name: string): string => name.replaceAll("-", "_").toUpperCase();

/**
 * Where a service, a pod or a node is to be reached: scheme, host and port, from a name that may say scheme and port itself.
 * A service's addresses are those that its Endpoints call ready; later versions of the real server ask EndpointSlices. Source: the published registries of services, pods and nodes.
 */
import { ApiError, badRequest, notFound, unmapped } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { readIp } from "../../kinds/shared/ip-fields.ts";
import { type IpAddress, kindsOfIp } from "../../expressions/library/ip-address.ts";

export interface Location {
  readonly scheme: "http" | "https";
  /** A name or an address of either family, without brackets. */
  readonly host: string;
  /** Decimal; empty for the scheme's own. */
  readonly port: string;
  /** Whoever resolves the name may not reach the server's own machine by it, nor what only its own network can. */
  readonly isGlobalOnly?: true;
  /** A node's agent: it may be shown who this server is. */
  readonly isAgent?: boolean;
}

export const addressNotAllowed = "address not allowed";

export interface LocationPorts {
  /** An object of the core group as it is stored now. */
  readonly stored: (resource: string, namespace: string, name: string) => JsonObject | undefined;
  /** One of `count` things, from 0; `count` ≥ 1. */
  readonly choose: (count: number) => number;
  /** Types of addresses at which agents are asked, best first. */
  readonly addressTypes: readonly string[];
}

type Locate = (ports: LocationPorts, namespace: string, id: string) => Location;

/** By resource. All throw: 404 for what does not exist, 400 for a name that cannot be read, 503 where nobody is ready. */
export const locations: Readonly<Record<string, Locate>> = {
  services: locateService,
  pods: locatePod,
  nodes: locateNode,
};

interface Asked {
  readonly scheme: "" | "http" | "https";
  readonly name: string;
  readonly port: string;
}

/** `name`, `name:port` or `scheme:name:port`, where scheme and port may be empty. */
function readId(id: string, what: string): Asked {
  const parts = id.split(":");
  const [scheme, name, port] = parts.length === 3 ? parts : ["", parts[0], parts[1] ?? ""];
  const isScheme = scheme === "" || scheme === "http" || scheme === "https";
  if (parts.length > 3 || !isScheme || !name) throw badRequest(`invalid ${what} request ${JSON.stringify(id)}`);
  return { scheme, name, port: port ?? "" };
}

interface Subset {
  readonly addresses?: readonly Address[];
  readonly ports?: readonly { readonly name?: string; readonly port: number }[];
}

interface Address {
  readonly ip: string;
  readonly targetRef?: { readonly namespace?: string; readonly name?: string };
}

function locateService(ports: LocationPorts, namespace: string, id: string): Location {
  const { scheme, name, port } = readId(id, "service");
  const portName = /^[+-]?\d+$/.test(port) ? nameOfPort(ports, namespace, name, Number(port)) : port;
  const endpoints = existing(ports, "endpoints", namespace, name);
  const subsets = (endpoints["subsets"] ?? []) as readonly Subset[];
  if (subsets.length === 0) throw unavailable(`no endpoints available for service "${name}"`);
  for (const subset of fromAnywhere(ports, subsets)) {
    const found = (subset.ports ?? []).find((each) => (each.name ?? "") === portName);
    if (found === undefined) continue;
    const address = fromAnywhere(ports, subset.addresses ?? []).find((each) => isPods(ports, namespace, each));
    if (address !== undefined) return { scheme: scheme || "http", host: plain(address.ip), port: String(found.port) };
  }
  throw unavailable(`no endpoints available for service ${JSON.stringify(id)}`);
}

/** A service says by which name its endpoints know a port. */
function nameOfPort(ports: LocationPorts, namespace: string, name: string, number: number): string {
  const { ports: list } = existing(ports, "services", namespace, name)["spec"] as {
    readonly ports?: readonly { readonly name?: string; readonly port: number }[];
  };
  const found = (list ?? []).find(({ port }) => port === number);
  if (found === undefined) throw unavailable(`no service port ${number} found for service "${name}"`);
  return found.name ?? "";
}

/** An address that is said to be a pod's must be one of that pod's, in the same namespace. */
function isPods(ports: LocationPorts, namespace: string, { ip, targetRef }: Address): boolean {
  if (targetRef === undefined) return true;
  if (targetRef.namespace !== namespace) return false;
  const pod = ports.stored("pods", namespace, targetRef.name ?? "");
  return pod !== undefined && addressesOfPod(pod).includes(ip);
}

function locatePod(ports: LocationPorts, namespace: string, id: string): Location {
  const { scheme, name, port } = readId(id, "pod");
  const pod = existing(ports, "pods", namespace, name);
  const [host = ""] = addressesOfPod(pod);
  const address = readIp(host);
  if (address === undefined || !isGlobalUnicast(address)) throw badRequest(addressNotAllowed);
  return { scheme: scheme || "http", host: plain(host), port: port === "" ? firstPort(pod) : port };
}

function firstPort(pod: JsonObject): string {
  const { containers } = pod["spec"] as {
    readonly containers?: readonly { readonly ports?: readonly { readonly containerPort: number }[] }[];
  };
  const first = (containers ?? []).flatMap((container) => container.ports ?? [])[0];
  return first === undefined ? "" : String(first.containerPort);
}

function addressesOfPod({ status }: JsonObject): readonly string[] {
  const { podIP, podIPs = [] } = (status ?? {}) as {
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
  };
  const all = podIPs.map(({ ip }) => ip);
  return podIP === undefined || podIP === "" ? all : [podIP, ...all];
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
}

const agentPortDefault = 10250;

/** The node's agent speaks TLS; of another port of the node the request says the scheme. */
function locateNode(ports: LocationPorts, _: string, id: string): Location {
  const { scheme, name, port } = readId(id, "node");
  const { addresses = [], daemonEndpoints } = (existing(ports, "nodes", "", name)["status"] ?? {}) as NodeStatus;
  const known = ports.addressTypes.flatMap((type) => addresses.filter((each) => each.type === type));
  const [preferred] = known;
  if (preferred === undefined) throw unmapped("no preferred addresses found; known addresses: []");
  const host = plain(preferred.address);
  const agentPort = String(daemonEndpoints?.kubeletEndpoint?.Port || agentPortDefault);
  if (port === "" || port === agentPort) return { scheme: "https", host, port: agentPort, isAgent: true };
  const address = readIp(host);
  if (address !== undefined) {
    if (!isGlobalUnicast(address)) throw badRequest(addressNotAllowed);
    return { scheme: scheme || "http", host, port };
  }
  return { scheme: scheme || "http", host, port, isGlobalOnly: true };
}

/** Whether an address that a name was resolved to may be connected to. */
export function isReachable(resolved: string): boolean {
  const address = readIp(resolved);
  return address !== undefined && isGlobalUnicast(address);
}

const isGlobalUnicast = kindsOfIp["isGlobalUnicast"] as (ip: IpAddress) => boolean;

/** Stored addresses may have numbers that begin with zeros, which a resolver would read as octal. */
const plain = (address: string): string =>
  /^[0-9.]+$/.test(address) ? address.replaceAll(/(^|\.)0+(?=\d)/g, "$1") : address;

function existing(ports: LocationPorts, resource: string, namespace: string, name: string): JsonObject {
  const object = ports.stored(resource, namespace, name);
  if (object === undefined) throw notFound({ group: "", resource }, name);
  return object;
}

/** All of them in their order, from one that is chosen on. */
function fromAnywhere<Item>({ choose }: LocationPorts, items: readonly Item[]): readonly Item[] {
  const at = items.length < 2 ? 0 : choose(items.length);
  return [...items.slice(at), ...items.slice(0, at)];
}

export const unavailable = (message: string): ApiError => new ApiError(503, "ServiceUnavailable", message);

/**
 * Cluster addresses and node ports of services. Nothing is kept but the services themselves: what none of them has is
 * free, so that a deletion frees at once, a restart forgets nothing, and front-ends of one store agree.
 *
 * As in the real server the lower part of each range is left to those who ask for a certain address, and is given out
 * last. A dry run gets the network's own address and a port outside of the range, and takes nothing.
 * Source: a recorded dry run (10.0.0.0, 32769); the published server's allocators.
 */
import type { Prng } from "../../kernel/types.ts";
import { type ApiError, type Cause, internalError } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { goStrings, invalidText, invalidValue } from "../../objects/causes.ts";
import { needsAddress, needsHealthCheck, needsNodePorts } from "../../kinds/core/service.ts";
import { type Draft, ownChild, ownItem, ownList } from "../../contract/objects.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import type { Taken } from "./taken-addresses.ts";
import { addressAt, isOfServices, type Range, type ServiceNetwork } from "./service-network.ts";
import { invalidObject, type Writer } from "./writer.ts";

const nodePorts: Range = { first: 30_000, last: 32_767, dynamicFrom: 30_086 };
const dryRunPort = 32_769;

/**
 * Gives the service in `draft` what it lacks, as `before` does not have it yet. Throws 422 for an address that is
 * taken or out of range, and 500 when a range is used up.
 */
export function allocateAddresses(
  writer: Writer,
  resource: ServedResource,
  draft: Draft,
  before: JsonObject | undefined,
  dryRun: boolean,
): void {
  const sent = (draft["spec"] ?? {}) as JsonObject;
  const had = (before?.["spec"] ?? {}) as JsonObject;
  const wantsAddress = needsAddress(sent) && (sent["clusterIP"] ?? "") !== (had["clusterIP"] ?? "none yet");
  const wantsPorts = needsNodePorts(sent) || sent["type"] === "LoadBalancer";
  if (!wantsAddress && !wantsPorts) return;
  const taken = writer.takenAddresses.besides(had);
  const prng = writer.addressPrng;
  const { serviceNetwork: network } = writer.context;
  const refused = (cause: Cause): ApiError =>
    invalidObject(resource, ((draft["metadata"] as JsonObject)["name"] ?? "") as string, [cause]);
  const spec = ownChild(draft, "spec");
  if (wantsAddress) {
    const asked = (spec["clusterIP"] ?? "") as string;
    if (asked === "") spec["clusterIP"] = dryRun ? addressAt(network, 0) : freeAddress(prng, network, taken);
    else requireFreeAddress(asked, network, taken, refused);
    spec["clusterIPs"] = [spec["clusterIP"] as string];
  }
  if (!wantsPorts) return;
  const give: GivePort = (isTaken) => (dryRun ? dryRunPort : free(prng, nodePorts, isTaken));
  const own = givePorts(spec, had, taken, before === undefined, give, refused);
  const isTaken = (port: number): boolean => own.has(port) || taken.hasPort(port);
  if (needsHealthCheck(spec)) giveHealthPort(spec, had, isTaken, give);
}

/** A port that is nobody's; undefined when there is none left. */
type GivePort = (isTaken: IsTaken) => number | undefined;
type IsTaken = (port: number) => boolean;

const portsOf = (spec: JsonObject): readonly JsonObject[] => (spec["ports"] ?? []) as readonly JsonObject[];

function freeAddress(prng: Prng, network: ServiceNetwork, taken: Taken): string {
  const distance = free(prng, network.range, (each) => taken.hasAddress(addressAt(network, each)));
  if (distance === undefined) throw internalError("failed to allocate a serviceIP: range is full");
  return addressAt(network, distance);
}

function requireFreeAddress(
  asked: string,
  network: ServiceNetwork,
  taken: Taken,
  refused: (cause: Cause) => ApiError,
): void {
  const couldBe = isOfServices(network, asked);
  if (couldBe && !taken.hasAddress(asked)) return;
  const why = couldBe
    ? "provided IP is already allocated"
    : `the provided IP (${asked}) is not in the valid range. The range of valid IPs is ${network.text}`;
  throw refused(invalidText("spec.clusterIPs", goStrings([asked]), `failed to allocate IP ${asked}: ${why}`));
}

/**
 * Ports that the client names first, so that none of them is given to another port of the same service. A new service
 * that takes one port by several protocols is reached at one number. The ports that it has by then come back.
 */
function givePorts(
  spec: Draft,
  had: JsonObject,
  taken: Taken,
  isNew: boolean,
  give: GivePort,
  refused: (cause: Cause) => ApiError,
): Set<number> {
  const own = new Set(portsOf(had).map(({ nodePort }) => nodePort));
  const asked = portsOf(spec as JsonObject);
  const named = new Set<number>();
  const byPort = new Map<unknown, number>();
  asked.forEach(({ port, nodePort = 0 }, at) => {
    const wanted = nodePort as number;
    if (wanted === 0) return;
    // One number may serve two protocols of the same service.
    if (!own.has(wanted) && !named.has(wanted))
      requireFreePort(wanted, `spec.ports[${at}].nodePort`, taken.hasPort, refused);
    named.add(wanted);
    if (isNew && !byPort.has(port)) byPort.set(port, wanted);
  });
  if (!needsNodePorts(spec)) return named;
  const ports = ownList(spec, "ports") ?? [];
  asked.forEach(({ port, nodePort = 0 }, at) => {
    if (nodePort !== 0) return;
    const given = byPort.get(port) ?? give((candidate) => named.has(candidate) || taken.hasPort(candidate));
    if (given === undefined) throw internalError("failed to allocate a nodePort: range is full");
    if (isNew) byPort.set(port, given);
    named.add(given);
    ownItem(ports, at)["nodePort"] = given;
  });
  return named;
}

/** Where the balancer asks whether a node has pods of the service. */
function giveHealthPort(spec: Draft, had: JsonObject, isTaken: IsTaken, give: GivePort): void {
  const wanted = (spec["healthCheckNodePort"] ?? 0) as number;
  if (wanted === 0) {
    const given = give(isTaken);
    if (given === undefined) throw internalError("failed to allocate a HealthCheck NodePort 0: range is full");
    spec["healthCheckNodePort"] = given;
  } else if (wanted !== had["healthCheckNodePort"]) {
    const why = whyNot(wanted, isTaken);
    if (why !== undefined) {
      throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`);
    }
  }
}

function requireFreePort(port: number, path: string, isTaken: IsTaken, refused: (cause: Cause) => ApiError): void {
  const why = whyNot(port, isTaken);
  if (why !== undefined) throw refused(invalidValue(path, port, why));
}

function whyNot(port: number, isTaken: IsTaken): string | undefined {
  const isInside = port >= nodePorts.first && port <= nodePorts.last;
  if (isInside) return isTaken(port) ? "provided port is already allocated" : undefined;
  const range = `${nodePorts.first}-${nodePorts.last}`;
  return `provided port is not in the valid range. The range of valid ports is ${range}`;
}

/** From a drawn place on upwards in the part for everybody, then in the part below. */
function free(prng: Prng, range: Range, isTaken: (value: number) => boolean): number | undefined {
  return (
    freeIn(prng, range.dynamicFrom, range.last, isTaken) ?? freeIn(prng, range.first, range.dynamicFrom - 1, isTaken)
  );
}

function freeIn(prng: Prng, first: number, last: number, isTaken: (value: number) => boolean): number | undefined {
  const size = last - first + 1;
  const start = prng.intInclusive(0, size - 1);
  for (let step = 0; step < size; step++) {
    const value = first + ((start + step) % size);
    if (!isTaken(value)) return value;
  }
  return undefined;
}

/**
 * The network whose addresses services are given.
 * Source: the published server's flag for it, and its allocator.
 */
import { tryParseCidr, tryParseIp } from "../../expressions/library/ip-address.ts";

/** A part of a network or of all ports: what is below `dynamicFrom` is left to those who ask for it, and given out last. */
export interface Range {
  readonly first: number;
  readonly last: number;
  readonly dynamicFrom: number;
}

export interface ServiceNetwork {
  /** As `10.0.0.0/24`. */
  readonly text: string;
  /** Its own address, as a number of 32 bits, which no service has. */
  readonly base: number;
  /** Distances from it. */
  readonly range: Range;
}

/** Bits of the prefix. */
const prefixes = { shortest: 12, longest: 29 };

/** Reads a block of IPv4 addresses; a text says why it cannot be the one of services. */
export function readServiceNetwork(text: string): ServiceNetwork | string {
  const cidr = tryParseCidr(text);
  if (cidr === undefined) return "a block of addresses such as 10.96.0.0/16";
  if (cidr.ip.family !== 4) return "a block of IPv4 addresses: services have no others here";
  const { prefixLength } = cidr;
  if (prefixLength < prefixes.shortest || prefixLength > prefixes.longest) {
    return `a block with a prefix of ${prefixes.shortest} to ${prefixes.longest} bits`;
  }
  const size = 1 << (32 - prefixLength);
  const address = Number(cidr.ip.bits);
  const base = address - (address % size);
  const reserved = Math.min(Math.max(reservedMin, Math.floor(size / reservedMin)), reservedMax);
  // Neither the network's own address nor that of all of its hosts.
  const range = { first: 1, last: size - 2, dynamicFrom: 1 + (size <= reservedMin ? 0 : reserved) };
  return { text: `${dotted(base)}/${prefixLength}`, base, range };
}

/** Addresses of which the lower part is left to those who ask for one: a sixteenth, and from 16 to 256. */
const reservedMin = 16;
const reservedMax = 256;

export const defaultServiceNetwork = readServiceNetwork("10.0.0.0/24") as ServiceNetwork;

/** The address at a distance from the network's own. */
export const addressAt = ({ base }: ServiceNetwork, distance: number): string => dotted(base + distance);

/** Whether a service may have the address, which is written as addresses are. */
export function isOfServices({ base, range }: ServiceNetwork, address: string): boolean {
  const ip = tryParseIp(address);
  if (ip?.family !== 4) return false;
  const distance = Number(ip.bits) - base;
  return distance >= range.first && distance <= range.last;
}

/** The server's own service has it. */
export const firstAddress = (network: ServiceNetwork): string => addressAt(network, network.range.first);

/** As `formatIp` writes one, without integers of any size: where all are taken, each is asked for. */
function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join(".");
}

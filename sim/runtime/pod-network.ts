/** Addresses that pods can have: those of a block, or of what begins with a few bytes of IPv4, such as `10.88`. */
import { formatIp, type IpAddress, masked, tryParseCidr } from "../expressions/library/ip-address.ts";

export interface PodNetwork {
  readonly first: IpAddress;
  readonly size: number;
}

/** Of an IPv6 block no more are given than these. Source: document 3, Options, --pod-cidr. */
const sixthVersionMax = 65_536;
/** The network itself, its gateway and the last one are nobody's. */
const sizeMin = 4;

/** Undefined for what is no block, or has no room for a pod. */
export function podNetworkOf(text: string): PodNetwork | undefined {
  const bytes = text.split(".");
  const isPrefix = /^\d+(\.\d+){0,2}$/.test(text);
  const block = isPrefix ? `${[...bytes, 0, 0, 0].slice(0, 4).join(".")}/${8 * bytes.length}` : text;
  const parsed = tryParseCidr(block);
  if (parsed === undefined) return undefined;
  const { ip, prefixLength } = masked(parsed);
  const free = Number(1n << BigInt((ip.family === 4 ? 32 : 128) - prefixLength));
  const size = ip.family === 4 ? free : Math.min(free, sixthVersionMax);
  return size < sizeMin ? undefined : { first: ip, size };
}

export const addressAt = ({ first: { family, bits } }: PodNetwork, at: number): string =>
  formatIp({ family, bits: bits + BigInt(at) });

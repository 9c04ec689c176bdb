/**
 * IP addresses and blocks of them. What is written with leading zeros, a zone, or IPv4 inside IPv6 is refused.
 * Source: the published rules of the ip and cidr functions.
 */
import { EvaluationError } from "../failures.ts";

export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

export interface Cidr {
  readonly ip: IpAddress;
  readonly prefixLength: number;
}

const width = (ip: IpAddress): number => (ip.family === 4 ? 32 : 128);

export const tryParseIp = (text: string): IpAddress | undefined =>
  text.includes(":") ? parseIpv6(text) : parseIpv4(text);

/** Throws why not. */
export function parseIp(text: string): IpAddress {
  const parsed = tryParseIp(text);
  if (parsed === undefined)
    throw new EvaluationError(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    );
  return parsed;
}

function parseIpv4(text: string): IpAddress | undefined {
  if (text.length > longestIpv4) return undefined;
  let [bits, part, digitCount, dotCount] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zeroCode;
    const isDigit = digit >= 0 && digit <= 9;
    if (isDigit && (digitCount === 0 || part > 0)) {
      part = part * 10 + digit;
      digitCount++;
      if (part > 255) return undefined;
    } else if (text[at] === "." && digitCount > 0) {
      bits = bits * 256 + part;
      dotCount++;
      [part, digitCount] = [0, 0];
    } else return undefined;
  }
  return dotCount === 3 && digitCount > 0 ? { family: 4, bits: BigInt(bits * 256 + part) } : undefined;
}

const zeroCode = 48;

function parseIpv6(text: string): IpAddress | undefined {
  if (text.length > longestIpv6) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<string>(halves.length === 2 ? missing : 0).fill("0"), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return { family: 6, bits: groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n) };
}

/** Four numbers of three digits, or eight groups of four, and what stands between them: else what is no address would cost as much as it is long. */
const longestIpv4 = 4 * 3 + 3;
const longestIpv6 = 8 * 4 + 7;

/** Throws why not. */
export function parseCidr(text: string): Cidr {
  const [address = "", length = "", ...more] = text.split("/");
  const refused = (why: string): never => {
    throw new EvaluationError(
      `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${why}`,
    );
  };
  if (more.length > 0 || length === "") return refused("no '/'");
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length)) return refused("bad bits after slash: " + JSON.stringify(length));
  const ip = parseIp(address);
  if (Number(length) > width(ip)) return refused("prefix length out of range");
  return { ip, prefixLength: Number(length) };
}

export function tryParseCidr(text: string): Cidr | undefined {
  try {
    return parseCidr(text);
  } catch {
    return undefined;
  }
}

/** The shortest form: what the address is written as. */
export function formatIp({ family, bits }: IpAddress): string {
  const size = family === 4 ? 8n : 16n;
  const count = family === 4 ? 4 : 8;
  const groups = Array.from(
    { length: count },
    (_, at) => (bits >> (size * BigInt(count - 1 - at))) & ((1n << size) - 1n),
  );
  if (family === 4) return groups.join(".");
  const { start, length } = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(":");
  return `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}

function longestZeros(groups: readonly bigint[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0n) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

export const formatCidr = ({ ip, prefixLength }: Cidr): string => `${formatIp(ip)}/${prefixLength}`;

export const sameIp = (left: IpAddress, right: IpAddress): boolean =>
  left.family === right.family && left.bits === right.bits;

export const sameCidr = (left: Cidr, right: Cidr): boolean =>
  sameIp(left.ip, right.ip) && left.prefixLength === right.prefixLength;

/** The block's first address: the bits after the prefix are 0. */
export function masked({ ip, prefixLength }: Cidr): Cidr {
  const rest = BigInt(width(ip) - prefixLength);
  return { ip: { ...ip, bits: (ip.bits >> rest) << rest }, prefixLength };
}

export function containsIp({ ip, prefixLength }: Cidr, address: IpAddress): boolean {
  const rest = BigInt(width(ip) - prefixLength);
  return ip.family === address.family && ip.bits >> rest === address.bits >> rest;
}

export const containsCidr = (outer: Cidr, inner: Cidr): boolean =>
  outer.prefixLength <= inner.prefixLength && containsIp(outer, inner.ip);

/** What an address is for; each a predicate by the published ranges. */
export const kindsOfIp: Readonly<Record<string, (ip: IpAddress) => boolean>> = {
  isUnspecified: ({ bits }) => bits === 0n,
  isLoopback: (ip) => (ip.family === 4 ? ip.bits >> 24n === 127n : ip.bits === 1n),
  isLinkLocalMulticast: (ip) =>
    ip.family === 4 ? ip.bits >> 8n === 0xe00000n : ip.bits >> 120n === 0xffn && ((ip.bits >> 112n) & 0xfn) === 2n,
  isLinkLocalUnicast: (ip) => (ip.family === 4 ? ip.bits >> 16n === 0xa9fen : ip.bits >> 118n === 0x3fan),
  isGlobalUnicast: (ip) => {
    const { bits, family } = ip;
    const multicast = family === 4 ? bits >> 28n === 0xen : bits >> 120n === 0xffn;
    const broadcast = family === 4 && bits === 0xffffffffn;
    return bits !== 0n && !broadcast && !multicast && !isKind("isLoopback", ip) && !isKind("isLinkLocalUnicast", ip);
  },
};

const isKind = (name: string, ip: IpAddress): boolean => (kindsOfIp[name] as (ip: IpAddress) => boolean)(ip);

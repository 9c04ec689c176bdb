/**
 * IP addresses and blocks in fields that are older than the strict grammar: numbers may begin with zeros, and an IPv4
 * address may stand inside an IPv6 one, which then counts as IPv4.
 * Source: the published validation of addresses and blocks.
 */
import type { Cause } from "../../contract/errors.ts";
import {
  type Cidr,
  containsCidr,
  type IpAddress,
  kindsOfIp,
  tryParseCidr,
  tryParseIp,
} from "../../expressions/library/ip-address.ts";
import { textThat } from "../../objects/rules.ts";
import { type Check, judgeAt, type Place } from "../../objects/place.ts";

export function readIp(text: string): IpAddress | undefined {
  const embedded = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const ip = tryParseIp(embedded === null ? withoutZeros(text) : hexadecimal(embedded));
  if (ip === undefined || ip.family === 4 || ip.bits >> 32n !== 0xffffn) return ip;
  return { family: 4, bits: ip.bits & 0xffffffffn };
}

interface ReadCidr {
  readonly text: string;
  readonly cidr: Cidr | undefined;
}

/** Rules ask for a block more than once, and hold each of a long list against the same other one: the last two stay known. */
let [lastRead, readBefore]: readonly (ReadCidr | undefined)[] = [];

function readCidr(text: string): Cidr | undefined {
  if (lastRead?.text === text) return lastRead.cidr;
  const known = readBefore?.text === text ? readBefore : { text, cidr: parsedCidr(text) };
  [lastRead, readBefore] = [known, lastRead];
  return known.cidr;
}

function parsedCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  return slash < 0 ? undefined : tryParseCidr(withoutZeros(text.slice(0, slash)) + text.slice(slash));
}

const withoutZeros = (text: string): string =>
  text.includes(":") || !/(?:^|\.)0\d/.test(text)
    ? text
    : text.replaceAll(/(^|\.)0+(?=\d)/g, (_, before: string) => before);

function hexadecimal([, head = "", ...bytes]: readonly string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  if ([a, b, c, d].some((byte) => byte > 255)) return "";
  return `${head}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

export const ipAddress = textThat(
  (text) => readIp(text) !== undefined,
  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
);
export const cidrBlock = textThat(
  (text) => readCidr(text) !== undefined,
  "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
);

export const ipCauses = (text: string, path: string, causes: Cause[]): void => judgeAt(ipAddress, text, path, causes);

/** A block that is part of another, and not all of it. Both must be blocks. */
export function isWithin(inner: string, outer: string): boolean {
  const [part, whole] = [readCidr(inner), readCidr(outer)];
  return (
    part !== undefined && whole !== undefined && part.prefixLength > whole.prefixLength && containsCidr(whole, part)
  );
}

/** The address of a block; undefined for what is no block. */
export const readCidrAddress = (text: string): IpAddress | undefined => readCidr(text)?.ip;

/** No more than one of each family. */
export function isDualStack(texts: readonly string[], read: (text: string) => IpAddress | undefined = readIp): boolean {
  const families = texts.map((text) => read(text)?.family);
  return texts.length > 1 && families.includes(4) && families.includes(6);
}

const special = [
  ["isLoopback", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  ["isLinkLocalUnicast", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["isLinkLocalMulticast", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
] as const;

/** An address that means the same to all who read it: neither this host nor this link. */
export const ordinaryIp: Check = (text: string, at: Place): void => {
  const ip = readIp(text);
  if (ip === undefined) {
    at.invalid(text, "must be a valid IP address");
    return;
  }
  if (ip.bits === 0n) at.invalid(text, `may not be unspecified (${text})`);
  for (const [kind, why] of special) if (kindsOfIp[kind]?.(ip) === true) at.invalid(text, why);
};

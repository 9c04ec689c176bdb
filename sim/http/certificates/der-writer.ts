/** Writes certificates' DER. Node signs but does not issue. Source: X.690; RFC 5280, section 4. */
import { isIP } from "node:net";

export function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (id: string, value: string): Buffer =>
    tlv(0x31, sequence(objectId(id), tlv(0x0c, Buffer.from(value, "utf8"))));
  return sequenceOf([...organizations.map((name) => attribute("2.5.4.10", name)), attribute("2.5.4.3", commonName)]);
}

/** UTCTime through 2049, GeneralizedTime after. */
export function time(millis: number): Buffer {
  const digits = new Date(millis).toISOString().replace(/[-:T]|\.\d+/g, "");
  return digits < "2050" ? tlv(0x17, Buffer.from(digits.slice(2), "ascii")) : tlv(0x18, Buffer.from(digits, "ascii"));
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const septets = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) septets.unshift((rest & 0x7f) | 0x80);
  return septets;
}

export const positive = (bytes: Buffer): Buffer =>
  Buffer.from([(bytes[0] as number) & 0x7f || 1, ...bytes.subarray(1)]);
export const integer = (bytes: Buffer): Buffer => tlv(0x02, bytes);
export const bitString = (bytes: Buffer): Buffer => tlv(0x03, Buffer.concat([Buffer.from([0]), bytes]));
/** Of a list, which may be as long as a request's. */
export const sequenceOf = (parts: readonly Buffer[]): Buffer => tlv(0x30, Buffer.concat(parts));
export const sequence = (...parts: Buffer[]): Buffer => sequenceOf(parts);
export const explicit = (tag: number, content: Buffer): Buffer => tlv(0xa0 | tag, content);

export function tlv(tag: number, content: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest >>>= 8) length.unshift(rest & 0xff);
  const header = content.length < 0x80 ? [tag, content.length] : [tag, 0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from(header), content]);
}

export const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${(der.toString("base64").match(/.{1,64}/g) as string[]).join("\n")}\n-----END ${label}-----\n`;

export const extension = (id: string, value: Buffer, critical = Buffer.alloc(0)): Buffer =>
  sequence(objectId(id), critical, tlv(0x04, value));

export function alternativeName(host: string): Buffer {
  if (isIP(host) === 0) return tlv(0x82, Buffer.from(host, "ascii"));
  return tlv(0x87, isIP(host) === 4 ? Buffer.from(host.split(".").map(Number)) : ipv6Bytes(host));
}

function ipv6Bytes(host: string): Buffer {
  const [head = "", tail] = host.split("::");
  const words = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const left = words(head);
  const right = tail === undefined ? [] : words(tail);
  const gap = tail === undefined ? [] : new Array<string>(8 - left.length - right.length).fill("0");
  const bytes = Buffer.alloc(16);
  [...left, ...gap, ...right].forEach((word, i) => bytes.writeUInt16BE(Number.parseInt(word, 16), i * 2));
  return bytes;
}

/**
 * A self-signed certificate for `serve --tls`: Ed25519 would do for Node, but older clients want ECDSA, so the
 * key is P-256 with SHA-256. Node signs but does not issue, so the certificate's DER is written here.
 * Source: RFC 5280 section 4, RFC 5480, RFC 5758.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

export interface CertificatePair {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

export interface SelfSignedOptions {
  /** DNS names and IP addresses that the certificate is good for; the first is its common name. */
  readonly hosts: readonly string[];
  /** Validity in Unix milliseconds. */
  readonly notBeforeMillis: number;
  readonly notAfterMillis: number;
  /** Default `server`. A client is known by its common name, and its groups are the organizations. */
  readonly usage?: "server" | "client";
  readonly organizations?: readonly string[];
}

/** Issues a certificate that is its own authority, so that a client can be given it as `--ca-file`. */
export function selfSignedCertificate(options: SelfSignedOptions): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const publicKeyInfo = publicKey.export({ type: "spki", format: "der" });
  const name = distinguishedName(options.hosts[0] ?? "localhost", options.organizations ?? []);
  const signatureAlgorithm = sequence(objectId("1.2.840.10045.4.3.2"));
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(positive(randomBytes(16))),
    signatureAlgorithm,
    name,
    sequence(time(options.notBeforeMillis), time(options.notAfterMillis)),
    name,
    publicKeyInfo,
    explicit(3, sequence(...extensions(options, publicKeyInfo))),
  );
  const signature = sign("sha256", body, { key: privateKey, dsaEncoding: "der" });
  const certificate = sequence(body, signatureAlgorithm, bitString(signature));
  return {
    certificate: pem("CERTIFICATE", certificate),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

function extensions({ hosts, usage }: SelfSignedOptions, publicKeyInfo: Buffer): Buffer[] {
  const keyId = createHash("sha1").update(publicKeyInfo).digest();
  const critical = Buffer.from([0x01, 0x01, 0xff]);
  return [
    extension("2.5.29.19", sequence(critical), critical), // basic constraints: an authority
    extension("2.5.29.15", tlv(0x03, Buffer.from([1, 0b1000_0110])), critical), // digital signature, certificate and revocation-list signing
    extension("2.5.29.37", sequence(objectId(usage === "client" ? "1.3.6.1.5.5.7.3.2" : "1.3.6.1.5.5.7.3.1"))), // authentication of either
    extension("2.5.29.14", tlv(0x04, keyId)),
    extension("2.5.29.17", sequence(...hosts.map(alternativeName))),
  ];
}

const extension = (id: string, value: Buffer, critical = Buffer.alloc(0)): Buffer =>
  sequence(objectId(id), critical, tlv(0x04, value));

function alternativeName(host: string): Buffer {
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

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (id: string, value: string): Buffer =>
    tlv(0x31, sequence(objectId(id), tlv(0x0c, Buffer.from(value, "utf8"))));
  return sequence(...organizations.map((name) => attribute("2.5.4.10", name)), attribute("2.5.4.3", commonName));
}

/** UTCTime through 2049, GeneralizedTime after. */
function time(millis: number): Buffer {
  const digits = new Date(millis).toISOString().replace(/[-:T]|\.\d+/g, "");
  return digits < "2050" ? tlv(0x17, Buffer.from(digits.slice(2), "ascii")) : tlv(0x18, Buffer.from(digits, "ascii"));
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const septets = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) septets.unshift((rest & 0x7f) | 0x80);
  return septets;
}

const positive = (bytes: Buffer): Buffer => Buffer.from([(bytes[0] as number) & 0x7f || 1, ...bytes.subarray(1)]);
const integer = (bytes: Buffer): Buffer => tlv(0x02, bytes);
const bitString = (bytes: Buffer): Buffer => tlv(0x03, Buffer.concat([Buffer.from([0]), bytes]));
const sequence = (...parts: Buffer[]): Buffer => tlv(0x30, Buffer.concat(parts));
const explicit = (tag: number, content: Buffer): Buffer => tlv(0xa0 | tag, content);

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const header =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}

const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${(der.toString("base64").match(/.{1,64}/g) as string[]).join("\n")}\n-----END ${label}-----\n`;

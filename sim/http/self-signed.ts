/**
 * A self-signed certificate for `serve --tls`: Ed25519 would do for Node, but older clients want ECDSA, so the
 * key is P-256 with SHA-256. Node signs but does not issue, so the certificate's DER is written here.
 * Source: RFC 5280 section 4, RFC 5480, RFC 5758.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import {
  alternativeName,
  bitString,
  distinguishedName,
  explicit,
  extension,
  integer,
  objectId,
  pem,
  positive,
  sequence,
  time,
  tlv,
} from "./der-writer.ts";

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

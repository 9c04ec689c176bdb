/**
 * A self-signed certificate for `serve --tls`: Ed25519 would do for Node, but older clients want ECDSA, so the
 * key is on P-256.
 */
import { generateKeyPairSync } from "node:crypto";
import { critical, keyId, signedCertificate, usageBits } from "./certificate.ts";
import {
  alternativeName,
  distinguishedName,
  extension,
  objectId,
  sequence,
  sequenceOf,
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
  /** Default `server`. A client is known by its common name, and its groups are the organizations. `any`: an authority of both. */
  readonly usage?: "server" | "client" | "any";
  readonly organizations?: readonly string[];
}

/** Issues a certificate that is its own authority, so that a client can be given it as `--ca-file`. */
export function selfSignedCertificate(options: SelfSignedOptions): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const publicKeyInfo = publicKey.export({ type: "spki", format: "der" });
  const name = distinguishedName(options.hosts[0] ?? "localhost", options.organizations ?? []);
  const body = {
    issuer: name,
    subject: name,
    publicKeyInfo,
    validity: sequence(time(options.notBeforeMillis), time(options.notAfterMillis)),
    extensions: extensions(options, publicKeyInfo),
  };
  return {
    certificate: signedCertificate(body, privateKey),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

function extensions({ hosts, usage }: SelfSignedOptions, publicKeyInfo: Buffer): Buffer[] {
  return [
    extension("2.5.29.19", sequence(critical), critical), // basic constraints: an authority
    extension("2.5.29.15", usageBits([0, 5, 6]), critical), // digital signature, certificate and revocation-list signing
    // Authentication of servers, of clients.
    ...(usage === "any"
      ? []
      : [extension("2.5.29.37", sequence(objectId(usage === "client" ? "1.3.6.1.5.5.7.3.2" : "1.3.6.1.5.5.7.3.1")))]),
    extension("2.5.29.14", tlv(0x04, keyId(publicKeyInfo))),
    extension("2.5.29.17", sequenceOf(hosts.map(alternativeName))),
  ];
}

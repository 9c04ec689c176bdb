/**
 * An authority made for one run: it signs what the server's signers approve, and a server that trusts it takes the
 * certificates as credentials. Source: RFC 5280, section 4; the published signer's extensions.
 */
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import type { CertificateRequest } from "../../kinds/certificates/request.ts";
import { extendedKeyUsages, keyUsages, signingUsage } from "../../kinds/certificates/signers.ts";
import type { CertificateAuthority, CertificateTerms } from "../../control/certificate-signer.ts";
import { type CertificateBody, critical, keyId, signedCertificate, usageBits } from "./certificate.ts";
import { alternativeName, distinguishedName, extension, objectId, sequence, time, tlv } from "./der-writer.ts";

export interface RunAuthority extends CertificateAuthority {
  /** The authority's own certificate, in PEM: whoever trusts it trusts what it has signed. */
  readonly certificate: string;
}

const commonName = "touchstone-signer";
const dayMillis = 86_400_000;

/** Good for ten years from a day before `nowMillis`, Unix milliseconds. */
export function runAuthority(nowMillis: number): RunAuthority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const publicKeyInfo = publicKey.export({ type: "spki", format: "der" });
  const issuer = distinguishedName(commonName, []);
  const ownKeyId = keyId(publicKeyInfo);
  const make = (body: Omit<CertificateBody, "issuer">): string => signedCertificate({ ...body, issuer }, privateKey);
  const certificate = make({
    subject: issuer,
    publicKeyInfo,
    validity: sequence(time(nowMillis - dayMillis), time(nowMillis + 3650 * dayMillis)),
    extensions: [
      extension("2.5.29.19", sequence(critical), critical),
      extension("2.5.29.15", usageBits([0, 5, 6]), critical),
      extension("2.5.29.14", tlv(0x04, ownKeyId)),
    ],
  });
  return {
    certificate,
    issue(terms) {
      const { request, notBeforeSeconds, notAfterSeconds } = terms;
      const problem = signatureProblem(request);
      if (problem !== undefined) return { error: problem };
      return {
        pem: make({
          subject: distinguishedName(request.commonName, request.organizations),
          publicKeyInfo: Buffer.from(request.publicKey),
          validity: sequence(time(notBeforeSeconds * 1000), time(notAfterSeconds * 1000)),
          extensions: leafExtensions(terms, ownKeyId),
        }),
      };
    },
  };
}

function leafExtensions({ request, usages }: CertificateTerms, authorityKeyId: Buffer): readonly Buffer[] {
  const bits = usages.map((usage) =>
    (keyUsages as readonly string[]).indexOf(usage === signingUsage ? keyUsages[0] : usage),
  );
  const purposes = usages.flatMap((usage) =>
    Object.hasOwn(extendedKeyUsages, usage) ? [extendedKeyUsages[usage] as string] : [],
  );
  const names = [
    ...request.dnsNames.map(alternativeName),
    ...request.addresses.map((address) => tlv(0x87, Buffer.from(address))),
  ];
  return [
    extension("2.5.29.15", usageBits(bits.filter((bit) => bit >= 0)), critical),
    ...(purposes.length === 0 ? [] : [extension("2.5.29.37", sequence(...purposes.map(objectId)))]),
    extension("2.5.29.19", sequence(), critical),
    extension("2.5.29.35", sequence(tlv(0x80, authorityKeyId))),
    ...(names.length === 0 ? [] : [extension("2.5.29.17", sequence(...names))]),
  ];
}

/** By the signature's algorithm: its hash, none where the key brings its own. */
const hashes: Readonly<Record<string, string | null>> = {
  "1.2.840.113549.1.1.11": "sha256",
  "1.2.840.113549.1.1.12": "sha384",
  "1.2.840.113549.1.1.13": "sha512",
  "1.2.840.10045.4.3.2": "sha256",
  "1.2.840.10045.4.3.3": "sha384",
  "1.2.840.10045.4.3.4": "sha512",
  "1.3.101.112": null,
};

/** A request proves that its sender has the key. */
function signatureProblem({ publicKey, body, signature, signatureAlgorithm }: CertificateRequest): string | undefined {
  const hash = Object.hasOwn(hashes, signatureAlgorithm) ? hashes[signatureAlgorithm] : undefined;
  if (hash === undefined) return `unsupported signature algorithm ${signatureAlgorithm}`;
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey), format: "der", type: "spki" });
    return verify(hash, body, key, signature) ? undefined : "the request is not signed by its own key";
  } catch {
    return "the request's key cannot be read";
  }
}

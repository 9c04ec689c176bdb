/**
 * An authority, made for one run or given: it signs what the server's signers approve, and a server that trusts it takes
 * the certificates as credentials. Source: RFC 5280, section 4; the published signer's extensions.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  verify,
  X509Certificate,
} from "node:crypto";
import { type DerItem, itemsOf, objectIdText, readDer } from "../../kinds/certificates/der.ts";
import type { CertificateRequest } from "../../kinds/certificates/request.ts";
import { extendedKeyUsages, keyUsages, signingUsage } from "../../kinds/certificates/signers.ts";
import type { CertificateAuthority, CertificateTerms } from "../../control/certificate-signer.ts";
import { type CertificateBody, critical, keyId, signedCertificate, usageBits } from "./certificate.ts";
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

export interface RunAuthority extends CertificateAuthority {
  /** The authority's own certificate, in PEM: whoever trusts it trusts what it has signed. */
  readonly certificate: string;
}

const commonName = "touchstone-signer";
const dayMillis = 86_400_000;

/** What signs: its name and key, and for how long at most. */
interface Issuer {
  /** Distinguished name, in DER. */
  readonly name: Buffer;
  /** Undefined: its certificate does not say. */
  readonly keyId: Buffer | undefined;
  readonly privateKey: KeyObject;
  readonly certificate: string;
  readonly lifetimeSecondsMax: number | undefined;
}

/** Good for ten years from a day before `nowMillis`, Unix milliseconds. */
export function runAuthority(nowMillis: number, lifetimeSecondsMax?: number): RunAuthority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const publicKeyInfo = publicKey.export({ type: "spki", format: "der" });
  const name = distinguishedName(commonName, []);
  const ownKeyId = keyId(publicKeyInfo);
  const body: CertificateBody = {
    issuer: name,
    subject: name,
    publicKeyInfo,
    validity: sequence(time(nowMillis - dayMillis), time(nowMillis + 3650 * dayMillis)),
    extensions: [
      extension("2.5.29.19", sequence(critical), critical),
      extension("2.5.29.15", usageBits([0, 5, 6]), critical),
      extension("2.5.29.14", tlv(0x04, ownKeyId)),
    ],
  };
  const certificate = signedCertificate(body, privateKey);
  return authorityOf({ name, keyId: ownKeyId, privateKey, certificate, lifetimeSecondsMax });
}

/** One whose certificate and key others know, in PEM. Throws for what is no pair, or cannot sign. */
export function givenAuthority(
  pair: { readonly certificate: string; readonly key: string },
  lifetimeSecondsMax?: number,
): RunAuthority {
  const read = new X509Certificate(pair.certificate);
  const privateKey = createPrivateKey(pair.key);
  if (!read.checkPrivateKey(privateKey)) throw new Error("the key is not the certificate's own");
  if (!read.ca) throw new Error("the certificate is not that of an authority");
  if (!["rsa", "ec"].includes(privateKey.asymmetricKeyType ?? ""))
    throw new Error(`keys of the type ${privateKey.asymmetricKeyType} cannot sign here: take RSA or ECDSA`);
  const { name, keyId: id } = nameAndKeyId(read.raw);
  return authorityOf({ name, keyId: id, privateKey, certificate: pair.certificate, lifetimeSecondsMax });
}

function authorityOf({ name: issuer, keyId: id, privateKey, certificate, lifetimeSecondsMax }: Issuer): RunAuthority {
  return {
    certificate,
    ...(lifetimeSecondsMax === undefined ? {} : { lifetimeSecondsMax }),
    issue(terms) {
      const { request, notBeforeSeconds, notAfterSeconds } = terms;
      const problem = signatureProblem(request);
      if (problem !== undefined) return { error: problem };
      const body: CertificateBody = {
        issuer,
        subject: distinguishedName(request.commonName, request.organizations),
        publicKeyInfo: Buffer.from(request.publicKey),
        validity: sequence(time(notBeforeSeconds * 1000), time(notAfterSeconds * 1000)),
        extensions: leafExtensions(terms, id),
      };
      return { pem: signedCertificate(body, privateKey) };
    },
  };
}

const keyIdExtension = "2.5.29.14";

/** The subject of a certificate as its own bytes, and how its key is called. Source: RFC 5280, 4.1 and 4.2.1.2. */
function nameAndKeyId(certificate: Uint8Array): Pick<Issuer, "name" | "keyId"> {
  const [body] = itemsOf(readDer(certificate));
  const fields = itemsOf(body);
  // The version stands before the serial number where it is not the first.
  const subject = fields[fields[0]?.tag === 0xa0 ? 5 : 4] as DerItem;
  const wrapped = fields.find(({ tag }) => tag === 0xa3);
  const extensions = wrapped === undefined ? [] : itemsOf(readDer(wrapped.content));
  const own = extensions.map((each) => itemsOf(each)).find(([id]) => objectIdText(id) === keyIdExtension);
  const id = own === undefined ? undefined : Buffer.from(readDer((own.at(-1) as DerItem).content).content);
  return { name: Buffer.from(subject.whole), keyId: id };
}

function leafExtensions({ request, usages }: CertificateTerms, authorityKeyId: Buffer | undefined): readonly Buffer[] {
  const bits = usages
    .map((usage) => (keyUsages as readonly string[]).indexOf(usage === signingUsage ? keyUsages[0] : usage))
    .filter((bit) => bit >= 0);
  const purposes = usages.flatMap((usage) =>
    Object.hasOwn(extendedKeyUsages, usage) ? [extendedKeyUsages[usage] as string] : [],
  );
  const names = [
    ...request.dnsNames.map(alternativeName),
    ...request.addresses.map((address) => tlv(0x87, Buffer.from(address))),
  ];
  return [
    // Without any bit it would be no certificate to whoever reads it.
    ...(bits.length === 0 ? [] : [extension("2.5.29.15", usageBits(bits), critical)]),
    ...(purposes.length === 0 ? [] : [extension("2.5.29.37", sequenceOf(purposes.map(objectId)))]),
    extension("2.5.29.19", sequence(), critical),
    ...(authorityKeyId === undefined ? [] : [extension("2.5.29.35", sequence(tlv(0x80, authorityKeyId)))]),
    ...(names.length === 0 ? [] : [extension("2.5.29.17", sequenceOf(names))]),
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

/**
 * A certificate and its signature by an elliptic or an RSA key, with SHA-256: what Node signs and does not issue. Source: RFC 5280,
 * section 4; RFC 4055; RFC 5480; RFC 5758.
 */
import { largest } from "../../../wire/lists.ts";
import { createHash, type KeyObject, randomBytes, sign } from "node:crypto";
import { bitString, explicit, integer, objectId, pem, positive, sequence, sequenceOf, tlv } from "./der-writer.ts";

/** Each part in DER. */
export interface CertificateBody {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKeyInfo: Buffer;
  readonly validity: Buffer;
  readonly extensions: readonly Buffer[];
}

/** In PEM, with a random serial number. */
export function signedCertificate(made: CertificateBody, privateKey: KeyObject): string {
  const algorithm = privateKey.asymmetricKeyType === "rsa" ? rsaWithSha256 : ecdsaWithSha256;
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(positive(randomBytes(16))),
    algorithm,
    made.issuer,
    made.validity,
    made.subject,
    made.publicKeyInfo,
    explicit(3, sequenceOf(made.extensions)),
  );
  const signature = sign("sha256", body, { key: privateKey, dsaEncoding: "der" });
  return pem("CERTIFICATE", sequence(body, algorithm, bitString(signature)));
}

const ecdsaWithSha256 = sequence(objectId("1.2.840.10045.4.3.2"));
const rsaWithSha256 = sequence(objectId("1.2.840.113549.1.1.11"), tlv(0x05, Buffer.alloc(0)));

/** Goes into an extension. */
export const critical = Buffer.from([0x01, 0x01, 0xff]);

export const keyId = (publicKeyInfo: Buffer): Buffer => createHash("sha1").update(publicKeyInfo).digest();

/** The numbers of bits as a bit string in its shortest form. */
export function usageBits(bits: readonly number[]): Buffer {
  const last = largest(bits, 0);
  const bytes = Buffer.alloc((last >> 3) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] as number) | (0x80 >> (bit & 7));
  return tlv(0x03, Buffer.concat([Buffer.from([7 - (last & 7)]), bytes]));
}

/** What node's cryptography does for a keeper of certificates. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { CertificateMaker, HeldCertificate } from "../../agent/certificates/certificate-keeper.ts";
import { certificateRequest } from "./request-writer.ts";

export const certificateMaker: CertificateMaker = {
  request: certificateRequest,
  read: readPair,
};

function readPair(certificate: string, privateKey: string): HeldCertificate | undefined {
  try {
    const read = new X509Certificate(certificate);
    if (!read.checkPrivateKey(createPrivateKey(privateKey))) return undefined;
    const [notBeforeUnixMillis, notAfterUnixMillis] = [read.validFromDate.getTime(), read.validToDate.getTime()];
    return { certificate, privateKey, notBeforeUnixMillis, notAfterUnixMillis };
  } catch {
    return undefined; // no PEM, or none that OpenSSL reads
  }
}

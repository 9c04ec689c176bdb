/**
 * The signers that a cluster brings along, and what each asks of a request. Others may serve other names.
 * Source: the published signers: their rules, texts and the names of usages.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { CertificateRequest } from "./request.ts";

/** By their names in `spec.usages`, in the order of the bits of the extension keyUsage; then the extended ones. */
export const keyUsages = [
  "digital signature",
  "content commitment",
  "key encipherment",
  "data encipherment",
  "key agreement",
  "cert sign",
  "crl sign",
  "encipher only",
  "decipher only",
] as const;
export const extendedKeyUsages: Readonly<Record<string, string>> = {
  any: "2.5.29.37.0",
  "server auth": "1.3.6.1.5.5.7.3.1",
  "client auth": "1.3.6.1.5.5.7.3.2",
  "code signing": "1.3.6.1.5.5.7.3.3",
  "email protection": "1.3.6.1.5.5.7.3.4",
  "s/mime": "1.3.6.1.5.5.7.3.4",
  "ipsec end system": "1.3.6.1.5.5.7.3.5",
  "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
  "ipsec user": "1.3.6.1.5.5.7.3.7",
  timestamping: "1.3.6.1.5.5.7.3.8",
  "ocsp signing": "1.3.6.1.5.5.7.3.9",
  "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
  "netscape sgc": "2.16.840.1.113730.4.1",
};
/** Another word for digital signature. */
export const signingUsage = "signing";

const signerKinds = ["kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving"] as const;
export type SignerKind = (typeof signerKinds)[number];

export const signerName = (dialect: Dialect, kind: SignerKind): string => `${dialect.labelSuffix}/${kind}`;

/** Undefined for a name that somebody else signs for. */
export function signerKindOf(dialect: Dialect, name: string): SignerKind | undefined {
  return signerKinds.find((kind) => signerName(dialect, kind) === name);
}

const nodesGroup = "system:nodes";
const nodePrefix = "system:node:";

/** Why the signer will not sign; undefined when it will. */
export function refusesToSign(
  kind: SignerKind,
  request: CertificateRequest,
  usages: readonly string[],
): string | undefined {
  const purpose = kind === "kubelet-serving" ? "server auth" : "client auth";
  const permitted = new Set(["digital signature", signingUsage, "key encipherment", purpose]);
  if (!usages.includes(purpose) || !usages.every((usage) => permitted.has(usage))) {
    const what = purpose === "server auth" ? "server" : "client";
    return `invalid usage for ${what} certificate: ${usages.join(", ")}`;
  }
  if (kind === "kube-apiserver-client") return undefined;
  if (request.organizations.length !== 1 || request.organizations[0] !== nodesGroup) {
    return `subject organization is not ${nodesGroup}`;
  }
  if (!request.commonName.startsWith(nodePrefix)) return `subject common name does not begin with ${nodePrefix}`;
  const names = request.dnsNames.length + request.addresses.length;
  if (request.otherNames.length > 0) return "email and URI subjectAltNames are not allowed";
  if (kind === "kubelet-serving") return names === 0 ? "at least one DNS or IP subjectAltName is required" : undefined;
  return names > 0 ? "subjectAltNames are not allowed" : undefined;
}

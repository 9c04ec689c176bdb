/** What a file is judged against, beside itself: the profile, flags, and the machine that it names files of. */
import { decodeBase64 } from "../../wire/base64.ts";
import type { ConfigurationRules } from "./rules.ts";

export interface Setting {
  readonly rules: ConfigurationRules;
  /** Issuers that no other may call itself: the server's own. */
  readonly ownIssuers: readonly string[];
  /** The flag about anonymous access was given. */
  readonly anonymousFlag: boolean;
  /** A bug to have: issuers may be there twice, or be the server's own. Source: kubernetes/kubernetes#123561. Default: no. */
  readonly issuersMayClash?: true;
  /** What is wrong with a file of that path, or undefined. */
  fileProblem(path: string): string | undefined;
  /** What is wrong with certificates in PEM, or undefined. */
  certificateProblem(pem: string): string | undefined;
}

/** Where no files are: a simulation, or a check that looks at nothing but the text. */
export function bareSetting(rules: ConfigurationRules, ownIssuers: readonly string[] = []): Setting {
  return { rules, ownIssuers, anonymousFlag: false, fileProblem: () => undefined, certificateProblem: pemProblem };
}

/** Looks at the envelope alone: what is inside is read by whoever trusts it. */
function pemProblem(pem: string): string | undefined {
  const blocks = [...pem.matchAll(/-----BEGIN CERTIFICATE-----\s([A-Za-z0-9+/=\s]*?)-----END CERTIFICATE-----/g)];
  const isCertificate = ([, body = ""]: RegExpMatchArray): boolean => {
    const bytes = decodeBase64(body.replace(/\s+/g, ""));
    return bytes instanceof Uint8Array && bytes.length > 4 && bytes[0] === derSequence;
  };
  return blocks.length > 0 && blocks.every(isCertificate)
    ? undefined
    : "data does not contain any valid RSA or ECDSA certificates";
}

const derSequence = 0x30;

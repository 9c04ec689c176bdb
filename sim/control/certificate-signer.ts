/**
 * Signs the approved requests of the signers that a cluster brings along: it writes a certificate, or why there is
 * none, into their status.
 *
 * Cryptography is behind a port. A simulation has none: there an approved request is marked as Failed, and the message
 * says so; whoever simulates a signer of their own takes a signer name of their own. Who approves is another's question
 * (`certificate-approver.ts`).
 * Source: the published signing controller, its reasons and lifetimes.
 */
import { encodeBase64 } from "../../wire/base64.ts";
import type { Dialect } from "../../wire/dialect.ts";
import { type CertificateRequest, parseCertificateRequest } from "../kinds/certificates/request.ts";
import { refusesToSign, signerKindOf } from "../kinds/certificates/signers.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { type CertificateParts, CertificateRequests } from "./certificate-requests.ts";

export interface CertificateTerms {
  readonly request: CertificateRequest;
  /** As `spec.usages` names them. */
  readonly usages: readonly string[];
  /** Unix seconds. */
  readonly notBeforeSeconds: number;
  readonly notAfterSeconds: number;
}

/** Signs certificates at once. */
export interface CertificateAuthority {
  /** A certificate is good for so long at most, whatever is asked for. Default: a year. */
  readonly lifetimeSecondsMax?: number;
  /** The certificate in PEM; or, for a request that its own key has not signed, why not. */
  issue(terms: CertificateTerms): { readonly pem: string } | { readonly error: string };
}

export interface CertificateSignerParts extends CertificateParts {
  /** Undefined: nothing can be signed. */
  readonly authority: CertificateAuthority | undefined;
}

const yearSeconds = 365 * 24 * 3600;
/**
 * A certificate is good from a little before, for clocks that are behind; a short one by a tenth of its lifetime, or it
 * would be due for a new one as soon as it is there.
 */
const backdateSecondsMax = 300;

export class CertificateSigner {
  private readonly requests: CertificateRequests;

  constructor({ authority, ...parts }: CertificateSignerParts) {
    const { client, dialect } = parts;
    const { clock } = client.process;
    this.requests = new CertificateRequests(parts, {
      queue: "certificate",
      concerns: () => true,
      work: (request, done) => {
        const nowSeconds = Math.floor((clock.epochUnixMillis + clock.nowMicros() / 1000) / 1000);
        const status = signedStatus(request, { dialect, authority, nowSeconds });
        if (status === undefined) done("done");
        else this.requests.put({ ...request, status }, "status", done);
      },
    });
  }

  start(): void {
    this.requests.start();
  }
}

interface SigningContext {
  readonly dialect: Dialect;
  readonly authority: CertificateAuthority | undefined;
  readonly nowSeconds: number;
}

/** What becomes of a request's status; undefined when there is nothing to do. */
function signedStatus(object: JsonObject, context: SigningContext): JsonObject | undefined {
  const { dialect, authority, nowSeconds } = context;
  const spec = (object["spec"] ?? {}) as JsonObject;
  const status = (object["status"] ?? {}) as JsonObject;
  const conditions = (status["conditions"] ?? []) as readonly JsonObject[];
  const has = (type: string): boolean => conditions.some((condition) => condition["type"] === type);
  const kind = signerKindOf(dialect, spec["signerName"] as string);
  if (kind === undefined || !has("Approved") || has("Denied") || has("Failed") || status["certificate"] !== undefined) {
    return undefined;
  }
  const failed = (reason: string, message: string): JsonObject => ({
    ...status,
    conditions: [...conditions, { type: "Failed", status: "True", reason, message }],
  });
  const request = parseCertificateRequest(spec["request"] as string);
  const usages = (spec["usages"] ?? []) as readonly string[];
  if ("error" in request) return failed("SignerValidationFailure", request.error);
  const refused = refusesToSign(kind, request, usages);
  if (refused !== undefined) return failed("SignerValidationFailure", refused);
  if (authority === undefined)
    return failed("SignerUnavailable", "this server is simulated and has no key to sign with");
  const { lifetimeSecondsMax = yearSeconds } = authority;
  const asked = (spec["expirationSeconds"] as number | undefined) ?? lifetimeSecondsMax;
  const lifetimeSeconds = Math.min(asked, lifetimeSecondsMax);
  const issued = authority.issue({
    request,
    usages,
    notBeforeSeconds: nowSeconds - Math.min(backdateSecondsMax, Math.floor(lifetimeSeconds / 10)),
    notAfterSeconds: nowSeconds + lifetimeSeconds,
  });
  if ("error" in issued) return failed("SignerValidationFailure", issued.error);
  return { ...status, certificate: encodeBase64(new TextEncoder().encode(issued.pem)) };
}

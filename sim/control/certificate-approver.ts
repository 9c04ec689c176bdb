/**
 * Approves what nodes ask for so that nobody has to sit there: a node's first client certificate, and the next ones that it
 * asks for as itself. Whether the asker may have that is the authorizer's question. Serving certificates are left to
 * people, as in a real cluster: their names cannot be looked at from here.
 * Source: the published approving controller: what it recognizes, whom it asks about, its reason and messages.
 */
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import type { Outcome } from "../client/work-queue.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { parseCertificateRequest } from "../kinds/certificates/request.ts";
import { refusesToSign, signerKindOf } from "../kinds/certificates/signers.ts";
import { type CertificateParts, CertificateRequests } from "./certificate-requests.ts";

interface Recognized {
  /** What the asker must be allowed to create: a subresource of requests. */
  readonly permission: "selfnodeclient" | "nodeclient";
  readonly message: string;
}

export class CertificateApprover {
  private readonly parts: CertificateParts;
  private readonly requests: CertificateRequests;

  constructor(parts: CertificateParts) {
    this.parts = parts;
    this.requests = new CertificateRequests(parts, {
      queue: "certificate_approver",
      concerns: (request) => recognized(parts.dialect, request) !== undefined,
      work: (request, done) => this.decide(request, done),
    });
  }

  start(): void {
    this.requests.start();
  }

  private decide(request: JsonObject, done: (outcome: Outcome) => void): void {
    const found = recognized(this.parts.dialect, request);
    if (found === undefined) {
      done("done");
      return;
    }
    this.isAllowed(request, found, (isAllowed) => {
      if (isAllowed) this.approve(request, found, done);
      else done("again"); // roles may be bound later
    });
  }

  private isAllowed(request: JsonObject, { permission }: Recognized, done: (isAllowed: boolean) => void): void {
    const { client, dialect } = this.parts;
    const { username, uid, groups, extra } = (request["spec"] ?? {}) as JsonObject;
    const group = groupInDialect(dialect, "authorization.svc.io");
    const resource = {
      group: this.requests.group,
      version: "*",
      resource: "certificatesigningrequests",
      subresource: permission,
      verb: "create",
    };
    const body = {
      apiVersion: `${group}/v1`,
      kind: "SubjectAccessReview",
      spec: {
        user: username ?? "",
        groups: groups ?? [],
        ...(uid === undefined ? {} : { uid }),
        ...(extra === undefined ? {} : { extra }),
        resourceAttributes: resource,
      },
    } as JsonObject;
    client.call({ method: "POST", path: `/apis/${group}/v1/subjectaccessreviews`, body }, ({ object }) =>
      done(((object?.["status"] ?? {}) as { readonly allowed?: boolean }).allowed === true),
    );
  }

  private approve(request: JsonObject, { message }: Recognized, done: (outcome: Outcome) => void): void {
    const status = (request["status"] ?? {}) as JsonObject;
    const conditions = (status["conditions"] ?? []) as readonly JsonObject[];
    const approval = { type: "Approved", status: "True", reason: "AutoApproved", message };
    this.requests.put({ ...request, status: { ...status, conditions: [...conditions, approval] } }, "approval", done);
  }
}

/** Undefined: decided, or nothing that is approved without a person. */
function recognized(dialect: Dialect, object: JsonObject): Recognized | undefined {
  const spec = (object["spec"] ?? {}) as {
    readonly request?: string;
    readonly signerName?: string;
    readonly usages?: readonly string[];
    readonly username?: string;
  };
  const { conditions = [], certificate } = (object["status"] ?? {}) as {
    readonly conditions?: readonly JsonObject[];
    readonly certificate?: string;
  };
  if (certificate !== undefined || conditions.some(({ type }) => type === "Approved" || type === "Denied"))
    return undefined;
  if (signerKindOf(dialect, spec.signerName ?? "") !== "kube-apiserver-client-kubelet") return undefined;
  const request = parseCertificateRequest(spec.request ?? "");
  if ("error" in request || refusesToSign("kube-apiserver-client-kubelet", request, spec.usages ?? []) !== undefined)
    return undefined;
  return request.commonName === spec.username
    ? {
        permission: "selfnodeclient",
        message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
      }
    : { permission: "nodeclient", message: "Auto approving kubelet client certificate after SubjectAccessReview." };
}

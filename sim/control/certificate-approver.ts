/**
 * Approves what nodes ask for so that nobody has to sit there: a node's first client certificate, and the next ones that it
 * asks for as itself. Whether the asker may have that is the authorizer's question. Serving certificates are left to
 * people, as in a real cluster: their names cannot be looked at from here.
 * Source: the published approving controller: what it recognizes, whom it asks about, its reason and messages.
 */
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import type { ControlClient } from "../client/control-client.ts";
import type { Reflectors } from "../client/reflectors.ts";
import { type Outcome, WorkQueue } from "../client/work-queue.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { metadataOf } from "../contract/objects.ts";
import { parseCertificateRequest } from "../kinds/certificates/request.ts";
import { refusesToSign, signerKindOf } from "../kinds/certificates/signers.ts";

export interface CertificateApproverOptions {
  readonly client: ControlClient;
  readonly reflectors: Reflectors;
  readonly dialect: Dialect;
}

interface Recognized {
  /** What the asker must be allowed to create: a subresource of requests. */
  readonly permission: "selfnodeclient" | "nodeclient";
  readonly message: string;
}

export class CertificateApprover {
  private readonly options: CertificateApproverOptions;
  private readonly group: string;
  private readonly path: string;
  private readonly queue: WorkQueue<string>;

  constructor(options: CertificateApproverOptions) {
    const { client, dialect } = options;
    this.options = options;
    this.group = groupInDialect(dialect, "certificates.svc.io");
    this.path = `/apis/${this.group}/v1/certificatesigningrequests`;
    this.queue = new WorkQueue({
      process: client.process,
      count: client.queueCounts.of("certificate_approver"),
      work: (name, done) => this.sync(name, done),
    });
  }

  start(): void {
    const { reflectors, dialect } = this.options;
    const look = (object: JsonObject): void => {
      if (recognized(dialect, object) !== undefined) this.queue.add(metadataOf(object).name ?? "");
    };
    reflectors.follow(this.path, {
      replaced: (objects) => objects.forEach(look),
      changed: look,
      gone: (object) => this.queue.drop(metadataOf(object).name ?? ""),
    });
    reflectors.onceSynced(() => this.queue.open());
  }

  private sync(name: string, done: (outcome: Outcome) => void): void {
    const { client, dialect } = this.options;
    client.get(`${this.path}/${name}`, ({ status, object }) => {
      const found = status === 200 && object !== undefined ? recognized(dialect, object) : undefined;
      if (found === undefined || object === undefined) {
        done(status === 200 || status === 404 ? "done" : "again");
        return;
      }
      this.isAllowed(object, found, (isAllowed) => {
        if (isAllowed) this.approve(name, object, found, done);
        else done("again"); // roles may be bound later
      });
    });
  }

  private isAllowed(request: JsonObject, { permission }: Recognized, done: (isAllowed: boolean) => void): void {
    const { client, dialect } = this.options;
    const { username, uid, groups, extra } = (request["spec"] ?? {}) as JsonObject;
    const group = groupInDialect(dialect, "authorization.svc.io");
    const resource = {
      group: this.group,
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

  private approve(name: string, request: JsonObject, { message }: Recognized, done: (outcome: Outcome) => void): void {
    const status = (request["status"] ?? {}) as JsonObject;
    const conditions = (status["conditions"] ?? []) as readonly JsonObject[];
    const approval = { type: "Approved", status: "True", reason: "AutoApproved", message };
    const body = { ...request, status: { ...status, conditions: [...conditions, approval] } };
    this.options.client.call({ method: "PUT", path: `${this.path}/${name}/approval`, body }, (answer) =>
      done(answer.status === 200 || answer.status === 404 ? "done" : "again"),
    );
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

import { describe, expect, it } from "vitest";
import { nodeRequest, personRequest, superuserRequest } from "../../kinds/certificates/requests.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { type Answer, TestBed } from "../test-bed.fixture.ts";

const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const client = "kubernetes.io/kube-apiserver-client";
const usages = ["digital signature", "client auth"];

const bedWith = (options: ConstructorParameters<typeof TestBed>[0] = {}): TestBed =>
  new TestBed({ profile: kubernetesProfile, ...options });
const ask = (bed: TestBed, spec: object = {}, as = "alice"): Answer =>
  bed.ask(`POST ${path}`, {
    as,
    body: { metadata: { name: "r" }, spec: { request: personRequest, signerName: client, usages, ...spec } },
  });
const condition = (type: string, more: object = {}): object => ({ type, status: "True", reason: "Test", ...more });
const put = (bed: TestBed, part: "approval" | "status", status: object, as = "admin"): Answer => {
  const live = bed.ask(`GET ${path}/r`, { as: "admin" }).body;
  return bed.ask(`PUT ${path}/r/${part}`, {
    as,
    body: { ...live, status: { ...(live["status"] as object), ...status } },
  });
};
const causes = (answer: Answer): unknown =>
  (answer.at("details.causes") as JsonObject[]).map(({ field, message }) => `${field as string}: ${message as string}`);

describe("a request for a certificate", () => {
  it("is from whom it came from, and stays what it was", () => {
    const bed = bedWith();
    const made = ask(bed, { username: "somebody", groups: ["system:masters"], uid: "9" });
    expect([made.status, made.at("spec.username"), made.at("spec.uid"), made.at("spec.groups")]).toEqual([
      201,
      "alice",
      "2",
      ["system:authenticated"],
    ]);
    const changed = bed.merge(`${path}/r`, {
      spec: { username: "bob", usages: ["any"] },
      status: { certificate: "eA==" },
    });
    expect([changed.status, changed.at("spec.username"), changed.at("spec.usages")]).toEqual([200, "alice", usages]);
    expect(changed.at("status")).toEqual({});
  });

  it("says what is wrong with it", () => {
    const bed = bedWith();
    const spec = { request: "aGVsbG8=", usages: ["any", "any", "fun"], signerName: "nobody", expirationSeconds: 599 };
    const refused = ask(bed, spec);
    expect(refused.status).toBe(422);
    expect((causes(refused) as string[]).map((text) => text.replace(/: supported values.*/, ""))).toEqual([
      'spec.request: Invalid value: "aGVsbG8=": PEM block type must be CERTIFICATE REQUEST',
      'spec.usages[1]: Duplicate value: "any"',
      'spec.usages[2]: Unsupported value: "fun"',
      "spec.signerName: Invalid value: \"nobody\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
      "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)",
    ]);
    expect(causes(ask(bed, { usages: [] }))).toEqual(["spec.usages: Required value"]);
  });

  it("cannot ask for the superusers' group", () => {
    const refused = ask(bedWith(), { request: superuserRequest });
    expect([refused.status, refused.at("message")]).toEqual([
      403,
      `certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of ${client} signer with system:masters group is not allowed`,
    ]);
    expect(ask(bedWith(), { request: superuserRequest, signerName: "example.com/own" }).status).toBe(201);
  });
});

describe("decisions on requests", () => {
  it("are made by approval alone, once and for all, one way", () => {
    const bed = bedWith({ controllers: { certificates: false } });
    ask(bed);
    const byStatus = put(bed, "status", { conditions: [condition("Approved")] });
    expect([byStatus.status, causes(byStatus)]).toEqual([
      422,
      ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    ]);
    const both = put(bed, "approval", { conditions: [condition("Approved"), condition("Denied")] });
    expect(causes(both)).toEqual([
      'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ]);
    const half = put(bed, "approval", { conditions: [condition("Approved", { status: "False" })] });
    expect(causes(half)).toEqual(['status.conditions[0].status: Unsupported value: "False": supported values: "True"']);
    bed.advance(5);
    const approved = put(bed, "approval", { conditions: [condition("Approved")], certificate: "eA==" });
    expect([approved.status, approved.at("status")]).toEqual([
      200,
      {
        conditions: [
          {
            ...condition("Approved"),
            lastUpdateTime: "2030-01-01T00:00:05Z",
            lastTransitionTime: "2030-01-01T00:00:05Z",
          },
        ],
      },
    ]);
    expect(causes(put(bed, "approval", { conditions: [] }))).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
    expect(causes(put(bed, "approval", { conditions: [condition("Approved", { reason: "Other" })] }))).toEqual([
      'status.conditions: Forbidden: updates may not modify a condition of type "Approved"',
    ]);
  });

  it("need a verb on the signer, and so does signing", () => {
    const bed = bedWith({ authorizationModes: ["RBAC"], controllers: { certificates: false } });
    ask(bed, {}, "admin");
    const rules = [
      { apiGroups: ["certificates.k8s.io"], resources: ["*"], verbs: ["update"] },
      { apiGroups: ["certificates.k8s.io"], resources: ["signers"], resourceNames: [client], verbs: ["approve"] },
    ];
    bed.ask(`POST ${rbac}/clusterroles`, { as: "admin", body: { metadata: { name: "a" }, rules: rules.slice(0, 1) } });
    const subjects = [{ kind: "User", name: "alice" }];
    const roleRef = { kind: "ClusterRole", name: "a" };
    bed.ask(`POST ${rbac}/clusterrolebindings`, { as: "admin", body: { metadata: { name: "b" }, roleRef, subjects } });
    const approve = (): Answer => put(bed, "approval", { conditions: [condition("Approved")] }, "alice");
    expect([approve().status, approve().at("message")]).toEqual([
      403,
      `certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to approve requests with signerName "${client}"`,
    ]);
    bed.merge(`${rbac}/clusterroles/a`, { rules }, { as: "admin" });
    expect(approve().status).toBe(200);
    const certificate = btoa("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n");
    expect(put(bed, "status", { certificate }, "alice").at("message")).toContain("user not permitted to sign requests");
    expect(put(bed, "status", { certificate: btoa("text") }).at("details.causes.0.message")).toContain(
      "must contain at least one CERTIFICATE PEM block",
    );
    expect(put(bed, "status", { certificate }).status).toBe(200);
    const another = btoa("-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n");
    expect(causes(put(bed, "status", { certificate: another }))).toEqual([
      "status.certificate: Forbidden: updates may not modify existing certificate content",
    ]);
  });

  it("end as Failed in a simulation, which has no key, and where the signer's rules are broken", () => {
    const failure = (spec: object): unknown => {
      const bed = bedWith();
      ask(bed, spec);
      put(bed, "approval", { conditions: [condition("Approved")] });
      bed.advance(1);
      const found = (bed.ask(`GET ${path}/r`).at("status.conditions") as JsonObject[]).find(
        ({ type }) => type === "Failed",
      );
      return found && [found["reason"], found["message"]];
    };
    expect(failure({})).toEqual(["SignerUnavailable", "this server is simulated and has no key to sign with"]);
    expect(failure({ usages: ["server auth"] })).toEqual([
      "SignerValidationFailure",
      "invalid usage for client certificate: server auth",
    ]);
    const kubelet = { signerName: "kubernetes.io/kube-apiserver-client-kubelet" };
    expect(failure(kubelet)).toEqual(["SignerValidationFailure", "subject organization is not system:nodes"]);
    expect(failure({ ...kubelet, request: nodeRequest })).toEqual([
      "SignerValidationFailure",
      "subjectAltNames are not allowed",
    ]);
    const serving = { signerName: "kubernetes.io/kubelet-serving", usages: ["server auth"], request: nodeRequest };
    expect(failure(serving)).toEqual(["SignerUnavailable", "this server is simulated and has no key to sign with"]);
    expect(failure({ signerName: "example.com/own" })).toBeUndefined();
  });
});

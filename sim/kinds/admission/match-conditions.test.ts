import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Answer, configMaps, TestBed } from "../../apiserver/test-bed.fixture.ts";
import type { WebhookCaller } from "../../apiserver/admission/webhooks.ts";

const configurations = "/apis/admissionregistration.svc.io/v1/validatingwebhookconfigurations";

/** A server that asks one webhook, which refuses everything, when its conditions are met. */
class Cluster {
  readonly bed: TestBed;
  readonly stored: Answer;

  constructor(conditions: readonly (string | JsonObject)[], more: JsonObject = {}) {
    const webhooks: WebhookCaller = (call, done) => {
      const { uid } = call.body["request"] as { readonly uid: string };
      const response = { uid, allowed: false, status: { message: "asked" } };
      done({ status: 200, body: { kind: "AdmissionReview", apiVersion: "admission.svc.io/v1", response } });
      return () => {};
    };
    this.bed = new TestBed({ webhooks, authorizationModes: ["RBAC"] });
    const webhook = {
      name: "one.example.org",
      clientConfig: { url: "https://one.example.org/" },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      matchConditions: conditions.map((each, at) =>
        typeof each === "string" ? { name: `c${at}`, expression: each } : each,
      ),
      ...more,
    };
    const body = { metadata: { name: "hooks" }, webhooks: [webhook] };
    this.stored = this.bed.ask(`POST ${configurations}`, { as: "admin", body });
  }

  /** The message of the answer to a create; "" when it was made. */
  create(metadata: JsonObject = {}): string {
    const body = { metadata: { name: "a", ...metadata }, data: { k: "v" } };
    const { status, body: answer } = this.bed.ask(`POST ${configMaps}`, { as: "admin", body });
    return status === 201 ? "" : `${status} ${String(answer["message"])}`;
  }

  causes(): readonly (readonly [field: string, message: string])[] {
    if (this.stored.status !== 422) throw new Error(this.stored.text);
    const { causes } = this.stored.body["details"] as { causes: { field: string; message: string }[] };
    return causes.map(({ field, message }) => [field, message]);
  }
}

const refused = '400 admission webhook "one.example.org" denied the request: asked';

describe("match conditions", () => {
  it.each([
    "object.metadata.name == 'a' && object.data.k == 'v' && oldObject == null",
    "request.operation == 'CREATE' && request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'",
    "request.namespace == 'default' && request.name == 'a' && request.subResource == '' && !request.dryRun",
    "request.userInfo.username == 'admin' && request.userInfo.groups.exists(g, g == 'system:masters')",
    "!('system:nodes' in request.userInfo.groups) && request.options.kind == 'CreateOptions'",
    "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()",
    "!authorizer.serviceAccount('default', 'x').group('').resource('secrets').check('get').allowed()",
    "authorizer.path('/healthz').check('get').allowed() && authorizer.requestResource.check('create').allowed()",
    "object.metadata.?labels.?app.orValue('none') == 'none'",
  ])("let the webhook be asked: %s", (expression) => {
    expect(new Cluster([expression]).create()).toBe(refused);
    expect(new Cluster([`!(${expression})`]).create()).toBe("");
  });

  it("must all be true, and one that is false decides whatever the others do", () => {
    expect(new Cluster(["true", "true"]).create()).toBe(refused);
    expect(new Cluster(["true", "false"]).create()).toBe("");
    expect(new Cluster(["object.spec.x == 1", "false"]).create()).toBe("");
  });

  it("that cannot be evaluated decide by the failure policy", () => {
    const broken = "object.spec.x == 1";
    expect(new Cluster([broken]).create()).toBe(
      `403 configmaps "a" is forbidden: expression '${broken}' resulted in error: no such key: spec`,
    );
    expect(new Cluster([broken, "object.y"]).create()).toContain("is forbidden: [expression 'object.spec.x == 1'");
    expect(new Cluster([broken], { failurePolicy: "Ignore" }).create()).toBe("");
  });

  it("cannot keep the server busy", () => {
    const all =
      "object.metadata.labels.all(a, object.metadata.labels.all(b, object.metadata.labels.all(c, a + b != c)))";
    const labels = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`l${at}`, "x"]));
    expect(new Cluster([all]).create({ labels })).toMatch(/^403 .*actual cost limit exceeded/);
  });

  it("are refused when they are stored, for what nobody could evaluate", () => {
    const at = "webhooks[0].matchConditions";
    expect(new Cluster(["1"]).causes()).toEqual([[`${at}[0].expression`, 'Invalid value: "1": must evaluate to bool']]);
    expect(new Cluster(["objekt.a"]).causes()).toEqual([
      [
        `${at}[0].expression`,
        'Invalid value: "objekt.a": compilation failed: ERROR: <input>:1:1: undeclared reference to ' +
          "'objekt' (in container '')\n | objekt.a\n | ^",
      ],
    ]);
    expect(new Cluster(["request.object.a == 1"]).causes()[0]?.[1]).toContain("undefined field 'object'");
    expect(new Cluster([{ name: "", expression: " " }]).causes()).toEqual([
      [`${at}[0].expression`, "Required value"],
      [`${at}[0].name`, "Required value"],
    ]);
    const named = (name: string): JsonObject => ({ name, expression: "true" });
    expect(new Cluster([named("a b")]).causes()[0]?.[0]).toBe(`${at}[0].name`);
    expect(new Cluster([named("a"), named("a")]).causes()).toEqual([[`${at}[1].name`, 'Duplicate value: "a"']]);
    expect(new Cluster(Array.from({ length: 65 }, () => "true")).causes()).toEqual([
      [at, "Too many: 65: must have at most 64 items"],
    ]);
  });
});

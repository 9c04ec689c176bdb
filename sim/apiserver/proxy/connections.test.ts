/** What webhooks and policies hear of requests that are handed on. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { TestBed } from "../test-bed.fixture.ts";

const core = "/api/v1/namespaces/default";
const group = "/apis/admissionregistration.svc.io/v1";
const rule = { operations: ["CONNECT"], apiGroups: [""], apiVersions: ["v1"], resources: ["*/proxy"] };

/** A server with a service, and somebody who hears of all connections. */
class Cluster {
  readonly requests: JsonObject[] = [];
  readonly targets: string[] = [];
  readonly bed: TestBed;
  reply: JsonObject = { allowed: true };

  constructor() {
    this.bed = new TestBed({
      forward: ({ target }, done) => {
        this.targets.push(target);
        done({ status: 200, headers: {}, body: new Uint8Array() });
        return () => {};
      },
      webhooks: (call, done) => {
        const request = call.body["request"] as JsonObject;
        this.requests.push(request);
        const response = { uid: request["uid"] as string, ...this.reply };
        done({ status: 200, body: { kind: "AdmissionReview", apiVersion: "admission.svc.io/v1", response } });
        return () => {};
      },
    });
    const subsets = [{ addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 80 }] }];
    this.make(`${core}/services`, { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } });
    this.make(`${core}/endpoints`, { metadata: { name: "s" }, subsets });
  }

  make(path: string, body: JsonObject): void {
    const answer = this.bed.ask(`POST ${path}`, { body });
    if (answer.status !== 201) throw new Error(answer.text);
  }

  webhook(kind: "mutating" | "validating"): void {
    const webhook = {
      name: "one.example.org",
      clientConfig: { url: "https://one.example.org" },
      rules: [rule],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    this.make(`${group}/${kind}webhookconfigurations`, { metadata: { name: "w" }, webhooks: [webhook] });
  }
}

describe("connections to what is behind a proxy", () => {
  it("are shown to webhooks with their options, which they may refuse", () => {
    const cluster = new Cluster();
    cluster.webhook("validating");
    expect(cluster.bed.ask(`POST ${core}/services/s/proxy/a%20b/c/?q=1`).status).toBe(200);
    expect(cluster.requests).toEqual([
      expect.objectContaining({
        operation: "CONNECT",
        kind: { group: "", version: "v1", kind: "ServiceProxyOptions" },
        resource: { group: "", version: "v1", resource: "services" },
        subResource: "proxy",
        namespace: "default",
        name: "s",
        object: { kind: "ServiceProxyOptions", apiVersion: "v1", path: "a b/c" },
        oldObject: null,
        options: null,
        dryRun: false,
      }),
    ]);
    cluster.reply = { allowed: false, status: { message: "not there" } };
    const refused = cluster.bed.ask(`GET ${core}/services/s/proxy/`);
    expect([refused.status, refused.at("message")]).toEqual([
      400,
      'admission webhook "one.example.org" denied the request: not there',
    ]);
    expect(cluster.bed.ask("GET /api/v1/nodes/n/proxy/x").status).toBe(400);
    expect(cluster.requests.at(-1)).toMatchObject({ object: { kind: "NodeProxyOptions", path: "x" } });
    expect(cluster.targets).toEqual(["/a%20b/c/?q=1"]);
  });

  it("go where a webhook says", () => {
    const cluster = new Cluster();
    cluster.webhook("mutating");
    const patch = btoa(JSON.stringify([{ op: "replace", path: "/path", value: "/other place" }]));
    cluster.reply = { allowed: true, patchType: "JSONPatch", patch };
    expect(cluster.bed.ask(`GET ${core}/services/s/proxy/a?q=1`).status).toBe(200);
    expect(cluster.bed.ask(`GET ${core}/services/s/proxy/a/`).status).toBe(200);
    expect(cluster.targets).toEqual(["/other%20place?q=1", "/other%20place/"]);
  });

  it("are judged by policies", () => {
    const cluster = new Cluster();
    const validations = [{ expression: "!has(object.path) || !object.path.startsWith('secret')" }];
    const matchConstraints = { resourceRules: [rule] };
    cluster.make(`${group}/validatingadmissionpolicies`, {
      metadata: { name: "p" },
      spec: { matchConstraints, validations },
    });
    cluster.make(`${group}/validatingadmissionpolicybindings`, {
      metadata: { name: "p" },
      spec: { policyName: "p", validationActions: ["Deny"] },
    });
    const statusOf = (path: string): number => cluster.bed.ask(`GET ${core}/services/s/proxy/${path}`).status;
    expect([statusOf("secret/x"), statusOf("open"), statusOf("")]).toEqual([422, 200, 200]);
  });

  it("do not change their protocol, and say so; one that may stay as it is does", () => {
    const { bed, targets } = new Cluster();
    const asking = (upgrade: string) =>
      bed.ask(`GET ${core}/services/s/proxy/a`, { headers: { connection: "keep-alive, Upgrade", upgrade } });
    const refused = asking("websocket");
    expect([refused.status, refused.at("message"), targets]).toEqual([
      400,
      "this server does not upgrade connections to other protocols: websocket was asked for",
      [],
    ]);
    expect([asking("h2c").status, targets]).toEqual([200, ["/a"]]);
  });

  it("are never made on trial", () => {
    const { bed, targets } = new Cluster();
    const answer = bed.ask(`POST ${core}/services/s/proxy/a?dryRun=All`);
    expect([answer.status, answer.at("message"), targets]).toEqual([400, "dryRun is not supported", []]);
  });
});

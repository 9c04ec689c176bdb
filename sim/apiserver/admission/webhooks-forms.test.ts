/** What webhooks are told of a request: subresources in their own kinds, other versions, options, users. */
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Answer, configMaps, TestBed } from "../test-bed.fixture.ts";

const configurations = "/apis/admissionregistration.svc.io/v1";
const pods = "/api/v1/namespaces/default/pods";
const merge = { "content-type": "application/merge-patch+json" };

/** A server whose one webhook of a kind hears of `rule`; `requests` is what it was sent. */
class Cluster {
  readonly requests: JsonObject[] = [];
  readonly bed: TestBed;
  reply: (request: JsonObject) => JsonObject = () => ({ allowed: true });

  constructor(kind: "mutating" | "validating", rule: JsonObject, more: JsonObject = {}) {
    this.bed = new TestBed({
      webhooks: (call, done) => {
        const request = call.body["request"] as JsonObject;
        this.requests.push(request);
        const response = { uid: request["uid"] as string, ...this.reply(request) };
        done({ status: 200, body: { kind: "AdmissionReview", apiVersion: "admission.svc.io/v1", response } });
        return () => {};
      },
    });
    const webhook = {
      name: "one.example.org",
      clientConfig: { url: "https://one.example.org" },
      rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], ...rule }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...more,
    };
    this.ok(`POST ${configurations}/${kind}webhookconfigurations`, { metadata: { name: "w" }, webhooks: [webhook] });
  }

  ok(request: string, body?: unknown, ask: object = {}): Answer {
    const answer = this.bed.ask(request, { as: "admin", body, ...ask });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer;
  }

  get last(): JsonObject {
    return this.requests.at(-1) as JsonObject;
  }
}

const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
const setting = (path: string, value: Json): JsonObject => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: btoa(JSON.stringify([{ op: "add", path, value }])),
});

describe("a webhook", () => {
  it("is asked about an eviction, and not about the deletion that follows", () => {
    const cluster = new Cluster("validating", { resources: ["pods", "pods/*"] });
    cluster.ok(`POST ${pods}`, pod);
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
    cluster.reply = () => ({ allowed: false, status: { code: 429, message: "not now" } });
    const refused = cluster.bed.ask(`POST ${pods}/p/eviction`, { body: eviction });
    expect([refused.status, cluster.bed.ask(`GET ${pods}/p`).status]).toEqual([429, 200]);
    cluster.reply = () => ({ allowed: true });
    cluster.requests.length = 0;
    cluster.ok(`POST ${pods}/p/eviction`, eviction);
    expect(cluster.requests).toHaveLength(1);
    expect(cluster.last).toMatchObject({
      operation: "CREATE",
      kind: { group: "policy", version: "v1", kind: "Eviction" },
      resource: { group: "", version: "v1", resource: "pods" },
      subResource: "eviction",
      name: "p",
      object: { kind: "Eviction", metadata: { name: "p" } },
      oldObject: null,
    });
  });

  it("is asked about a binding, and may change it", () => {
    const cluster = new Cluster("mutating", { resources: ["pods/binding"] });
    cluster.ok(`POST ${pods}`, pod);
    cluster.reply = () => setting("/target/name", "other");
    const target = { kind: "Node", name: "n" };
    cluster.ok(`POST ${pods}/p/binding`, { metadata: { name: "p" }, target });
    expect(cluster.last).toMatchObject({ kind: { kind: "Binding" }, object: { target } });
    expect(cluster.ok(`GET ${pods}/p`).at("spec.nodeName")).toBe("other");
  });

  it("is shown a scale as a scale, and may change it", () => {
    const cluster = new Cluster("mutating", { resources: ["*/scale"] });
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const template = { metadata: { labels: { a: "b" } }, spec: pod.spec };
    const spec = { replicas: 2, selector: { matchLabels: { a: "b" } }, template };
    cluster.ok(`POST ${deployments}`, { metadata: { name: "d" }, spec });
    expect(cluster.requests).toEqual([]);
    cluster.reply = () => setting("/spec/replicas", 7);
    const scaled = cluster.ok(`PATCH ${deployments}/d/scale`, { spec: { replicas: 5 } }, { headers: merge });
    expect(cluster.last).toMatchObject({
      operation: "UPDATE",
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      resource: { group: "apps", resource: "deployments" },
      object: { kind: "Scale", spec: { replicas: 5 } },
      oldObject: { kind: "Scale", spec: { replicas: 2 } },
    });
    expect([scaled.at("spec.replicas"), cluster.ok(`GET ${deployments}/d`).at("spec.replicas")]).toEqual([7, 7]);
  });

  it("is asked about questions and tokens", () => {
    const cluster = new Cluster("validating", { resources: ["*/*"] });
    const spec = { nonResourceAttributes: { verb: "get", path: "/" } };
    cluster.ok("POST /apis/authorization.svc.io/v1/selfsubjectaccessreviews", { spec });
    expect(cluster.last).toMatchObject({ kind: { kind: "SelfSubjectAccessReview" }, object: { spec } });
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    cluster.ok(`POST ${accounts}`, { metadata: { name: "robot" } });
    cluster.ok(`POST ${accounts}/robot/token`, { spec: { audiences: ["a"] } });
    expect(cluster.last).toMatchObject({ kind: { kind: "TokenRequest" }, subResource: "token", name: "robot" });
  });

  it("is told the options and who asks, down to the extra fields", () => {
    const cluster = new Cluster("validating", { resources: ["configmaps"] });
    const headers = { "impersonate-user": "eve", "impersonate-group": "g", "impersonate-extra-scope": "x" };
    const create = `POST ${configMaps}?fieldManager=me&fieldValidation=Strict`;
    cluster.ok(create, { metadata: { name: "a" } }, { headers });
    expect(cluster.last).toMatchObject({
      options: { kind: "CreateOptions", fieldManager: "me", fieldValidation: "Strict" },
      userInfo: { username: "eve", extra: { scope: ["x"] } },
    });
    const { uid } = cluster.ok(`GET ${configMaps}/a`).at("metadata") as { uid: string };
    const preconditions = { uid };
    cluster.ok(`DELETE ${configMaps}/a`, { gracePeriodSeconds: 3, propagationPolicy: "Foreground", preconditions });
    const apiVersion = "meta.svc.io/v1";
    const options = { gracePeriodSeconds: 3, preconditions, propagationPolicy: "Foreground" };
    expect(cluster.last["options"]).toEqual({ kind: "DeleteOptions", apiVersion, ...options });
  });

  it("is heard with its warnings when it refuses", () => {
    const cluster = new Cluster("mutating", { resources: ["configmaps"] });
    cluster.reply = () => ({ allowed: false, warnings: ["mind the gap"] });
    const refused = cluster.bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
    expect([refused.status, refused.headers["warning"]]).toEqual([400, ['299 - "mind the gap"']]);
  });

  it("fails the request when it leaves no object of the kind, and cannot move one elsewhere", () => {
    const cluster = new Cluster("mutating", { resources: ["configmaps"] });
    const outcome = (reply: JsonObject): unknown[] => {
      cluster.reply = () => reply;
      const { status, reason, body } = cluster.bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
      return [status, reason, body["message"]];
    };
    expect(outcome(setting("/data", { a: 1 }))).toEqual([
      500,
      "InternalError",
      "Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    ]);
    expect(outcome(setting("/kind", "Pod"))[0]).toBe(500);
    expect(outcome(setting("/metadata/namespace", "kube-system"))).toEqual([
      400,
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request",
    ]);
  });

  it("is told of a namespace as lying in itself", () => {
    const cluster = new Cluster("validating", { resources: ["namespaces"], scope: "Cluster" });
    cluster.ok("POST /api/v1/namespaces", { metadata: { name: "n" } });
    expect(cluster.last).toMatchObject({ name: "n", namespace: "n" });
  });

  it("has no say about policies", () => {
    const cluster = new Cluster("validating", { resources: ["*/*"] });
    const spec = { validations: [{ expression: "true" }], matchConstraints: { resourceRules: [] } };
    cluster.bed.ask(`POST ${configurations}/validatingadmissionpolicies`, { body: { metadata: { name: "p" }, spec } });
    expect(cluster.requests).toEqual([]);
  });
});

describe("a webhook for another version", () => {
  const widgets = (version: string): string => `/apis/shop.example.com/${version}/namespaces/default/widgets`;

  function defined(cluster: Cluster): void {
    const schema = { openAPIV3Schema: { type: "object", properties: { size: { type: "integer" } } } };
    const version = (name: string, storage: boolean) => ({ name, storage, served: true, schema });
    cluster.ok("POST /apis/apiextensions.svc.io/v1/customresourcedefinitions", {
      metadata: { name: "widgets.shop.example.com" },
      spec: {
        group: "shop.example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [version("v1", true), version("v2", false)],
      },
    });
    cluster.bed.advance(1);
  }
  const widget = { apiVersion: "shop.example.com/v1", kind: "Widget", metadata: { name: "a", labels: { a: "b" } } };

  it("is asked in its version, and what it makes of the object is stored", () => {
    const cluster = new Cluster("mutating", { resources: ["widgets"], apiVersions: ["v2"] });
    defined(cluster);
    cluster.reply = () => setting("/size", 3);
    const made = cluster.ok(`POST ${widgets("v1")}`, widget);
    expect(cluster.last).toMatchObject({
      kind: { version: "v2" },
      resource: { version: "v2" },
      requestKind: { version: "v1" },
      requestResource: { version: "v1" },
      object: { apiVersion: "shop.example.com/v2", metadata: { labels: { a: "b" } } },
    });
    expect([made.at("apiVersion"), made.at("size")]).toEqual(["shop.example.com/v1", 3]);
    cluster.ok(`DELETE ${widgets("v1")}/a`);
    expect(cluster.last).toMatchObject({ object: null, oldObject: { apiVersion: "shop.example.com/v2" } });
  });

  it("is shown whole numbers of 64 bits as they are", () => {
    const cluster = new Cluster("validating", { resources: ["widgets"] });
    defined(cluster);
    const wide = 9_007_199_254_740_993n;
    cluster.ok(`POST ${widgets("v1")}`, `${JSON.stringify(widget).slice(0, -1)},"size":${wide}}`);
    expect((cluster.last["object"] as Record<string, unknown>)["size"]).toBe(wide);
  });

  it("is not asked when it wants exact matches, nor when a rule names the version of the request", () => {
    const exact = new Cluster("validating", { resources: ["widgets"], apiVersions: ["v2"] }, { matchPolicy: "Exact" });
    defined(exact);
    exact.ok(`POST ${widgets("v1")}`, widget);
    expect(exact.requests).toEqual([]);
    const both = new Cluster("validating", { resources: ["widgets"], apiVersions: ["v2", "v1"] });
    defined(both);
    both.ok(`POST ${widgets("v1")}`, widget);
    expect(both.last).toMatchObject({ kind: { version: "v1" }, requestKind: { version: "v1" } });
  });

  it("is shown an event in its group's form", () => {
    const rule = { resources: ["events"], apiGroups: ["events.svc.io"] };
    const cluster = new Cluster("validating", rule);
    const involvedObject = { kind: "Pod", namespace: "default", name: "p" };
    cluster.ok("POST /api/v1/namespaces/default/events", { metadata: { name: "e" }, involvedObject, message: "m" });
    expect(cluster.last).toMatchObject({
      resource: { group: "events.svc.io" },
      requestResource: { group: "" },
      object: { apiVersion: "events.svc.io/v1", regarding: involvedObject, note: "m" },
    });
  });
});

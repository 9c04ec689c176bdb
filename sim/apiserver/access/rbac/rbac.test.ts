import { drained } from "../../../../wire/steps.ts";
import { rulesMissing } from "./coverage.ts";
import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../../../contract/profile.ts";
import { configMaps, TestBed } from "../../test-bed.fixture.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const bed = (options = {}): TestBed =>
  new TestBed({ profile: kubernetesProfile, authorizationModes: ["RBAC"], ...options });

const role = (name: string, rules: readonly object[]): object => ({ metadata: { name }, rules });
const binding = (name: string, kind: string, ref: string, ...subjects: readonly object[]): object => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: ref },
  subjects,
});
const user = (name: string): object => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name });
const pods = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };

function grant(server: TestBed, rules: readonly object[], namespace = "default"): void {
  const inside = `${rbac}/namespaces/${namespace}`;
  expect(server.ask(`POST ${inside}/roles`, { as: "admin", body: role("r", rules) }).status).toBe(201);
  const bound = binding("b", "Role", "r", user("alice"));
  expect(server.ask(`POST ${inside}/rolebindings`, { as: "admin", body: bound }).status).toBe(201);
}

describe("role-based authorization", () => {
  it("refuses who has no role, and lets everybody see what is public", () => {
    const server = bed();
    const refused = server.ask(`GET ${configMaps}/x`);
    expect(refused.status).toBe(403);
    expect(refused.at("message")).toBe(
      'configmaps "x" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "default"',
    );
    expect(server.ask("GET /healthz", { as: "" }).status).toBe(200);
    expect(server.ask("GET /version", { as: "" }).status).toBe(200);
    expect(server.ask("GET /api", { as: "" }).status).toBe(403);
    expect(server.ask("GET /api").status).toBe(200);
    expect(server.ask("GET /metrics").status).toBe(403);
    expect(server.ask(`GET ${configMaps}`, { as: "admin" }).status).toBe(200);
  });

  it("grants inside the binding's namespace, from the moment of the write until its removal", () => {
    const server = bed();
    grant(server, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
    expect(server.ask(`GET ${configMaps}`).status).toBe(200);
    expect(server.ask(`GET ${configMaps}/x`).status).toBe(403);
    expect(server.ask("GET /api/v1/namespaces/kube-system/configmaps").status).toBe(403);
    expect(server.ask("GET /api/v1/configmaps").status).toBe(403);
    server.ask(`DELETE ${rbac}/namespaces/default/rolebindings/b`, { as: "admin" });
    expect(server.ask(`GET ${configMaps}`).status).toBe(403);
  });

  it("follows the lag of its caches", () => {
    const server = bed({ cacheLagMicros: 2_000_000 });
    grant(server, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
    expect(server.ask(`GET ${configMaps}`).status).toBe(403);
    server.advance(3);
    expect(server.ask(`GET ${configMaps}?resourceVersion=0`).status).toBe(200);
  });

  it("narrows by name, and takes a selected name for a name", () => {
    const server = bed();
    grant(server, [{ ...pods, resources: ["configmaps"], resourceNames: ["x"], verbs: ["get", "list"] }]);
    expect(server.ask(`GET ${configMaps}/x`).status).toBe(404);
    expect(server.ask(`GET ${configMaps}/y`).status).toBe(403);
    expect(server.ask(`GET ${configMaps}`).status).toBe(403);
    expect(server.ask(`GET ${configMaps}?fieldSelector=metadata.name%3Dx`).status).toBe(200);
  });

  it("judges a path by what it leads to, however it is spelt", () => {
    const server = bed();
    for (const path of ["/metrics", "/api/../metrics", "/apis/x/../../metrics", "/api/./../metrics", "/%6detrics"]) {
      const refused = server.ask(`GET ${path}`);
      expect([path, refused.status, refused.at("message")]).toEqual([
        path,
        403,
        'forbidden: User "alice" cannot get path "/metrics"',
      ]);
    }
    for (const path of ["/version", "/version/", "/x/../version", "/api", "/api/", "/"]) {
      expect([path, server.ask(`GET ${path}`).status]).toEqual([path, path === "/" ? 403 : 200]);
    }
  });

  it("takes a namespace for a part of itself", () => {
    const server = bed();
    grant(server, [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list"] }]);
    expect(server.ask("GET /api/v1/namespaces/default").status).toBe(200);
    expect(server.ask("GET /api/v1/namespaces").status).toBe(403);
    expect(server.ask("GET /api/v1/namespaces/kube-system").at("message")).toBe(
      'namespaces "kube-system" is forbidden: User "alice" cannot get resource "namespaces" in API group "" in the namespace "kube-system"',
    );
  });

  it("keeps subresources apart from their parent", () => {
    const server = bed();
    const all = "/api/v1/namespaces/default/pods";
    grant(server, [{ apiGroups: [""], resources: ["*/status"], verbs: ["get"] }]);
    expect(server.ask(`GET ${all}/x/status`).status).toBe(404);
    expect(server.ask(`GET ${all}/x`).status).toBe(403);
  });

  it("knows service accounts by their namespace and name", () => {
    const server = bed({
      tokens: [
        { token: "admin", user: "admin", uid: "", groups: ["system:masters"] },
        { token: "sa", user: "system:serviceaccount:default:robot", uid: "", groups: [] },
      ],
    });
    const body = binding("b", "ClusterRole", "view", { kind: "ServiceAccount", name: "robot", namespace: "default" });
    server.ask(`PUT ${rbac}/clusterroles/view`, { as: "admin", body: role("view", [pods]) });
    server.ask(`POST ${rbac}/namespaces/default/rolebindings`, { as: "admin", body });
    expect(server.ask("GET /api/v1/namespaces/default/pods/x", { as: "sa" }).status).toBe(404);
  });

  it("says when a binding's role is missing", () => {
    const server = bed();
    const body = binding("b", "Role", "gone", user("alice"));
    server.ask(`POST ${rbac}/namespaces/default/rolebindings`, { as: "admin", body });
    expect(server.ask(`GET ${configMaps}/x`).at("message")).toMatch(
      /: RBAC: role.rbac.authorization.k8s.io "gone" not found$/,
    );
  });

  it("refuses to grant what the granter does not hold, unless they may escalate or bind", () => {
    const server = bed();
    const roles = `${rbac}/namespaces/default/roles`;
    const manage = {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["roles", "rolebindings"],
      verbs: ["create"],
    };
    grant(server, [manage, pods]);
    expect(server.ask(`POST ${roles}`, { body: role("held", [pods]) }).status).toBe(201);
    const refused = server.ask(`POST ${roles}`, { body: role("more", [{ ...pods, verbs: ["get", "list", "watch"] }]) });
    expect(refused.status).toBe(403);
    expect(refused.at("message")).toBe(
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting ' +
        'to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
    );
    const bindings = `${rbac}/namespaces/default/rolebindings`;
    const admin = binding("up", "ClusterRole", "cluster-admin", user("alice"));
    expect(server.ask(`POST ${bindings}`, { body: admin }).status).toBe(403);
    expect(server.ask(`POST ${bindings}`, { body: binding("up", "ClusterRole", "none", user("alice")) }).status).toBe(
      404,
    );
    const free = [
      { ...manage, verbs: ["create", "escalate", "bind"] },
      { ...manage, resources: ["clusterroles"], verbs: ["bind"] },
    ];
    server.ask(`PUT ${roles}/r`, { as: "admin", body: role("r", free) });
    expect(server.ask(`POST ${roles}`, { body: role("more", [{ ...pods, verbs: ["list"] }]) }).status).toBe(201);
    expect(server.ask(`POST ${bindings}`, { body: admin }).status).toBe(201);
    expect(server.ask(`DELETE ${configMaps}/x`).status).toBe(404);
  });

  it("asks the modes in turn", () => {
    expect(bed({ authorizationModes: ["RBAC", "AlwaysAllow"] }).ask(`GET ${configMaps}`).status).toBe(200);
    const denied = bed({ authorizationModes: ["AlwaysDeny", "RBAC"] }).ask(`GET ${configMaps}`);
    expect(denied.at("message")).toMatch(/: Everything is forbidden\.$/);
  });
});

describe("what a role may hold", () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `r${at}`);

  it("is compared up to a million times, and refused before more of it is taken apart", () => {
    const held = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }];
    const wanted = (resources: number) => [{ verbs: names(100), apiGroups: [""], resources: names(resources) }];
    expect(drained(rulesMissing(held, wanted(10)))).toHaveLength(10);
    expect(() => drained(rulesMissing(held, wanted(5_001)))).toThrow("the rules stand for too many");
    // A thousand times as many end as soon: rules are taken apart one by one.
    const endless = {
      verbs: names(3_000),
      apiGroups: names(3_000),
      resources: names(3_000),
      resourceNames: names(3_000),
    };
    expect(() => drained(rulesMissing(held, [endless]))).toThrow("the rules stand for too many");
  });
});

describe("reviews", () => {
  const review = (server: TestBed, kind: string, path: string, spec: object, as = "alice") =>
    server.ask(`POST ${path}`, { as, body: { kind, spec } });

  it("answer with the decision and its reason", () => {
    const server = bed();
    grant(server, [pods]);
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const asked = (verb: string): object => ({ resourceAttributes: { verb, resource: "pods", namespace: "default" } });
    const yes = review(server, "SelfSubjectAccessReview", path, asked("get"));
    expect(yes.at("status")).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/default" of Role "r" to User "alice"',
    });
    expect(review(server, "SelfSubjectAccessReview", path, asked("list")).at("status")).toEqual({ allowed: false });
  });

  it("list all that a user may do in a namespace", () => {
    const server = bed();
    grant(server, [pods]);
    const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    const answer = review(server, "SelfSubjectRulesReview", path, { namespace: "default" });
    expect(answer.status).toBe(201);
    expect(answer.at("status.incomplete")).toBe(false);
    expect(answer.at("status.resourceRules")).toContainEqual(pods);
    expect(review(server, "SelfSubjectRulesReview", path, {}).status).toBe(400);
  });

  it("tell whose a token is, for an audience that it is for", () => {
    const server = bed({ audiences: ["https://issuer.test"] });
    const path = "/apis/authentication.k8s.io/v1/tokenreviews";
    const ask = (spec: object) => review(server, "TokenReview", path, spec, "admin").at("status");
    expect(ask({ token: "alice" })).toMatchObject({ authenticated: true, audiences: ["https://issuer.test"] });
    expect(ask({ token: "alice", audiences: ["other"] })).toEqual({ user: {}, error: "invalid bearer token" });
    expect(ask({ token: "nobody" })).not.toHaveProperty("authenticated");
  });
});

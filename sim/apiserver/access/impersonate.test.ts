import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Answer, TestBed } from "../test-bed.fixture.ts";

const rbac = "/apis/rbac.authorization.svc.io/v1";
const review = "/apis/authentication.svc.io/v1/selfsubjectreviews";
const whoAs = (bed: TestBed, as: string, headers: Record<string, string>): Answer =>
  bed.ask(`POST ${review}`, { as, headers, body: {} });
const info = (answer: Answer): unknown => answer.at("status.userInfo");

it("Who may impersonate is the other, with groups of theirs alone", () => {
  const bed = new TestBed({ authorizationModes: ["RBAC"] });
  expect(info(whoAs(bed, "admin", { "impersonate-user": "bob" }))).toEqual({
    username: "bob",
    groups: ["system:authenticated"],
  });
  expect(
    info(whoAs(bed, "admin", { "impersonate-user": "bob", "impersonate-group": "a, b", "impersonate-uid": "7" })),
  ).toEqual({ username: "bob", uid: "7", groups: ["a", "b", "system:authenticated"] });
  const robot = { "impersonate-user": "system:serviceaccount:ns:robot", "impersonate-extra-a%2fb": "c" };
  expect(info(whoAs(bed, "admin", robot))).toEqual({
    username: "system:serviceaccount:ns:robot",
    groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    extra: { "a/b": ["c"] },
  });
  const refused = bed.ask("GET /api/v1/namespaces/default/pods", {
    as: "admin",
    headers: { "impersonate-user": "bob" },
  });
  expect([refused.status, refused.at("message")]).toEqual([403, expect.stringContaining('User "bob" cannot list')]);
});

it("Others may not, each group is asked for, and groups belong to a user", () => {
  const bed = new TestBed({ authorizationModes: ["RBAC"] });
  const asBob = whoAs(bed, "alice", { "impersonate-user": "bob" });
  expect([asBob.status, asBob.at("message")]).toEqual([
    403,
    'users "bob" is forbidden: User "alice" cannot impersonate resource "users" in API group "" at the cluster scope',
  ]);
  const rules = [{ apiGroups: [""], resources: ["users"], resourceNames: ["bob"], verbs: ["impersonate"] }];
  const give = (path: string, body: JsonObject): number =>
    bed.ask(`POST ${rbac}/${path}`, { as: "admin", body }).status;
  expect(give("clusterroles", { metadata: { name: "r" }, rules })).toBe(201);
  const roleRef = { apiGroup: "rbac.authorization.svc.io", kind: "ClusterRole", name: "r" };
  const subjects = [{ kind: "User", name: "alice", apiGroup: "rbac.authorization.svc.io" }];
  expect(give("clusterrolebindings", { metadata: { name: "r" }, roleRef, subjects })).toBe(201);
  expect(whoAs(bed, "alice", { "impersonate-user": "bob" }).status).toBe(201);
  expect(whoAs(bed, "alice", { "impersonate-user": "bob", "impersonate-group": "system:masters" }).status).toBe(403);
  expect(whoAs(bed, "admin", { "impersonate-group": "a" }).status).toBe(400);
});

it("planted bugs: headers that are not read, groups that are not asked for", () => {
  const ignorant = new TestBed({ authorizationModes: ["RBAC"], bugs: ["impersonation-ignored"] });
  expect(whoAs(ignorant, "alice", { "impersonate-user": "bob" }).at("status.userInfo.username")).toBe("alice");

  const trusting = new TestBed({ authorizationModes: ["RBAC"], bugs: ["impersonation-of-groups-unasked"] });
  const rules = [{ apiGroups: [""], resources: ["users"], resourceNames: ["bob"], verbs: ["impersonate"] }];
  trusting.ask(`POST ${rbac}/clusterroles`, { as: "admin", body: { metadata: { name: "r" }, rules } });
  const roleRef = { apiGroup: "rbac.authorization.svc.io", kind: "ClusterRole", name: "r" };
  const subjects = [{ kind: "User", name: "alice", apiGroup: "rbac.authorization.svc.io" }];
  trusting.ask(`POST ${rbac}/clusterrolebindings`, {
    as: "admin",
    body: { metadata: { name: "r" }, roleRef, subjects },
  });
  const asMaster = { "impersonate-user": "bob", "impersonate-group": "system:masters" };
  expect(whoAs(trusting, "alice", asMaster).at("status.userInfo.groups")).toContain("system:masters");
});

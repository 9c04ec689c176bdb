/** What attacks on access cost, counted in events and in characters: roles of many rules, their reviews, and groups that are asked for. */
import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { type AttackRequest, attacks, post, times } from "./attack-requests.fixture.ts";
import { Struck } from "./struck.fixture.ts";

it("a review of rules tells no more than it may, and says so", () => {
  const rules = times(1_000, (at) => ({ apiGroups: [""], resources: [`r${at}`], verbs: ["get"] }));
  const group = "rbac.authorization.k8s.io";
  const prepare = () =>
    times(21, (at) => at).flatMap((at) => [
      post(`/apis/${group}/v1/clusterroles`, { metadata: { name: `many-${at}` }, rules }),
      post(`/apis/${group}/v1/clusterrolebindings`, {
        metadata: { name: `many-${at}` },
        roleRef: { apiGroup: group, kind: "ClusterRole", name: `many-${at}` },
        subjects: [{ kind: "User", apiGroup: group, name: "nobody" }],
      }),
    ]);
  const struck = new Struck({ prepare }, 1);
  const [review] = [...(attacks["rules-review"]?.strike?.() ?? [])];
  const status = struck.send(review as AttackRequest).payload?.object?.["status"] as JsonObject;
  expect((status["resourceRules"] as readonly unknown[]).length).toBe(20_000);
  expect(status["evaluationError"]).toBe("only the first 20000 rules are told");
});

it("a review of rules waits for bindings of very many subjects, which are put in order some at a time", () => {
  const group = "rbac.authorization.k8s.io";
  const path = `/apis/${group}/v1/namespaces/default/rolebindings`;
  const subjects = (from: number): object[] =>
    times(9_000, (at) => ({ kind: "User", apiGroup: group, name: at === 0 ? "nobody" : `u${from + at}` }));
  const roleRef = { apiGroup: group, kind: "ClusterRole", name: "reader" };
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
  const prepare = () => [
    post(`/apis/${group}/v1/clusterroles`, { metadata: { name: "reader" }, rules }),
    ...times(10, (at) => post(path, { metadata: { name: `b${at}` }, roleRef, subjects: subjects(at * 9_000) })),
  ];
  const struck = new Struck({ prepare }, 1);
  const review = post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "default" } });
  const told = struck.send({ ...review, as: "nobody" });
  expect([told.status, struck.failures]).toEqual([201, []]);
  expect(told.eventCount).toBeGreaterThanOrEqual(4);
  const status = told.payload?.object?.["status"] as JsonObject;
  expect(status["resourceRules"]).toContainEqual(rules[0]);
});

it("a token for very many audiences is made, and read again, in several events", () => {
  const core = "/api/v1/namespaces/default/serviceaccounts";
  const prepare = () => [post(core, { metadata: { name: "robot" } })];
  const struck = new Struck({ prepare }, 1);
  const audiences = times(40_000, (at) => `audience-${at}`);
  const made = struck.send(post(`${core}/robot/token`, { spec: { audiences } }));
  expect([made.status, struck.failures]).toEqual([201, []]);
  expect(made.eventCount).toBeGreaterThanOrEqual(15);
  const status = made.payload?.object?.["status"] as { readonly token: string } | undefined;
  const spec = { token: status?.token, audiences: ["audience-7"] };
  const told = struck.send(post("/apis/authentication.k8s.io/v1/tokenreviews", { spec }));
  expect([told.status, struck.failures]).toEqual([201, []]);
  expect(told.payload?.object?.["status"]).toMatchObject({ authenticated: true, audiences: ["audience-7"] });
  expect(told.eventCount).toBeGreaterThanOrEqual(15);
});

it("a review of an access with very many requirements is carried out in several events", () => {
  const requirements = times(20_000, (at) => ({ key: `k${at}`, operator: "Exists" }));
  const resourceAttributes = { verb: "list", resource: "pods", labelSelector: { requirements } };
  const struck = new Struck({}, 1);
  const told = struck.send(
    post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: { resourceAttributes } }),
  );
  expect([told.status, struck.failures]).toEqual([201, []]);
  expect(told.eventCount).toBeGreaterThanOrEqual(15);
});

it("names of roles, which may be long, are compared when a binding is put into the index, and in no decision", () => {
  const group = "rbac.authorization.k8s.io";
  const path = `/apis/${group}/v1/clusterrolebindings`;
  const binding = (name: string, role: string): AttackRequest =>
    post(path, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
      subjects: [{ kind: "User", apiGroup: group, name: "nobody" }],
    });
  const long = (at: number): string => `${at}`.padEnd(20_000, "a");
  const prepare = () => times(20, (at) => binding(`b${at}`, long(at % 10)));
  const struck = new Struck({ prepare }, 1);
  const ask = () => struck.send({ path: "/api/v1/namespaces/default/configmaps/x", as: "nobody" });
  ask();
  const looked = vi.spyOn(Set.prototype, "has");
  const told = ask();
  // What is told is compared, up to a million characters of it.
  const isName = (sought: unknown): boolean =>
    typeof sought === "string" && sought.length > 10_000 && !sought.endsWith("not found");
  const nameCount = looked.mock.calls.filter(([sought]) => isName(sought)).length;
  looked.mockRestore();
  expect([told.status, struck.failures, nameCount]).toEqual([403, [], 0]);
  const reason = (told.payload?.object?.["message"] ?? "") as string;
  expect(reason.match(/not found/g)).toHaveLength(10);
  struck.send({ method: "DELETE", path: `${path}/b0` });
  struck.send({ method: "DELETE", path: `${path}/b1` });
  struck.send({ method: "DELETE", path: `${path}/b11` });
  const after = (ask().payload?.object?.["message"] ?? "") as string;
  expect(after.match(/not found/g)).toHaveLength(9);
  expect([after.includes(`"${long(0)}" not found`), after.includes(`"${long(1)}" not found`)]).toEqual([true, false]);
});

describe("roles", () => {
  const group = "rbac.authorization.k8s.io";
  const path = `/apis/${group}/v1`;
  const bound = (name: string, role = name): AttackRequest =>
    post(`${path}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
      subjects: [{ kind: "User", apiGroup: group, name: "nobody" }],
    });
  const held = (...rules: readonly object[]) => [
    post(`${path}/clusterroles`, { metadata: { name: "held" }, rules }),
    bound("held"),
  ];
  const writing = { apiGroups: [group], resources: ["*"], verbs: ["create", "update"] };
  const names = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"], resourceNames: times(30_000, String) };
  const urls = { nonResourceURLs: times(30_000, (at) => `/some/path/${at}`), verbs: ["get"] };

  it.each([
    ["names", names],
    ["URLs", urls],
  ])(
    "of many %s are held against what their writer holds in several events, also where a binding gives them",
    (_, rule) => {
      const other = post(`${path}/clusterroles`, { metadata: { name: "other" }, rules: [rule] });
      const struck = new Struck({ prepare: () => [...held(writing, rule), other] }, 1);
      const small = struck.send({ ...bound("small", "view"), as: "nobody" });
      expect([small.status, small.eventCount]).toEqual([403, 1]);
      const bind = struck.send({ ...bound("more", "other"), as: "nobody" });
      expect([bind.status, struck.failures]).toEqual([201, []]);
      expect(bind.eventCount).toBeGreaterThanOrEqual(4);
    },
  );

  it("of which many rules are missing are refused in a text of bounded length", () => {
    const struck = new Struck({ prepare: () => held(writing) }, 1);
    const wanted = { ...names, resourceNames: times(60_000, (at) => `name-${at}`) };
    const refused = struck.send({
      ...post(`${path}/clusterroles`, { metadata: { name: "more" }, rules: [wanted] }),
      as: "nobody",
    });
    expect([refused.status, struck.failures]).toEqual([403, []]);
    expect(refused.payload?.bytes().length).toBeLessThan(1_500_000); // each name told is eighty characters
    expect(refused.eventCount).toBeGreaterThanOrEqual(8);
  });

  it("that are absent are told in a text of bounded length, whatever their names", () => {
    const prepare = () => times(12, (at) => bound(`b${at}`, `${at}`.padEnd(400_000, "a")));
    const refused = new Struck({ prepare }, 1).send({ path: "/api/v1/namespaces", as: "nobody" });
    expect(refused.status).toBe(403);
    const { length } = refused.payload?.bytes() ?? [];
    expect(length).toBeGreaterThan(1_000_000);
    expect(length).toBeLessThan(1_400_000);
  });

  it("of long lists are told by a review as far as they may be, and each whole", () => {
    const rule = (at: number) => ({ ...names, resourceNames: times(40_000, (name) => `${at}-${name}`) });
    const prepare = () =>
      times(5, (at) => at).flatMap((at) => [
        post(`${path}/clusterroles`, { metadata: { name: `many-${at}` }, rules: [rule(at)] }),
        bound(`many-${at}`),
      ]);
    const [review] = [...(attacks["rules-review"]?.strike?.() ?? [])];
    const told = new Struck({ prepare }, 1).send(review as AttackRequest);
    const status = told.payload?.object?.["status"] as JsonObject;
    const resourceRules = status["resourceRules"] as readonly { readonly resourceNames?: readonly string[] }[];
    const counts = resourceRules.map(({ resourceNames = [] }) => resourceNames.length);
    expect(counts).toEqual([40_000, 40_000, 40_000]);
    expect(status["incomplete"]).toBe(true);
    expect(status["evaluationError"]).toMatch(/^only the first \d rules are told$/);
  });

  it("are bound to tens of thousands of subjects in several events, and nobody waits for that twice", () => {
    const subjects = times(18_000, (at) => ({ kind: "User", apiGroup: group, name: `u${at}` }));
    const roleRef = { apiGroup: group, kind: "ClusterRole", name: "view" };
    const prepare = () =>
      times(5, (at) => post(`${path}/clusterrolebindings`, { metadata: { name: `b${at}` }, roleRef, subjects }));
    const struck = new Struck({ prepare }, 1);
    const asked = { path: "/api/v1/namespaces/default/configmaps", headers: { authorization: "Bearer nobody" } };
    expect(struck.send(asked).eventCount).toBeGreaterThanOrEqual(5);
    expect(struck.send(asked)).toMatchObject({ status: 403, eventCount: 1 });
    expect(struck.send(bound("one-more", "view")).status).toBe(201);
    expect(struck.send(asked)).toMatchObject({ status: 200, eventCount: 1 });
  });

  it("that let somebody be thousands of groups are asked for them in several events", () => {
    const acting = { apiGroups: [""], resources: ["users", "groups"], verbs: ["impersonate"] };
    const others = times(3_000, (at) => ({ apiGroups: ["g"], resources: [`r${at}`], verbs: ["get"] }));
    const struck = new Struck({ prepare: () => held(...others, acting) }, 1);
    const headers = (count: number) => ({
      authorization: "Bearer nobody",
      "impersonate-user": "x",
      "impersonate-group": times(count, (at) => `g${at}`).join(","),
    });
    expect(struck.send({ path: "/api", headers: headers(5) })).toMatchObject({ status: 200, eventCount: 1 });
    const many = struck.send({ path: "/api", headers: headers(30_000) });
    expect([many.status, struck.failures]).toEqual([200, []]);
    expect(many.eventCount).toBeGreaterThanOrEqual(4);
    expect(many.eventCount).toBeLessThan(60); // no rule is looked at for each group
  });
});

it("groups that are asked for may be many spaces apart", () => {
  const headers = { "impersonate-user": "x", "impersonate-group": `a${" ".repeat(500_000)}b ,  c` };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const asked = post(path, {});
  const told = new Struck({}, 1).send({ ...asked, headers: { ...asked.headers, ...headers } });
  const status = told.payload?.object?.["status"] as JsonObject | undefined;
  const userInfo = status?.["userInfo"] as JsonObject | undefined;
  const groups = (userInfo?.["groups"] ?? []) as readonly string[];
  expect(groups.map(({ length }) => length)).toEqual([500_002, 1, 20]);
});

import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, type Endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";

const group = "rbac.authorization.svc.io";
const roles = endpoint(`${group}/v1/roles`);
const clusterRoles = endpoint(`${group}/v1/clusterroles`);
const roleBindings = endpoint(`${group}/v1/rolebindings`);
const clusterRoleBindings = endpoint(`${group}/v1/clusterrolebindings`);

const texts = (body: JsonObject, at: Endpoint): readonly string[] =>
  validateCreate(create({ metadata: { name: "a" }, ...body }, at), at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

describe("roles", () => {
  const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };

  it("say verbs, and what these are about", () => {
    expect(texts({ rules: [rule] }, roles)).toEqual([]);
    expect(texts({ rules: [{ verbs: [] }] }, roles)).toEqual([
      "rules[0].verbs: Required value: verbs must contain at least one value",
      "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
      "rules[0].resources: Required value: resource rules must supply at least one resource",
    ]);
  });

  it("are about URLs only for the whole cluster, and then about nothing else", () => {
    const urls = { nonResourceURLs: ["/metrics"], verbs: ["get"] };
    expect(texts({ rules: [urls] }, clusterRoles)).toEqual([]);
    expect(texts({ rules: [urls] }, roles)).toEqual([
      'rules[0].nonResourceURLs: Invalid value: []string{"/metrics"}: namespaced rules cannot apply to non-resource URLs',
    ]);
    expect(texts({ rules: [rule, { ...rule, ...urls }] }, clusterRoles)).toEqual([
      'rules[1].nonResourceURLs: Invalid value: []string{"/metrics"}: rules cannot apply to both regular resources and non-resource URLs',
    ]);
  });

  it("collect others by selectors that select", () => {
    const collecting = (clusterRoleSelectors: JsonObject[]): JsonObject => ({
      aggregationRule: { clusterRoleSelectors },
    });
    expect(texts(collecting([{ matchLabels: { a: "b" } }]), clusterRoles)).toEqual([]);
    expect(texts(collecting([]), clusterRoles)).toEqual([
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
    ]);
    const at = "aggregationRule.clusterRoleSelectors[0].matchExpressions";
    const expressions = [
      { key: "a", operator: "In" },
      { key: "a", operator: "Exists", values: ["x"] },
      { key: "a", operator: "Near" },
    ];
    expect(texts(collecting([{ matchExpressions: expressions }]), clusterRoles)).toEqual([
      `${at}[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
      `${at}[1].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
      `${at}[2].operator: Invalid value: "Near": not a valid selector operator`,
    ]);
  });
});

describe("bindings", () => {
  const bound = (roleRef: JsonObject, subjects: JsonObject[] = []): JsonObject => ({
    metadata: { name: "a" },
    roleRef,
    subjects,
  });

  it("are filled in with the group of roles", () => {
    const at = endpoint(`${group}/v1/clusterrolebindings`, kubernetesDialect);
    const subjects = [
      { kind: "User", name: "u" },
      { kind: "ServiceAccount", name: "s", namespace: "n" },
    ];
    const made = create(bound({ kind: "ClusterRole", name: "r" }, subjects), at) as unknown as Record<string, unknown>;
    expect([made["roleRef"], made["subjects"]]).toEqual([
      { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
      [
        { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "u" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
    ]);
  });

  it("name a role and somebody", () => {
    expect(texts(bound({ kind: "Role", name: "r" }), roleBindings)).toEqual([]);
    expect(texts(bound({ kind: "Role", name: "r" }), clusterRoleBindings)).toEqual([
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    ]);
    const subjects = [
      { kind: "User", apiGroup: "other", name: "u" },
      { kind: "ServiceAccount", apiGroup: group, name: "Not A Name" },
      { kind: "Robot", name: "" },
    ];
    const found = texts(bound({ apiGroup: "x", kind: "ClusterRole", name: "a/b" }, subjects), clusterRoleBindings);
    expect(found.map((text) => text.replace(/(Invalid value): .*/, "$1"))).toEqual([
      `roleRef.apiGroup: Unsupported value: "x": supported values: "${group}"`,
      "roleRef.name: Invalid value",
      `subjects[0].apiGroup: Unsupported value: "other": supported values: "${group}"`,
      "subjects[1].name: Invalid value",
      `subjects[1].apiGroup: Unsupported value: "${group}": supported values: ""`,
      "subjects[1].namespace: Required value",
      "subjects[2].name: Required value",
      'subjects[2].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    ]);
  });

  it("keep their role for good", () => {
    const live = create(bound({ kind: "Role", name: "r" }), roleBindings);
    const step = (name: string): readonly string[] => {
      const metadata = { name: "a", namespace: "ns", resourceVersion: "1" };
      const next = update({ ...bound({ kind: "Role", name }), metadata }, live, roleBindings);
      return validateUpdate(next, live, roleBindings.strategy).map(({ message }) => message);
    };
    expect(step("r")).toEqual([]);
    expect(step("s")).toEqual([
      `Invalid value: rbac.RoleRef{APIGroup:"${group}", Kind:"Role", Name:"s"}: cannot change roleRef`,
    ]);
  });
});

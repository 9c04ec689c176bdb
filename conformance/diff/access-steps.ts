/** Steps of others than the run's own user: of one that was granted little, of strangers, and of nobody. */
import fc from "fast-check";
import type { JsonObject } from "../client/types.ts";
import { configMapsPath } from "./object-steps.ts";
import { inTurn, type Step } from "./step.ts";

const user = "touchstone-{ns}";
const impersonating = { "impersonate-user": user };
const rolesPath = "/apis/rbac.authorization.svc.io/v1/namespaces/{ns}";
const apiVersion = "rbac.authorization.svc.io/v1";

const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

const role = fc
  .record({
    verbs: fc.subarray(verbs, { minLength: 1, maxLength: 4 }),
    resources: fc.constantFrom(["configmaps"], ["configmaps", "pods/log"], ["configmaps", "pods", "deployments"]),
    names: fc.option(fc.constant(["a"]), { nil: undefined, freq: 4 }),
  })
  .map(
    ({ names, ...rule }): Step => ({
      what: "create a role",
      method: "POST",
      path: `${rolesPath}/roles`,
      body: {
        apiVersion,
        kind: "Role",
        metadata: { name: "few" },
        rules: [
          { apiGroups: ["", "apps"], ...rule, ...(names === undefined ? {} : { resourceNames: names }) },
          { apiGroups: [""], resources: ["configmaps"], verbs: ["get"], resourceNames: ["mark"] },
        ],
      },
    }),
  );

const binding: Step = {
  what: "bind a role",
  method: "POST",
  path: `${rolesPath}/rolebindings`,
  body: {
    apiVersion,
    kind: "RoleBinding",
    metadata: { name: "few" },
    subjects: [{ kind: "User", name: user, apiGroup: "rbac.authorization.svc.io" }],
    roleRef: { apiGroup: "rbac.authorization.svc.io", kind: "Role", name: "few" },
  },
};

const review = (attributes: JsonObject): Step => ({
  what: "review access",
  method: "POST",
  path: "/apis/authorization.svc.io/v1/selfsubjectaccessreviews",
  headers: { ...impersonating, "content-type": "application/json" },
  body: {
    apiVersion: "authorization.svc.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { namespace: "{ns}", ...attributes } },
  },
});

/** A role is read by whoever decides, and no time is promised for it. */
const untilKnown: Step = {
  ...review({ verb: "get", resource: "configmaps", name: "mark" }),
  what: "await the role",
  until: '"allowed":true',
};

const configMap = (name: string): JsonObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const json = { "content-type": "application/json" };
const object = `${configMapsPath}/a`;

/** Each says in its words what was asked, so that a refusal is told apart from another. */
const asks: readonly Step[] = [
  { what: "get", method: "GET", path: object },
  { what: "get another", method: "GET", path: `${configMapsPath}/b` },
  { what: "list", method: "GET", path: configMapsPath },
  { what: "list by name", method: "GET", path: configMapsPath, query: { fieldSelector: "metadata.name=a" } },
  { what: "list everywhere", method: "GET", path: "/api/v1/configmaps" },
  { what: "create", method: "POST", path: configMapsPath, headers: json, body: configMap("b") },
  {
    what: "dry create",
    method: "POST",
    path: configMapsPath,
    query: { dryRun: "All" },
    headers: json,
    body: configMap("c"),
  },
  { what: "replace", method: "PUT", path: object, headers: json, body: configMap("a") },
  { what: "replace what is absent", method: "PUT", path: `${configMapsPath}/c`, headers: json, body: configMap("c") },
  {
    what: "patch",
    method: "PATCH",
    path: object,
    headers: { "content-type": "application/merge-patch+json" },
    body: { data: { value: "2" } },
  },
  {
    what: "apply what is absent",
    method: "PATCH",
    path: `${configMapsPath}/d`,
    query: { fieldManager: "one" },
    headers: { "content-type": "application/apply-patch+yaml" },
    body: configMap("d"),
  },
  { what: "delete", method: "DELETE", path: object },
  { what: "delete a collection", method: "DELETE", path: configMapsPath, query: { labelSelector: "none=such" } },
  { what: "unknown resource", method: "GET", path: "/api/v1/namespaces/{ns}/poems" },
  { what: "unknown type of answer", method: "GET", path: object, headers: { accept: "text/poem" } },
  { what: "log", method: "GET", path: "/api/v1/namespaces/{ns}/pods/p/log" },
  { what: "status of a pod", method: "GET", path: "/api/v1/namespaces/{ns}/pods/p/status" },
  { what: "scale", method: "GET", path: "/apis/apps/v1/namespaces/{ns}/deployments/d/scale" },
  { what: "discovery", method: "GET", path: "/api/v1" },
  {
    what: "who am I",
    method: "POST",
    path: "/apis/authentication.svc.io/v1/selfsubjectreviews",
    headers: json,
    body: { apiVersion: "authentication.svc.io/v1", kind: "SelfSubjectReview" },
  },
];

const asUser = fc
  .constantFrom(...asks)
  .map(
    (step): Step => ({ ...step, what: `${step.what} with few rights`, headers: { ...step.headers, ...impersonating } }),
  );

const reviewed = fc
  .record({ verb: fc.constantFrom(...verbs), resource: fc.constantFrom("configmaps", "pods", "deployments") })
  .map(({ verb, resource }) => review({ verb, resource, ...(resource === "deployments" ? { group: "apps" } : {}) }));

const asStranger = fc
  .record({
    step: fc.constantFrom(...asks),
    as: fc.constantFrom<NonNullable<Step["as"]>>("nobody", { token: "touchstone-unknown" }, { token: "e30.e30." }),
  })
  .map(
    ({ step, as }): Step => ({
      ...step,
      what: `${step.what} ${as === "nobody" ? "as nobody" : "with a wrong token"}`,
      as,
    }),
  );

const asGroup = fc
  .record({ step: fc.constantFrom(...asks), group: fc.constantFrom("system:masters", "system:authenticated") })
  .map(
    ({ step, group }): Step => ({
      ...step,
      what: `${step.what} in ${group}`,
      headers: { ...step.headers, ...impersonating, "impersonate-group": group },
    }),
  );

const made: Step = { what: "create", method: "POST", path: configMapsPath, body: configMap("a") };

export const accessPrograms = inTurn(
  fc.tuple(role).map(([drawn]) => [made, drawn, binding, untilKnown]),
  fc.array(
    fc.oneof(
      { weight: 5, arbitrary: asUser },
      { weight: 1, arbitrary: reviewed },
      { weight: 2, arbitrary: asStranger },
      { weight: 1, arbitrary: asGroup },
    ),
    { minLength: 3, maxLength: 9, size: "max" },
  ),
);

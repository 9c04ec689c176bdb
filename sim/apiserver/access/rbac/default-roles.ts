/**
 * The roles and bindings that a server with role-based authorization makes when they are absent.
 * Simplification: those of the system's own components (nodes, scheduler, controllers) are left out, for none of
 * them runs against a simulated server under its real name.
 * Source: the published server's bootstrap policy.
 */
import { type Dialect, groupInDialect } from "../../../../wire/dialect.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { superuserGroup } from "../modes.ts";
import type { PolicyRule } from "./rules.ts";

type RoleRow = readonly [name: string, rules: readonly PolicyRule[], aggregateTo?: "admin" | "edit" | "view"];

const read = ["get", "list", "watch"] as const;
const write = ["create", "delete", "deletecollection", "patch", "update"] as const;
const discoveryRoots = ["/api", "/apis", "/openapi"].flatMap((root) => [root, `${root}/*`]);
const issuerPaths = ["/.well-known/openid-configuration", "/openid/v1/jwks"].flatMap((path) => [path, `${path}/`]);
const publicPaths = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/** What `view` reads, by svc group; `edit` writes the same but for status and the parts named below. */
const viewed: Readonly<Record<string, readonly string[]>> = {
  "": [
    "bindings",
    "configmaps",
    "endpoints",
    "events",
    "limitranges",
    "namespaces",
    "namespaces/status",
    "persistentvolumeclaims",
    "persistentvolumeclaims/status",
    "pods",
    "pods/log",
    "pods/status",
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "replicationcontrollers/status",
    "resourcequotas",
    "resourcequotas/status",
    "serviceaccounts",
    "services",
    "services/status",
  ],
  "discovery.svc.io": ["endpointslices"],
  apps: [
    "controllerrevisions",
    "daemonsets",
    "daemonsets/status",
    "deployments",
    "deployments/scale",
    "deployments/status",
    "replicasets",
    "replicasets/scale",
    "replicasets/status",
    "statefulsets",
    "statefulsets/scale",
    "statefulsets/status",
  ],
  autoscaling: ["horizontalpodautoscalers", "horizontalpodautoscalers/status"],
  batch: ["cronjobs", "cronjobs/status", "jobs", "jobs/status"],
  policy: ["poddisruptionbudgets", "poddisruptionbudgets/status"],
  "networking.svc.io": ["ingresses", "ingresses/status", "networkpolicies"],
};

const edited: Readonly<Record<string, readonly string[]>> = {
  "": [
    "configmaps",
    "events",
    "persistentvolumeclaims",
    "pods",
    "pods/attach",
    "pods/exec",
    "pods/portforward",
    "pods/proxy",
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "secrets",
    "serviceaccounts",
    "services",
    "services/proxy",
  ],
  apps: [
    "daemonsets",
    "deployments",
    "deployments/rollback",
    "deployments/scale",
    "replicasets",
    "replicasets/scale",
    "statefulsets",
    "statefulsets/scale",
  ],
  autoscaling: ["horizontalpodautoscalers"],
  batch: ["cronjobs", "jobs"],
  policy: ["poddisruptionbudgets"],
  "networking.svc.io": ["ingresses", "networkpolicies"],
};

const on = (group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
});
const onAll = (table: Readonly<Record<string, readonly string[]>>, verbs: readonly string[]): readonly PolicyRule[] =>
  Object.entries(table).map(([group, resources]) => on(group, resources, verbs));

const everything: readonly PolicyRule[] = [on("*", ["*"], ["*"]), { nonResourceURLs: ["*"], verbs: ["*"] }];

const roles: readonly RoleRow[] = [
  ["cluster-admin", everything],
  ["system:discovery", [{ nonResourceURLs: [...discoveryRoots, ...publicPaths].sort(), verbs: ["get"] }]],
  ["system:public-info-viewer", [{ nonResourceURLs: publicPaths, verbs: ["get"] }]],
  ["system:service-account-issuer-discovery", [{ nonResourceURLs: issuerPaths, verbs: ["get"] }]],
  [
    "system:basic-user",
    [
      on("authorization.svc.io", ["selfsubjectaccessreviews", "selfsubjectrulesreviews"], ["create"]),
      on("authentication.svc.io", ["selfsubjectreviews"], ["create"]),
    ],
  ],
  [
    "system:monitoring",
    [
      {
        nonResourceURLs: ["/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/readyz", "/readyz/*"],
        verbs: ["get"],
      },
    ],
  ],
  [
    "system:auth-delegator",
    [
      on("authentication.svc.io", ["tokenreviews"], ["create"]),
      on("authorization.svc.io", ["subjectaccessreviews"], ["create"]),
    ],
  ],
  [
    "system:aggregate-to-admin",
    [
      on("authorization.svc.io", ["localsubjectaccessreviews"], ["create"]),
      on("rbac.authorization.svc.io", ["rolebindings", "roles"], [...write, ...read].sort()),
    ],
    "admin",
  ],
  [
    "system:aggregate-to-edit",
    [
      on("", ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"], read),
      on("", ["serviceaccounts"], ["impersonate"]),
      on("", ["pods/eviction", "serviceaccounts/token"], ["create"]),
      ...onAll(edited, write),
      on("coordination.svc.io", ["leases"], [...write, ...read].sort()),
    ],
    "edit",
  ],
  ["system:aggregate-to-view", onAll(viewed, read), "view"],
];

/** The three roles for people: whatever carries their label, and each all that the smaller ones have. */
const aggregates = [
  { name: "admin", collects: "admin", partOf: undefined },
  { name: "edit", collects: "edit", partOf: "admin" },
  { name: "view", collects: "view", partOf: "edit" },
] as const;

const bindings: readonly (readonly [role: string, ...groups: string[]])[] = [
  ["cluster-admin", superuserGroup],
  ["system:discovery", "system:authenticated"],
  ["system:basic-user", "system:authenticated"],
  ["system:public-info-viewer", "system:authenticated", "system:unauthenticated"],
  ["system:monitoring", "system:monitoring"],
  ["system:service-account-issuer-discovery", "system:serviceaccounts"],
];

/** As a client would post them. */
export function defaultClusterRoles(dialect: Dialect): readonly JsonObject[] {
  const rbacGroup = groupInDialect(dialect, "rbac.authorization.svc.io");
  const label = (to: string): string => `${rbacGroup}/aggregate-to-${to}`;
  return [
    ...roles.map(([name, rules, aggregateTo]) => ({
      metadata: metadata(dialect, name, aggregateTo === undefined ? [] : [label(aggregateTo)]),
      rules: rules.map((rule) => inDialect(dialect, rule)),
    })),
    ...aggregates.map(({ name, collects, partOf }) => ({
      metadata: metadata(dialect, name, partOf === undefined ? [] : [label(partOf)]),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label(collects)]: "true" } }] },
      rules: null,
    })),
  ];
}

export function defaultClusterRoleBindings(dialect: Dialect): readonly JsonObject[] {
  const apiGroup = groupInDialect(dialect, "rbac.authorization.svc.io");
  return bindings.map(([role, ...groups]) => ({
    metadata: metadata(dialect, role, []),
    subjects: groups.map((name) => ({ kind: "Group", apiGroup, name })),
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
  }));
}

function metadata(dialect: Dialect, name: string, aggregation: readonly string[]): JsonObject {
  const { labelSuffix } = dialect;
  return {
    name,
    labels: {
      [`${labelSuffix}/bootstrapping`]: "rbac-defaults",
      ...Object.fromEntries(aggregation.map((key) => [key, "true"])),
    },
    annotations: { [`rbac.authorization.${labelSuffix}/autoupdate`]: "true" },
  };
}

function inDialect(dialect: Dialect, { apiGroups, ...rule }: PolicyRule): JsonObject {
  return apiGroups === undefined
    ? { ...rule }
    : { ...rule, apiGroups: apiGroups.map((group) => groupInDialect(dialect, group)) };
}

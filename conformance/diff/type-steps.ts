/** Steps on many types: what becomes of an object that says little, and of a change to it. */
import fc from "fast-check";
import type { JsonObject } from "../client/types.ts";
import type { Step } from "./step.ts";

const labels = { app: "x" };
const podSpec: JsonObject = { containers: [{ name: "c", image: "c:1" }] };
const template: JsonObject = { metadata: { labels }, spec: podSpec };
const selector: JsonObject = { matchLabels: labels };
const jobTemplate: JsonObject = { spec: { ...podSpec, restartPolicy: "Never" } };

/** Resource, its group's path, its kind, and the least that a server takes of it. None of them lets a pod start. */
const types: readonly (readonly [resource: string, groupVersion: string, kind: string, rest: JsonObject])[] = [
  ["services", "v1", "Service", { spec: { selector: labels, ports: [{ port: 80 }] } }],
  ["services", "v1", "Service", { spec: { type: "NodePort", selector: labels, ports: [{ port: 80, name: "http" }] } }],
  ["services", "v1", "Service", { spec: { clusterIP: "None", selector: labels, ports: [{ port: 80 }] } }],
  ["services", "v1", "Service", { spec: { type: "ExternalName", externalName: "example.com" } }],
  ["services", "v1", "Service", { spec: { ports: [] } }],
  ["secrets", "v1", "Secret", { stringData: { a: "1" } }],
  ["secrets", "v1", "Secret", { type: "svc.io/basic-auth", data: {} }],
  ["serviceaccounts", "v1", "ServiceAccount", {}],
  ["podtemplates", "v1", "PodTemplate", { template }],
  ["replicationcontrollers", "v1", "ReplicationController", { spec: { replicas: 0, selector: labels, template } }],
  ["limitranges", "v1", "LimitRange", { spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } }],
  ["resourcequotas", "v1", "ResourceQuota", { spec: { hard: { pods: "10" } } }],
  [
    "persistentvolumeclaims",
    "v1",
    "PersistentVolumeClaim",
    {
      spec: { storageClassName: "absent", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
  ],
  ["endpoints", "v1", "Endpoints", { subsets: [] }],
  ["deployments", "apps/v1", "Deployment", { spec: { replicas: 0, selector, template } }],
  ["deployments", "apps/v1", "Deployment", { spec: { selector: {}, template } }],
  ["statefulsets", "apps/v1", "StatefulSet", { spec: { replicas: 0, serviceName: "x", selector, template } }],
  [
    "daemonsets",
    "apps/v1",
    "DaemonSet",
    { spec: { selector, template: { ...template, spec: { ...podSpec, nodeSelector: { nowhere: "x" } } } } },
  ],
  ["replicasets", "apps/v1", "ReplicaSet", { spec: { replicas: 0, selector, template } }],
  ["jobs", "batch/v1", "Job", { spec: { suspend: true, template: jobTemplate } }],
  [
    "cronjobs",
    "batch/v1",
    "CronJob",
    { spec: { suspend: true, schedule: "0 0 1 1 *", jobTemplate: { spec: { template: jobTemplate } } } },
  ],
  ["poddisruptionbudgets", "policy/v1", "PodDisruptionBudget", { spec: { minAvailable: 1, selector } }],
  [
    "horizontalpodautoscalers",
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "absent" } } },
  ],
  [
    "ingresses",
    "networking.svc.io/v1",
    "Ingress",
    { spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } } },
  ],
  ["networkpolicies", "networking.svc.io/v1", "NetworkPolicy", { spec: { podSelector: {} } }],
  [
    "roles",
    "rbac.authorization.svc.io/v1",
    "Role",
    { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  ],
  [
    "rolebindings",
    "rbac.authorization.svc.io/v1",
    "RoleBinding",
    {
      roleRef: { apiGroup: "rbac.authorization.svc.io", kind: "Role", name: "x" },
      subjects: [{ kind: "User", name: "x" }],
    },
  ],
  ["leases", "coordination.svc.io/v1", "Lease", { spec: { holderIdentity: "x", leaseDurationSeconds: 10 } }],
  ["endpointslices", "discovery.svc.io/v1", "EndpointSlice", { addressType: "IPv4", endpoints: [], ports: [] }],
];

const pathOf = (resource: string, groupVersion: string): string =>
  `${groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`}/namespaces/{ns}/${resource}`;

const anyType = fc.constantFrom(...types);

const changes: readonly JsonObject[] = [
  { metadata: { labels: { more: "1" } } },
  { metadata: { labels: null } },
  { spec: { selector: { matchLabels: { app: "y" } } } },
  { spec: { replicas: -1 } },
  { spec: null },
];

/** One object of a type and all that is done with it: types do not meet, so programs of one type see the most. */
export const typePrograms = anyType.chain(([resource, groupVersion, kind, rest]) => {
  const path = pathOf(resource, groupVersion);
  const create: Step = {
    what: `create in ${resource}`,
    method: "POST",
    path,
    body: { apiVersion: groupVersion, kind, metadata: { name: "x", labels }, ...rest },
  };
  const others: readonly Step[] = [
    { what: `get in ${resource}`, method: "GET", path: `${path}/x` },
    {
      what: `read a table of ${resource}`,
      method: "GET",
      path,
      headers: { accept: "application/json;as=Table;g=meta.svc.io;v=v1" },
    },
    { what: `delete in ${resource}`, method: "DELETE", path: `${path}/x` },
    ...changes.map(
      (body): Step => ({
        what: `merge patch in ${resource}`,
        method: "PATCH",
        path: `${path}/x`,
        headers: { "content-type": "application/merge-patch+json" },
        body,
      }),
    ),
  ];
  return fc.array(fc.constantFrom(create, create, ...others), { minLength: 1, maxLength: 5 });
});

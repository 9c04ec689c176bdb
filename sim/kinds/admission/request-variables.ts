/**
 * What expressions about a request can see, as types: the request, the object before and after, and the authorizer.
 * Source: the published variables of match conditions and admission policies.
 */
import { authorizerType, requestResourceType } from "../../expressions/library/authorizers.ts";
import {
  bool,
  type CelType,
  dyn,
  int,
  listOf,
  mapOf,
  type ObjectField,
  string,
  timestamp,
} from "../../expressions/types.ts";

const objectType = (name: string, fields: Readonly<Record<string, CelType>>): CelType => ({
  is: "object",
  name,
  fields: new Map(Object.entries(fields).map(([field, type]): [string, ObjectField] => [field, { name: field, type }])),
});

const kind = objectType("kubernetes.GroupVersionKind", { group: string, version: string, kind: string });
const resource = objectType("kubernetes.GroupVersionResource", { group: string, version: string, resource: string });
const userInfo = objectType("kubernetes.UserInfo", {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
});

export const requestType = objectType("kubernetes.AdmissionRequest", {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo,
  dryRun: bool,
  options: dyn,
});

const metadata = objectType("kubernetes.NamespaceMetadata", {
  name: string,
  generateName: string,
  namespace: string,
  labels: mapOf(string, string),
  annotations: mapOf(string, string),
  uid: string,
  creationTimestamp: timestamp,
  deletionGracePeriodSeconds: int,
  deletionTimestamp: timestamp,
  generation: int,
  resourceVersion: string,
  finalizers: listOf(string),
});

export const namespaceType = objectType("kubernetes.Namespace", {
  metadata,
  spec: objectType("kubernetes.NamespaceSpec", { finalizers: listOf(string) }),
  status: objectType("kubernetes.NamespaceStatus", { phase: string }),
});

/** The variables that every expression about a request has. Webhooks are not told of the namespace. */
export const requestVariables: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["object", dyn],
  ["oldObject", dyn],
  ["request", requestType],
  ["namespaceObject", namespaceType],
  ["authorizer", { is: "simple", name: authorizerType }],
  ["authorizer.requestResource", { is: "simple", name: requestResourceType }],
]);

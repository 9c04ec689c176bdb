/**
 * What expressions about a request can see: the request, the object before and after, and the authorizer.
 * Source: the published variables of match conditions and admission policies.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { User } from "../access/authenticate.ts";
import type { Authorizer } from "../access/authorize.ts";
import { fromJson } from "../../expressions/json-values.ts";
import {
  type Ask,
  authorizerType,
  authorizerValue,
  requestResourceType,
  requestResourceValue,
} from "../../expressions/library/authorizers.ts";
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
import type { Value } from "../../expressions/values.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { copyJson } from "../../objects/copy.ts";
import type { AdmissionReview } from "./admission.ts";
import { requestOf } from "./webhooks-review.ts";

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

const requestType = objectType("kubernetes.AdmissionRequest", {
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

const namespaceType = objectType("kubernetes.Namespace", {
  metadata,
  spec: objectType("kubernetes.NamespaceSpec", { finalizers: listOf(string) }),
  status: objectType("kubernetes.NamespaceStatus", { phase: string }),
});

/** The namespace of a request; null for what lies in none. */
export const namespaceValue = (namespace: JsonObject | undefined): Value =>
  namespace === undefined ? null : fromJson(namespace, namespaceType);

/** The variables that every expression about a request has. Webhooks are not told of the namespace. */
export const requestVariables: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["object", dyn],
  ["oldObject", dyn],
  ["request", requestType],
  ["namespaceObject", namespaceType],
  ["authorizer", { is: "simple", name: authorizerType }],
  ["authorizer.requestResource", { is: "simple", name: requestResourceType }],
]);

export interface ExpressionPorts {
  readonly dialect: Dialect;
  readonly authorizer: Authorizer;
}

export function requestValues(
  { dialect, authorizer }: ExpressionPorts,
  review: AdmissionReview,
): Readonly<Record<string, Value>> {
  const { place: shown, asked: place = shown, namespace, name, user } = review;
  const ask = asking(authorizer, user);
  const subresource = place.subresource?.subresource ?? "";
  const { group, resource: plural } = place.resourceName;
  // Of what was left out, expressions see nothing.
  const request = copyJson(requestOf(review, dialect) as unknown as JsonObject);
  return {
    object: review.object === undefined ? null : fromJson(review.object),
    oldObject: review.oldObject === undefined ? null : fromJson(review.oldObject),
    request: fromJson({ name: "", namespace: "", subResource: "", requestSubResource: "", ...request }, requestType),
    authorizer: authorizerValue(ask),
    "authorizer.requestResource": requestResourceValue(ask, { group, resource: plural, subresource, namespace, name }),
  };
}

/** Asks for the user of the request, or for a service account. */
const asking =
  (authorizer: Authorizer, user: User): Ask =>
  ({
    user: account,
    path,
    verb = "",
    group = "",
    resource: plural = "",
    subresource = "",
    namespace = "",
    name = "",
  }) => {
    const asker = account === undefined ? user : serviceAccount(account);
    const decision =
      path === undefined
        ? authorizer(asker, {
            is: "resource",
            verb,
            resource: { group, resource: plural },
            version: "*",
            subresource,
            namespace,
            name,
          })
        : authorizer(asker, { is: "path", verb, path });
    return decision;
  };

function serviceAccount(account: string): User {
  const namespace = account.split(":")[2] ?? "";
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { name: account, uid: "", groups };
}

/** What a cluster has before anybody has written to it. */
import { defaultClusterRoleBindings, defaultClusterRoles } from "../access/rbac/default-roles.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { decodeObject } from "../../objects/decode.ts";
import { readIp } from "../../kinds/shared/ip-fields.ts";
import { localApiServices, localCondition } from "../../kinds/apiregistration/api-service.ts";
import { systemPriorityClasses } from "../../kinds/scheduling/priority-class.ts";
import { serverManager, trackManagedFields } from "../../objects/managed-fields.ts";
import { prepareForCreate, wipeSystemFields } from "../../objects/system-fields.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { firstAddress } from "./service-network.ts";
import type { Writer } from "./writer.ts";

/** `default` and the dialect's own three, unless a server before this one has made them. */
export function bootstrapNamespaces(writer: Writer): void {
  const { profile } = writer.context;
  const resource = writer.resources.named("", "v1", "namespaces");
  const { system, nodeLease, public: open } = profile.dialect.systemNamespaces;
  for (const name of ["default", nodeLease, open, system]) {
    makeUnlessThere(writer, resource, { metadata: { name } });
  }
}

/** Each group version that the server serves itself, as the registry of served APIs lists it. */
export function bootstrapApiServices(writer: Writer): void {
  const { dialect } = writer.context.profile;
  const resource = writer.resources.named("apiregistration.svc.io", "v1", "apiservices");
  const now = writer.times.now();
  const status = { conditions: [{ ...localCondition, lastTransitionTime: now }] };
  for (const object of localApiServices(dialect)) makeUnlessThere(writer, resource, object, status);
}

/** The classes of pods that a cluster cannot do without. */
export function bootstrapPriorityClasses(writer: Writer): void {
  const resource = writer.resources.named("scheduling.svc.io", "v1", "priorityclasses");
  for (const object of systemPriorityClasses) makeUnlessThere(writer, resource, object);
}

/** The roles and bindings that role-based authorization starts with. */
export function bootstrapRoles(writer: Writer): void {
  const { dialect } = writer.context.profile;
  const named = (resource: string): ServedResource =>
    writer.resources.named("rbac.authorization.svc.io", "v1", resource);
  for (const role of defaultClusterRoles(dialect)) makeUnlessThere(writer, named("clusterroles"), role);
  for (const binding of defaultClusterRoleBindings(dialect)) {
    makeUnlessThere(writer, named("clusterrolebindings"), binding);
  }
}

/**
 * The service by which the server is reached from inside the cluster, unless a server before this one has made it. A
 * name is no address that endpoints could have. Simplification: several servers on one store are not listed side by
 * side, and what somebody else makes of all this is not put right. Source: the published controllers.
 */
export function bootstrapOwnService(writer: Writer, { host, port }: { host: string; port: number }): void {
  const address = firstAddress(writer.context.serviceNetwork);
  const ports = [{ name: "https", protocol: "TCP", port: 443, targetPort: port }];
  const spec = {
    ports,
    clusterIP: address,
    clusterIPs: [address],
    type: "ClusterIP",
    sessionAffinity: "None",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    internalTrafficPolicy: "Cluster",
  };
  const labels = { component: "apiserver", provider: "kubernetes" };
  const metadata = { name: ownServiceName, namespace: "default", labels };
  makeUnlessThere(writer, writer.resources.named("", "v1", "services"), { metadata, spec }, { loadBalancer: {} });
  if (readIp(host) !== undefined) bootstrapOwnEndpoints(writer, host, port);
}

const ownServiceName = "kubernetes";

/**
 * Since when the server notes the use of old tokens of service accounts; controllers ask for it. There are none of these
 * tokens here, so that nothing else is noted. Source: the published controller of it.
 */
export function bootstrapTokenTracking(writer: Writer): void {
  const { system: namespace } = writer.context.profile.dialect.systemNamespaces;
  const name = `${namespace.replace(/system$/, "")}apiserver-legacy-service-account-token-tracking`;
  const since = writer.times.now().slice(0, "2026-01-01".length);
  makeUnlessThere(writer, writer.resources.named("", "v1", "configmaps"), {
    metadata: { name, namespace },
    data: { since },
  });
}

function bootstrapOwnEndpoints(writer: Writer, ip: string, port: number): void {
  const { dialect } = writer.context.profile;
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const labelled = (labels: JsonObject): JsonObject => ({ name: ownServiceName, namespace: "default", labels });
  const endpoints = {
    metadata: labelled({ [`endpointslice.${dialect.labelSuffix}/skip-mirror`]: "true" }),
    subsets: [{ addresses: [{ ip }], ports }],
  };
  const slice = {
    metadata: labelled({ [`${dialect.labelSuffix}/service-name`]: ownServiceName }),
    addressType: ip.includes(":") ? "IPv6" : "IPv4",
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports,
  };
  makeUnlessThere(writer, writer.resources.named("", "v1", "endpoints"), endpoints);
  makeUnlessThere(writer, writer.resources.named("discovery.svc.io", "v1", "endpointslices"), slice);
}

/** `status` is for kinds whose creation forgets it. */
function makeUnlessThere(writer: Writer, resource: ServedResource, object: JsonObject, status?: JsonObject): void {
  const { name, namespace = "" } = object["metadata"] as { readonly name: string; readonly namespace?: string };
  if (writer.live(resource, namespace, name) !== undefined) return;
  const { draft } = decodeObject(object, "json", resource.target, "Strict");
  wipeSystemFields(draft);
  prepareForCreate(draft, resource.strategy, writer.createContext());
  const manager = serverManager(writer.context.profile.dialect);
  const { strategy, apiVersion } = resource;
  trackManagedFields(draft, undefined, strategy, { manager, apiVersion, subresource: "", now: writer.times.now() });
  if (status !== undefined) draft["status"] = status;
  writer.create(resource, draft, false);
}

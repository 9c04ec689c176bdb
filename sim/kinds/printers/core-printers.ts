/** Nodes, services, events and the other core kinds in tables. Source: recorded tables; the published printers. */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { selectorText } from "../../objects/selector-text.ts";
import {
  ageColumn,
  at,
  column,
  conditionStatus,
  listAt,
  mapAt,
  nameColumn,
  none,
  numberAt,
  orNone,
  type Printer,
  printer,
  since,
  sizeAt,
  textAt,
  unknown,
  wide,
} from "./printer.ts";

const text = (path: string) => (it: JsonObject) => textAt(it, path);

export const corePrinters: Readonly<Record<string, Printer>> = {
  Namespace: printer(nameColumn, column("Status", "Whether it is active or going.", text("status.phase")), ageColumn),
  ConfigMap: printer(
    nameColumn,
    column("Data", "How many entries there are.", (it) => sizeAt(it, "data") + sizeAt(it, "binaryData")),
    ageColumn,
  ),
  Secret: printer(
    nameColumn,
    column("Type", "What the secret is for.", text("type")),
    column("Data", "How many entries there are.", (it) => sizeAt(it, "data")),
    ageColumn,
  ),
  ServiceAccount: printer(
    nameColumn,
    column("Secrets", "How many secrets it may use.", (it) => sizeAt(it, "secrets")),
    ageColumn,
  ),
  Node: printer(
    nameColumn,
    column("Status", "Whether the node is ready, and open to new pods.", nodeStatus),
    column("Roles", "What the node's labels say it is for.", nodeRoles),
    ageColumn,
    column("Version", "The version of the node's agent.", text("status.nodeInfo.kubeletVersion")),
    wide(column("Internal-IP", "Its address inside the cluster.", (it) => nodeAddress(it, "InternalIP"))),
    wide(column("External-IP", "Its address outside the cluster.", (it) => nodeAddress(it, "ExternalIP"))),
    wide(column("OS-Image", "Its operating system.", nodeInfo("osImage"))),
    wide(column("Kernel-Version", "Its kernel.", nodeInfo("kernelVersion"))),
    wide(column("Container-Runtime", "What runs its containers.", nodeInfo("containerRuntimeVersion"))),
  ),
  Service: printer(
    nameColumn,
    column("Type", "How the service is reached.", text("spec.type")),
    column("Cluster-IP", "Its address inside the cluster.", (it) =>
      orNone(String(listAt(it, "spec.clusterIPs")[0] ?? textAt(it, "spec.clusterIP"))),
    ),
    column("External-IP", "Its addresses outside the cluster.", externalAddresses),
    column("Port(s)", "Its ports; after a colon, those of the nodes.", servicePorts),
    ageColumn,
    wide(column("Selector", "Labels of the pods behind it.", (it) => orNone(selectorText(mapAt(it, "spec.selector"))))),
  ),
  Endpoints: printer(nameColumn, column("Endpoints", "Addresses and ports.", endpoints), ageColumn),
  Event: printer(
    column("Last Seen", "How long ago it happened last.", (it, now) => since(lastSeen(it), now)),
    column("Type", "Whether it is normal or a warning.", text("type")),
    column("Reason", "What happened, in a word.", text("reason")),
    column("Object", "What it is about.", subject),
    wide(column("Subobject", "Which part of it.", (it) => textAt(regarding(it), "fieldPath"))),
    wide(column("Source", "Who reports it.", source)),
    column("Message", "What happened.", (it) => (textAt(it, "message") || textAt(it, "note")).trim()),
    wide(column("First Seen", "How long ago it happened first.", (it, now) => since(firstSeen(it), now))),
    wide(column("Count", "How often it happened.", eventCount)),
    wide(nameColumn),
  ),
  PersistentVolume: printer(
    nameColumn,
    column("Capacity", "How much it holds.", text("spec.capacity.storage")),
    column("Access Modes", "How it can be mounted.", (it) => accessModes(at(it, "spec.accessModes"))),
    column("Reclaim Policy", "What becomes of it when it is released.", text("spec.persistentVolumeReclaimPolicy")),
    column("Status", "Whether it is free, bound or going.", phase),
    column("Claim", "Who has it.", (it) => {
      const claim = at(it, "spec.claimRef");
      return claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`;
    }),
    column("StorageClass", "What kind of storage it is.", text("spec.storageClassName")),
    column("VolumeAttributesClass", "The class of its attributes.", orUnset("spec.volumeAttributesClassName")),
    column("Reason", "Why it is in this state.", text("status.reason")),
    ageColumn,
    wide(column("VolumeMode", "A filesystem, or a block device.", orUnset("spec.volumeMode"))),
  ),
  PersistentVolumeClaim: printer(
    nameColumn,
    column("Status", "Whether it is bound.", phase),
    column("Volume", "The volume that it has.", text("spec.volumeName")),
    column("Capacity", "How much it holds.", (it) => (isBound(it) ? textAt(it, "status.capacity.storage") || "0" : "")),
    column("Access Modes", "How it can be mounted.", (it) =>
      isBound(it) ? accessModes(at(it, "status.accessModes")) : "",
    ),
    column("StorageClass", "What kind of storage it asks for.", text("spec.storageClassName")),
    column("VolumeAttributesClass", "The class of its attributes.", orUnset("spec.volumeAttributesClassName")),
    ageColumn,
    wide(column("VolumeMode", "A filesystem, or a block device.", orUnset("spec.volumeMode"))),
  ),
  ResourceQuota: printer(
    nameColumn,
    column("Request", "Used and allowed.", (it) => quotas(it, false)),
    column("Limit", "Used and allowed, of what pods are limited to.", (it) => quotas(it, true)),
    ageColumn,
  ),
  ComponentStatus: printer(
    nameColumn,
    column("Status", "Whether the component is healthy.", componentHealth),
    column("Message", "What the component says.", (it) => textAt(health(it), "message")),
    column("Error", "What is wrong with it.", (it) => textAt(health(it), "error")),
  ),
};

function orUnset(path: string): (it: JsonObject) => string {
  return (it) => textAt(it, path) || "<unset>";
}

function phase(object: JsonObject): string {
  return metadataOf(object).deletionTimestamp === undefined ? textAt(object, "status.phase") : "Terminating";
}

function nodeStatus(node: JsonObject): string {
  const ready = conditionStatus(node, "Ready");
  const state = ready === "" ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  return at(node, "spec.unschedulable") === true ? `${state},SchedulingDisabled` : state;
}

/** `node-role.svc.io/<role>`, or the role as the value of `svc.io/role`; the brand is the server's. */
const rolePrefix = /^node-role\.[^/]+\/(.*)$/;
const roleLabel = /^[^./]+\.io\/role$/;

function nodeRoles(node: JsonObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadataOf(node).labels ?? {})) {
    const role = rolePrefix.exec(key)?.[1] ?? (roleLabel.test(key) ? value : "");
    if (role !== "") roles.add(role);
  }
  return orNone([...roles].sort().join(","));
}

function nodeAddress(node: JsonObject, type: string): string {
  return orNone(
    textAt(
      listAt(node, "status.addresses").find((address) => address["type"] === type),
      "address",
    ),
  );
}

function nodeInfo(field: string): (it: JsonObject) => string {
  return (it) => textAt(it, `status.nodeInfo.${field}`) || unknown;
}

function externalAddresses(service: JsonObject): string {
  const external = (at(service, "spec.externalIPs") ?? []) as readonly string[];
  switch (textAt(service, "spec.type")) {
    case "ClusterIP":
    case "NodePort":
      return orNone(external.join(","));
    case "ExternalName":
      return textAt(service, "spec.externalName");
    case "LoadBalancer": {
      const all = [...loadBalancerAddresses(service), ...external];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    default:
      return unknown;
  }
}

/** Each once, sorted. */
function loadBalancerAddresses(object: JsonObject): readonly string[] {
  const all = listAt(object, "status.loadBalancer.ingress").map((one) => textAt(one, "ip") || textAt(one, "hostname"));
  return [...new Set(all.filter((address) => address !== ""))].sort();
}

function servicePorts(service: JsonObject): string {
  const ports = listAt(service, "spec.ports").map((port) => {
    const nodePort = numberAt(port, "nodePort");
    return `${numberAt(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol")}`;
  });
  return orNone(ports.join(","));
}

const shownMax = 3;

/** The first few, and how many more there are. */
export function firstFew(list: readonly string[]): string {
  const more = list.length - shownMax;
  return list.slice(0, shownMax).join(",") + (more > 0 ? ` + ${more} more...` : "");
}

function endpoints(object: JsonObject): string {
  const subsets = listAt(object, "subsets");
  if (subsets.length === 0) return none;
  const all = subsets.flatMap((subset) => {
    const addresses = listAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = listAt(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => hostAndPort(ip, numberAt(port, "port"))));
  });
  return firstFew(all);
}

const hostAndPort = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/** Events are printed in the form of either group. */
const regarding = (event: JsonObject): Json | undefined => event["involvedObject"] ?? event["regarding"];

function subject(event: JsonObject): string {
  const kind = textAt(regarding(event), "kind").toLowerCase();
  const name = textAt(regarding(event), "name");
  return name === "" ? kind : `${kind}/${name}`;
}

const firstSeen = (event: JsonObject): Json | undefined =>
  event["firstTimestamp"] ?? event["deprecatedFirstTimestamp"] ?? event["eventTime"];

const lastSeen = (event: JsonObject): Json | undefined =>
  at(event, "series.lastObservedTime") ??
  event["lastTimestamp"] ??
  event["deprecatedLastTimestamp"] ??
  firstSeen(event);

function eventCount(event: JsonObject): number {
  if (at(event, "series") !== undefined) return numberAt(event, "series.count");
  return numberAt(event, "count") || numberAt(event, "deprecatedCount") || 1;
}

function source(event: JsonObject): string {
  const old = event["source"] ?? event["deprecatedSource"];
  const component =
    textAt(old, "component") || textAt(event, "reportingComponent") || textAt(event, "reportingController");
  const instance = textAt(old, "host") || textAt(event, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}

const accessModeNames: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function accessModes(modes: Json | undefined): string {
  const list = (modes ?? []) as readonly string[];
  return accessModeNames
    .filter(([mode]) => list.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

const isBound = (claim: JsonObject): boolean => textAt(claim, "spec.volumeName") !== "";

function quotas(quota: JsonObject, limits: boolean): string {
  const hard = mapAt(quota, "status.hard");
  const used = mapAt(quota, "status.used");
  return Object.keys(hard)
    .filter((resource) => resource.startsWith("limits.") === limits)
    .sort()
    .map((resource) => `${resource}: ${String(used[resource] ?? "0")}/${String(hard[resource])}`)
    .join(", ");
}

const health = (component: JsonObject): JsonObject | undefined =>
  listAt(component, "conditions").find(({ type }) => type === "Healthy");

function componentHealth(component: JsonObject): string {
  const status = textAt(health(component), "status");
  if (status === "True") return "Healthy";
  return status === "False" ? "Unhealthy" : "Unknown";
}

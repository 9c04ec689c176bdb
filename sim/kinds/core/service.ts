/**
 * Services: type, ports, affinity, families, and what of their addresses an update keeps. The addresses themselves are
 * given out by `sim/apiserver/verbs/service-addresses.ts`.
 * Source: a recorded dry run; the published server's rules where no recording speaks.
 */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, ownChild, ownItem, ownList } from "../../contract/objects.ts";
import type { Check, Place } from "../../objects/place.ts";
import {
  all,
  always,
  caseOf,
  distinct,
  each,
  fieldRules,
  fields,
  forbidden,
  oneOf,
  required,
  struct,
  unlessEmpty,
} from "../../objects/rules.ts";
import { fill, repetition } from "../shared/fields.ts";
import { labelAmongSeveral, qualifiedName } from "../shared/formats.ts";
import { readIp } from "../shared/ip-fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { eachItem } from "./pod-template.ts";
import { addressFieldCauses, isHeadless, serviceStepCauses } from "./service-addresses.ts";
import { affinity, balancerStatus, ingressOf, isReachedFromOutside, sourceRanges, traffic } from "./service-fields.ts";
import { portNumber, portOrName, protocols } from "./pods/ports.ts";
import {
  printer,
  nameColumn,
  column,
  orNone,
  listAt,
  textAt,
  ageColumn,
  wide,
  mapAt,
  at,
  unknown,
  numberAt,
} from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import { selectorText } from "../../objects/selector-text.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields } from "../shared/field-labels.ts";
import { parseQuantity, type Quantity } from "../../../wire/quantity.ts";
import { type Amounts, noQuantity, oneQuantity, type QuotaUse } from "../../objects/quota-use.ts";

/** The service has an address of its own: not headless, not a name elsewhere. */
export function needsAddress(spec: JsonObject | Draft): boolean {
  return spec["type"] !== "ExternalName" && spec["clusterIP"] !== "None";
}

export function needsNodePorts(spec: JsonObject | Draft): boolean {
  return (
    spec["type"] === "NodePort" || (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false)
  );
}

/** A balancer that spares a hop must ask each node whether it has pods. */
export function needsHealthCheck(spec: JsonObject | Draft): boolean {
  return spec["type"] === "LoadBalancer" && spec["externalTrafficPolicy"] === "Local";
}

const servicePort = struct({
  name: always(all(labelAmongSeveral, unlessEmpty(distinct))),
  port: always(portNumber),
  protocol: required(oneOf(protocols)),
  targetPort: always(portOrName),
  appProtocol: qualifiedName,
});

const notOfNames: Check = (value: Json, at: Place) => {
  if (!Array.isArray(value) || value.length > 0) at.forbidden("may not be set for ExternalName services");
};

const externalName: Check = (text: string, at: Place) => {
  const name = text.replace(/\.$/, "");
  if (name === "") at.required();
  else at.invalidFor(name, dns1123SubdomainErrors(name));
};

const notHeadless: Check = (spec: JsonObject, at: Place) => {
  const { type } = spec;
  if ((type !== "LoadBalancer" && type !== "NodePort") || !isHeadless(spec)) return;
  at.of("clusterIPs", 0).invalid("None", `may not be set to 'None' for ${type} services`);
};

const serviceSpec = struct(
  (spec: JsonObject, at) => {
    const { ports = [], type } = spec;
    if ((ports as readonly Json[]).length === 0 && !isHeadless(spec) && type !== "ExternalName") {
      at.of("ports").required();
    }
  },
  notHeadless,
  caseOf("type", {
    ExternalName: {
      ...fields(["clusterIPs", "ipFamilies", "ipFamilyPolicy"], notOfNames),
      externalName: { zero: "", absent: "", judge: externalName },
    },
  }),
  { ports: each(servicePort) },
  affinity,
  (spec: JsonObject, at) => addressFieldCauses(spec, at.causes),
  { type: required(oneOf(["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"])) },
  caseOf("type", {
    ClusterIP: {
      ports: each(struct({ nodePort: unlessEmpty(forbidden("may not be used when `type` is 'ClusterIP'")) })),
    },
  }),
  { ports: distinctPorts as Check },
);

const serviceRules: KindRules = {
  defaults(draft) {
    const spec = ownChild(draft, "spec");
    fill(spec, "sessionAffinity", "None");
    fill(spec, "type", "ClusterIP");
    affinityDefaults(spec);
    eachItem(spec, "ports", (port) => {
      port["protocol"] ??= "TCP";
      if ((port["targetPort"] ?? 0) === 0 || port["targetPort"] === "") port["targetPort"] = port["port"];
    });
    if (spec["type"] === "ExternalName") return;
    spec["internalTrafficPolicy"] ??= "Cluster";
    if (isReachedFromOutside(spec)) fill(spec, "externalTrafficPolicy", "Cluster");
    if (spec["type"] !== "LoadBalancer") return;
    spec["allocateLoadBalancerNodePorts"] ??= true;
    if (ingressOf(draft).length === 0) return;
    eachItem(ownChild(ownChild(draft, "status"), "loadBalancer"), "ingress", (ingress) => {
      if ((ingress["ip"] ?? "") !== "") ingress["ipMode"] ??= "VIP";
    });
  },
  prepareForCreate(draft) {
    const spec = ownChild(draft, "spec");
    sameAddressTwice(spec, {});
    settleFamilies(spec, {});
  },
  prepareForUpdate(draft, live, subresource) {
    if (subresource !== "") return;
    const spec = ownChild(draft, "spec");
    const before = (live["spec"] ?? {}) as JsonObject;
    sameAddressTwice(spec, before);
    keepAddresses(spec, before);
    dropWithType(spec, before);
    settleFamilies(spec, before);
  },
  validate: fieldRules({ spec: always(serviceSpec) }, sourceRanges, { spec: always(traffic) }),
  stepFirst: true,
  validateUpdate(object, live, causes) {
    serviceStepCauses((object["spec"] ?? {}) as JsonObject, (live["spec"] ?? {}) as JsonObject, causes);
  },
  validateStatus: balancerStatus,
};

function affinityDefaults(spec: Draft): void {
  if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"] !== "ClientIP") return;
  const config = spec["sessionAffinityConfig"] as JsonObject | undefined;
  const given = (config?.["clientIP"] as JsonObject | undefined)?.["timeoutSeconds"];
  if (given === undefined) spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: 10_800 } };
}

/**
 * The one address and the list say the same, whichever of them the client set. When the client changed the one and left
 * the list, the list follows.
 */
function sameAddressTwice(spec: Draft, before: JsonObject): void {
  const address = (spec["clusterIP"] ?? "") as string;
  const isSameList = jsonEqual(spec["clusterIPs"], before["clusterIPs"]);
  if (spec["clusterIPs"] !== undefined && !(isSameList && address !== (before["clusterIP"] ?? ""))) return;
  if (address !== "") spec["clusterIPs"] = [address];
  else delete spec["clusterIPs"];
}

/** What was given out stays when the client does not name it. */
function keepAddresses(spec: Draft, before: JsonObject): void {
  if (needsAddress(before) && needsAddress(spec) && before["clusterIP"] !== undefined) {
    if ((spec["clusterIP"] ?? "") === "") spec["clusterIP"] = before["clusterIP"];
    if (spec["clusterIP"] === before["clusterIP"]) spec["clusterIPs"] ??= before["clusterIPs"];
  }
  if (needsHealthCheck(before) && needsHealthCheck(spec) && (spec["healthCheckNodePort"] ?? 0) === 0) {
    spec["healthCheckNodePort"] = before["healthCheckNodePort"];
  }
  const ports = ownList(spec, "ports");
  if (ports === undefined || !needsNodePorts(before) || !needsNodePorts(spec)) return;
  const given = (before["ports"] ?? []) as readonly JsonObject[];
  for (let at = 0; at < ports.length; at++) {
    const { port, protocol, nodePort = 0 } = ports[at] as Draft;
    const old = given.find((other) => other["port"] === port && other["protocol"] === protocol)?.["nodePort"];
    const isFree = ports.every((other) => other["nodePort"] !== old || other["protocol"] !== protocol);
    if (nodePort === 0 && old !== undefined && isFree) ownItem(ports, at)["nodePort"] = old;
  }
}

type Needs = (spec: JsonObject | Draft) => boolean;

const ofType =
  (type: string): Needs =>
  (spec) =>
    spec["type"] === type;

/** Fields that only some services have. */
const ofSomeTypes: readonly (readonly [needs: Needs, fields: readonly string[]])[] = [
  [(spec) => spec["type"] !== "ExternalName", ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]],
  [needsHealthCheck, ["healthCheckNodePort"]],
  [ofType("LoadBalancer"), ["allocateLoadBalancerNodePorts", "loadBalancerClass"]],
  [isReachedFromOutside, ["externalTrafficPolicy"]],
];

/** What the type no longer has goes, unless the client says something new of it. */
function dropWithType(spec: Draft, before: JsonObject): void {
  const dropped = ofSomeTypes.filter(([needs]) => needs(before) && !needs(spec)).flatMap(([, fields]) => fields);
  for (const field of dropped) if (jsonEqual(spec[field], before[field])) delete spec[field];
  if (!needsNodePorts(before) || needsNodePorts(spec)) return;
  const given = (before["ports"] ?? []) as readonly JsonObject[];
  const ports = ownList(spec, "ports") ?? [];
  const old = new Set(given.map(({ nodePort }) => nodePort));
  if (ports.some(({ nodePort = 0 }) => nodePort !== 0 && !old.has(nodePort))) return;
  for (let at = 0; at < ports.length; at++)
    if (ports[at]?.["nodePort"] !== undefined) delete ownItem(ports, at)["nodePort"];
}

/**
 * There is one family here, but a headless service without a selector, whose endpoints are somebody's, may be of any.
 * What does not fit is left to the validation.
 */
function settleFamilies(spec: Draft, before: JsonObject): void {
  if (spec["type"] === "ExternalName") return;
  const open = spec["clusterIP"] === "None" && Object.keys((spec["selector"] ?? {}) as JsonObject).length === 0;
  spec["ipFamilyPolicy"] ??= before["ipFamilyPolicy"] ?? (open ? "RequireDualStack" : "SingleStack");
  const isSingle = spec["ipFamilyPolicy"] === "SingleStack";
  let families = (spec["ipFamilies"] ?? []) as readonly string[];
  if (isSingle && families.length > 1 && jsonEqual(families as Json, before["ipFamilies"]))
    families = families.slice(0, 1);
  if (families.length === 0) families = [open ? "IPv4" : familyOf((spec["clusterIP"] ?? "") as string)];
  if (open && !isSingle && families.length === 1) families = [...families, families[0] === "IPv4" ? "IPv6" : "IPv4"];
  spec["ipFamilies"] = families as Json;
}

const familyOf = (address: string): string => (readIp(address)?.family === 6 ? "IPv6" : "IPv4");

/** Each port of a node and each of the service is given once for a protocol. */
function distinctPorts(ports: readonly JsonObject[], at: Place): void {
  const isAgain = repetition();
  ports.forEach(({ protocol, nodePort = 0 }, index) => {
    if (nodePort === 0 || !isAgain(`${protocol as string}/node/${nodePort as number}`)) return;
    at.of(index, "nodePort").duplicate(nodePort);
  });
  ports.forEach(({ protocol, port = 0 }, index) => {
    if (!isAgain(`${protocol as string}/${port as number}`)) return;
    at.of(index).duplicateText(goPort(protocol as string, port as number));
  });
}

/** The key fields of a port, in the real server's language. */
function goPort(protocol: string, port: number): string {
  const target = 'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}';
  return (
    `core.ServicePort{Name:"", Protocol:"${protocol}", AppProtocol:(*string)(nil), Port:${port}, ` +
    `TargetPort:${target}, NodePort:0}`
  );
}

/** A service's ports on nodes and its load balancers. Source: the published evaluator. */
const serviceQuota: QuotaUse = {
  counts: (key) => key.startsWith("services."),
  useOf: (service) => ({ traits: undefined, amounts: serviceAmounts(service) }),
  growsOnUpdate: true,
};

function serviceAmounts(object: JsonObject): Amounts {
  const { type, ports = [], allocateLoadBalancerNodePorts } = (object["spec"] ?? {}) as JsonObject;
  const has = type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
  const portCount = has ? (ports as readonly unknown[]).length : 0;
  return new Map([
    ["services.loadbalancers", type === "LoadBalancer" ? oneQuantity : noQuantity],
    ["services.nodeports", parseQuantity(String(portCount)) as Quantity],
  ]);
}

export const serviceKind: KindRow = {
  resource: "/services",
  quota: serviceQuota,
  allocatesAddresses: true,
  nameRule: "label1035",
  createOnUpdate: true,
  returnsDeleted: true,
  rules: serviceRules,
  columns: printer(
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
  fieldLabels: plainFields("spec.clusterIP", "spec.type", "metadata.name", "metadata.namespace"),
};

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

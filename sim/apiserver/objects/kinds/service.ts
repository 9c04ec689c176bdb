/**
 * Services: type, ports, affinity, families, and what of their addresses an update keeps. The addresses themselves are
 * given out by `writes/service-addresses.ts`.
 * Source: a recorded dry run; the published server's rules where no recording speaks.
 */
import { dns1123LabelErrors } from "../../../../wire/names.ts";
import type { Cause } from "../../errors.ts";
import type { JsonObject } from "../../http-message.ts";
import { duplicateValue, forbiddenField, goStrings, invalidText, invalidValue, requiredValue } from "../causes.ts";
import { type Draft, ownChild, ownItem, ownList } from "../types.ts";
import { enumCauses } from "./fields.ts";
import type { KindRules } from "./kind-rules.ts";
import { eachItem } from "./pod-template.ts";
import { serviceFieldCauses } from "./service-fields.ts";
import { portCauses, portOrNameCauses, protocols } from "./pods/ports.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const affinities = ["ClientIP", "None"];

/** The service has an address of its own: not headless, not a name elsewhere. */
export function needsAddress(spec: JsonObject | Draft): boolean {
  return spec["type"] !== "ExternalName" && spec["clusterIP"] !== "None";
}

export function needsNodePorts(spec: JsonObject | Draft): boolean {
  return (
    spec["type"] === "NodePort" || (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false)
  );
}

export const serviceRules: KindRules = {
  defaults(draft) {
    const spec = ownChild(draft, "spec");
    spec["sessionAffinity"] ??= "None";
    spec["type"] ??= "ClusterIP";
    if (spec["sessionAffinity"] === "ClientIP" && spec["sessionAffinityConfig"] === undefined) {
      spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: 10_800 } };
    }
    eachItem(spec, "ports", (port) => {
      port["protocol"] ??= "TCP";
      if ((port["targetPort"] ?? 0) === 0) port["targetPort"] = port["port"];
    });
    if (spec["type"] === "ExternalName") return;
    spec["internalTrafficPolicy"] ??= "Cluster";
    const external = spec["externalIPs"] as readonly string[] | undefined;
    const isReached = spec["type"] !== "ClusterIP" || (external !== undefined && external.length > 0);
    if (isReached) spec["externalTrafficPolicy"] ??= "Cluster";
    if (spec["type"] === "LoadBalancer") spec["allocateLoadBalancerNodePorts"] ??= true;
  },
  prepareForCreate(draft) {
    const spec = ownChild(draft, "spec");
    sameAddressTwice(spec);
    settleFamilies(spec);
  },
  prepareForUpdate(draft, live) {
    const spec = ownChild(draft, "spec");
    keepAddresses(spec, (live["spec"] ?? {}) as JsonObject);
    sameAddressTwice(spec);
    settleFamilies(spec);
  },
  validate(object, causes) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    const ports = (spec["ports"] ?? []) as readonly JsonObject[];
    const headless = spec["clusterIP"] === "None";
    if (ports.length === 0 && !headless && spec["type"] !== "ExternalName") causes.push(requiredValue("spec.ports"));
    portsCauses(ports, causes);
    enumCauses(spec["sessionAffinity"], affinities, "spec.sessionAffinity", causes);
    enumCauses(spec["type"], types, "spec.type", causes);
    typeCauses(spec, causes);
    serviceFieldCauses(spec, causes);
    if (spec["type"] === "ClusterIP") {
      ports.forEach((port, at) => {
        if (((port["nodePort"] ?? 0) as number) === 0) return;
        causes.push(forbiddenField(`spec.ports[${at}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
      });
    }
    duplicatePortCauses(ports, causes);
  },
  stepFirst: true,
  validateUpdate(object, live, causes) {
    const after = (object["spec"] ?? {}) as JsonObject;
    const before = (live["spec"] ?? {}) as JsonObject;
    if (after["type"] === "ExternalName" || before["type"] === "ExternalName") return;
    const addresses = addressesOf(after);
    addressesOf(before).forEach((address, at) => {
      if (addresses[at] === address) return;
      causes.push(invalidText(`spec.clusterIPs[${at}]`, goStrings(addresses), "may not change once set"));
    });
  },
};

const addressesOf = (spec: JsonObject): readonly string[] => (spec["clusterIPs"] ?? []) as readonly string[];

/** The one address and the list say the same, whichever of them the client set. */
function sameAddressTwice(spec: Draft): void {
  if (spec["type"] === "ExternalName") return;
  const address = (spec["clusterIP"] ?? "") as string;
  if (address !== "" && spec["clusterIPs"] === undefined) spec["clusterIPs"] = [address];
}

/** One family, but for a headless service without a selector, whose endpoints may be of any. */
function settleFamilies(spec: Draft): void {
  if (spec["type"] === "ExternalName") return;
  const open = spec["clusterIP"] === "None" && Object.keys((spec["selector"] ?? {}) as JsonObject).length === 0;
  spec["ipFamilyPolicy"] ??= open ? "RequireDualStack" : "SingleStack";
  spec["ipFamilies"] ??= open ? ["IPv4", "IPv6"] : ["IPv4"];
}

/** What was given out stays when the client does not name it, and goes when the type no longer has it. */
function keepAddresses(spec: Draft, before: JsonObject): void {
  if (spec["type"] === "ExternalName") {
    for (const field of ["clusterIP", "clusterIPs"]) {
      if (JSON.stringify(spec[field]) === JSON.stringify(before[field])) delete spec[field];
    }
    if (before["type"] !== "ExternalName") for (const field of ["ipFamilies", "ipFamilyPolicy"]) delete spec[field];
  } else if (needsAddress(before) && needsAddress(spec) && before["clusterIP"] !== undefined) {
    spec["clusterIP"] ??= before["clusterIP"];
    if (spec["clusterIP"] === before["clusterIP"]) spec["clusterIPs"] ??= before["clusterIPs"];
  }
  const ports = ownList(spec, "ports");
  if (ports === undefined || !needsNodePorts(before)) return;
  const given = (before["ports"] ?? []) as readonly JsonObject[];
  for (let at = 0; at < ports.length; at++) {
    const { port, protocol, nodePort } = ports[at] as Draft;
    const old = given.find((other) => other["port"] === port && other["protocol"] === protocol)?.["nodePort"];
    if (old === undefined) continue;
    if (needsNodePorts(spec)) {
      if (nodePort === undefined) ownItem(ports, at)["nodePort"] = old;
    } else if (nodePort === old) delete ownItem(ports, at)["nodePort"];
  }
}

function portsCauses(ports: readonly JsonObject[], causes: Cause[]): void {
  const names = new Set<string>();
  ports.forEach((port, at) => {
    const path = `spec.ports[${at}]`;
    const name = (port["name"] ?? "") as string;
    if (name === "") {
      if (ports.length > 1) causes.push(requiredValue(`${path}.name`));
    } else {
      for (const text of dns1123LabelErrors(name)) causes.push(invalidValue(`${path}.name`, name, text));
      if (names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
      names.add(name);
    }
    portCauses((port["port"] ?? 0) as number, `${path}.port`, causes);
    enumCauses(port["protocol"], protocols, `${path}.protocol`, causes);
    portOrNameCauses(port["targetPort"], `${path}.targetPort`, causes);
  });
}

function typeCauses(spec: JsonObject, causes: Cause[]): void {
  if (spec["type"] !== "ExternalName") return;
  if ((spec["externalName"] ?? "") === "") causes.push(requiredValue("spec.externalName"));
  const address = (spec["clusterIP"] ?? "") as string;
  if (address === "None") {
    causes.push(invalidValue("spec.clusterIPs[0]", address, "may not be set to 'None' for ExternalName services"));
  } else if (address !== "") causes.push(forbiddenField("spec.clusterIPs", "may not be set for ExternalName services"));
}

function duplicatePortCauses(ports: readonly JsonObject[], causes: Cause[]): void {
  const seen = new Set<string>();
  const nodePorts = new Set<string>();
  ports.forEach((item, at) => {
    const { protocol, port, nodePort = 0 } = item as { protocol: string; port: number; nodePort?: number };
    const key = `${protocol}/${port}`;
    if (seen.has(key)) causes.push(duplicateStruct(`spec.ports[${at}]`, protocol, port, 0));
    seen.add(key);
    if (nodePort === 0) return;
    const nodeKey = `${protocol}/${nodePort}`;
    if (nodePorts.has(nodeKey)) causes.push(duplicateStruct(`spec.ports[${at}].nodePort`, protocol, 0, nodePort));
    nodePorts.add(nodeKey);
  });
}

/** A duplicate as the real server prints it: the key fields of a port, in its language. */
function duplicateStruct(field: string, protocol: string, port: number, nodePort: number): Cause {
  const target = 'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}';
  const struct =
    `core.ServicePort{Name:"", Protocol:"${protocol}", AppProtocol:(*string)(nil), Port:${port}, ` +
    `TargetPort:${target}, NodePort:${nodePort}}`;
  return { reason: "FieldValueDuplicate", message: `Duplicate value: ${struct}`, field };
}

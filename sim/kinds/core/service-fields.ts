/**
 * What a service may say of its traffic, given its type.
 * Source: the published validation of services.
 */
import { dns1123SubdomainErrors, qualifiedNameErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, pushInvalid, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { labelCauses } from "../../objects/metadata.ts";
import { type Draft, isObject, metadataOf } from "../../contract/objects.ts";
import { enumCauses, listOf } from "../shared/fields.ts";
import { cidrCauses, ipCauses, readIp } from "../shared/ip-fields.ts";
import { portCauses } from "./pods/ports.ts";

const affinities = ["ClientIP", "None"];
const policies = ["Cluster", "Local"];
const dayMax = 86_400;
const ofBalancers = "may only be used when `type` is 'LoadBalancer'";

/** By its type, or by addresses that somebody else brings here. */
export function isReachedFromOutside(spec: JsonObject | Draft): boolean {
  const { type } = spec;
  if (type === "NodePort" || type === "LoadBalancer") return true;
  return type === "ClusterIP" && ((spec["externalIPs"] ?? []) as readonly string[]).length > 0;
}

export function serviceFieldCauses(spec: JsonObject, causes: Cause[]): void {
  if (isObject(spec["selector"])) {
    labelCauses(spec["selector"] as Readonly<Record<string, string>>, "spec.selector", causes);
  }
  enumCauses(spec["sessionAffinity"], affinities, "spec.sessionAffinity", causes);
  const config = spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"] !== "ClientIP" || !isObject(config) || !isObject(config["clientIP"])) return;
  const seconds = (config["clientIP"]["timeoutSeconds"] ?? 0) as number;
  if (seconds > 0 && seconds <= dayMax) return;
  const detail = `must be greater than 0 and less than ${dayMax}`;
  causes.push(invalidValue("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, detail));
}

/** Balancers, and where traffic from outside and from inside may go. */
export function trafficCauses(service: JsonObject, causes: Cause[]): void {
  const spec = (service["spec"] ?? {}) as JsonObject;
  const { type, loadBalancerClass } = spec;
  const isBalanced = type === "LoadBalancer";
  rangeCauses(service, spec, causes);
  if (spec["allocateLoadBalancerNodePorts"] !== undefined && !isBalanced) {
    causes.push(forbiddenField("spec.allocateLoadBalancerNodePorts", ofBalancers));
  }
  if (loadBalancerClass !== undefined) {
    if (!isBalanced) causes.push(forbiddenField("spec.loadBalancerClass", ofBalancers));
    else {
      pushInvalid(
        "spec.loadBalancerClass",
        loadBalancerClass,
        qualifiedNameErrors(loadBalancerClass as string),
        causes,
      );
    }
  }
  outsideCauses(spec, causes);
  const inside = spec["internalTrafficPolicy"];
  if (inside !== undefined && !policies.includes(inside as string)) {
    causes.push(unsupportedValue("spec.internalTrafficPolicy", inside, policies));
  }
  const distribution = spec["trafficDistribution"];
  if (distribution !== undefined && distribution !== "PreferClose") {
    causes.push(unsupportedValue("spec.trafficDistribution", distribution, ["PreferClose"]));
  }
}

const rangeAnnotations = [
  "service.beta.svc.io/load-balancer-source-ranges",
  "service.beta.kubernetes.io/load-balancer-source-ranges",
];

/** Who may come through the balancer: by the field, or by the annotation that was there before it. */
function rangeCauses(service: JsonObject, spec: JsonObject, causes: Cause[]): void {
  const ranges = (spec["loadBalancerSourceRanges"] ?? []) as readonly string[];
  const { annotations } = metadataOf(service);
  const annotation = rangeAnnotations.find((name) => annotations?.[name] !== undefined);
  if (ranges.length > 0) {
    const path = "spec.LoadBalancerSourceRanges"; // as the real server names it
    if (spec["type"] !== "LoadBalancer") causes.push(forbiddenField(path, ofBalancers));
    ranges.forEach((range, at) => cidrCauses(range.trim(), `${path}[${at}]`, causes));
  } else if (annotation !== undefined) {
    const path = `metadata.annotations[${annotation}]`;
    if (spec["type"] !== "LoadBalancer") causes.push(forbiddenField(path, ofBalancers));
    const list = (annotations?.[annotation] ?? "").trim();
    if (list !== "") for (const range of list.split(",")) cidrCauses(range.trim(), path, causes);
  }
}

function outsideCauses(spec: JsonObject, causes: Cause[]): void {
  const outside = (spec["externalTrafficPolicy"] ?? "") as string;
  const path = "spec.externalTrafficPolicy";
  if (isReachedFromOutside(spec)) enumCauses(outside, policies, path, causes);
  else if (outside !== "") {
    causes.push(invalidValue(path, outside, "may only be set for externally-accessible services"));
  }
  const port = (spec["healthCheckNodePort"] ?? 0) as number;
  if (port === 0) return; // one that is needed is given out
  if (spec["type"] === "LoadBalancer" && outside === "Local") portCauses(port, "spec.healthCheckNodePort", causes);
  else {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    causes.push(invalidValue("spec.healthCheckNodePort", port, detail));
  }
}

export const ingressOf = (service: JsonObject | Draft): readonly JsonObject[] =>
  listOf((((service["status"] ?? {}) as JsonObject)["loadBalancer"] ?? {}) as JsonObject, "ingress");

/** The status of a balanced service: where its balancer is. */
export function balancerCauses(service: JsonObject, _live: JsonObject, causes: Cause[]): void {
  const path = "status.loadBalancer.ingress";
  const ingress = ingressOf(service);
  const { type } = (service["spec"] ?? {}) as JsonObject;
  if (type !== "LoadBalancer" && ingress.length > 0) {
    causes.push(forbiddenField(path, 'may only be used when `spec.type` is "LoadBalancer"'));
    return;
  }
  ingress.forEach(({ ip = "", hostname = "", ipMode }, at) => {
    const here = `${path}[${at}]`;
    if (ip !== "") ipCauses(ip as string, `${here}.ip`, causes);
    if (ip === "" && ipMode !== undefined) {
      causes.push(forbiddenField(`${here}.ipMode`, "may not be specified when `ip` is not set"));
    } else if (ip !== "" && ipMode === undefined) {
      causes.push(requiredValue(`${here}.ipMode`, "must be specified when `ip` is set"));
    } else if (ipMode !== undefined && ipMode !== "VIP" && ipMode !== "Proxy") {
      causes.push(unsupportedValue(`${here}.ipMode`, ipMode, ["Proxy", "VIP"]));
    }
    if (hostname === "") return;
    pushInvalid(`${here}.hostname`, hostname, dns1123SubdomainErrors(hostname as string), causes);
    if (readIp(hostname as string) !== undefined) {
      causes.push(invalidValue(`${here}.hostname`, hostname, "must be a DNS name, not an IP address"));
    }
  });
}

/**
 * What a service may say of its traffic and its addresses, given its type.
 * Source: the published validation of services.
 */
import type { Cause } from "../../errors.ts";
import type { Json, JsonObject } from "../../http-message.ts";
import { parseIp } from "../../expressions/library/ip-address.ts";
import { duplicateValue, forbiddenField, invalidValue, unsupportedValue } from "../causes.ts";
import { labelCauses } from "../metadata.ts";
import { isObject } from "../types.ts";
import { enumCauses } from "./fields.ts";

const policies = ["Cluster", "Local"];
const families = ["IPv4", "IPv6"];
const familyPolicies = ["SingleStack", "PreferDualStack", "RequireDualStack"];
const dayMax = 86_400;

export function serviceFieldCauses(spec: JsonObject, causes: Cause[]): void {
  if (isObject(spec["selector"])) {
    labelCauses(spec["selector"] as Readonly<Record<string, string>>, "spec.selector", causes);
  }
  affinityCauses(spec, causes);
  familyCauses(spec, causes);
  textsOf(spec["externalIPs"]).forEach((address, at) => {
    if (isAddress(address)) return;
    const detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    causes.push(invalidValue(`spec.externalIPs[${at}]`, address, detail));
  });
  const { type } = spec;
  if (spec["clusterIP"] === "None" && (type === "NodePort" || type === "LoadBalancer")) {
    causes.push(invalidValue("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`));
  }
  if (spec["allocateLoadBalancerNodePorts"] !== undefined && type !== "LoadBalancer") {
    const detail = "may only be used when `type` is 'LoadBalancer'";
    causes.push(forbiddenField("spec.allocateLoadBalancerNodePorts", detail));
  }
  trafficCauses(spec, causes);
}

const textsOf = (list: Json | undefined): readonly string[] => (list ?? []) as readonly string[];

function isAddress(text: string): boolean {
  try {
    parseIp(text);
    return true;
  } catch {
    return false;
  }
}

function affinityCauses(spec: JsonObject, causes: Cause[]): void {
  const config = spec["sessionAffinityConfig"];
  if (!isObject(config)) return;
  if (spec["sessionAffinity"] === "None") {
    const detail = "must not be set when session affinity is None";
    causes.push(forbiddenField("spec.sessionAffinityConfig", detail));
    return;
  }
  const seconds = isObject(config["clientIP"])
    ? (config["clientIP"]["timeoutSeconds"] as number | undefined)
    : undefined;
  if (seconds === undefined || (seconds > 0 && seconds <= dayMax)) return;
  const detail = `must be greater than 0 and less than ${dayMax}`;
  causes.push(invalidValue("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, detail));
}

function familyCauses(spec: JsonObject, causes: Cause[]): void {
  const policy = spec["ipFamilyPolicy"];
  if (policy !== undefined && !familyPolicies.includes(policy as string)) {
    causes.push(unsupportedValue("spec.ipFamilyPolicy", policy, familyPolicies));
  }
  const seen = new Set<string>();
  textsOf(spec["ipFamilies"]).forEach((family, at) => {
    const path = `spec.ipFamilies[${at}]`;
    if (!families.includes(family)) causes.push(unsupportedValue(path, family, families));
    if (seen.has(family)) causes.push(duplicateValue(path, family));
    seen.add(family);
  });
}

/** Traffic from outside is for services that are reached from there; traffic from inside for all that have addresses. */
function trafficCauses(spec: JsonObject, causes: Cause[]): void {
  const { type } = spec;
  const isReached =
    type === "NodePort" || type === "LoadBalancer" || (type === "ClusterIP" && textsOf(spec["externalIPs"]).length > 0);
  const outside = (spec["externalTrafficPolicy"] ?? "") as string;
  const path = "spec.externalTrafficPolicy";
  if (isReached) enumCauses(outside, policies, path, causes);
  else if (outside !== "") {
    causes.push(invalidValue(path, outside, "may only be set for externally-accessible services"));
  }
  const inside = spec["internalTrafficPolicy"];
  if (inside !== undefined) enumCauses(inside, policies, "spec.internalTrafficPolicy", causes);
}

/**
 * What a service may say of its traffic, given its type.
 * Source: the published validation of services.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { type Draft, metadataOf } from "../../contract/objects.ts";
import type { Place } from "../../objects/place.ts";
import {
  all,
  between,
  caseOf,
  each,
  eachUnnumbered,
  forbidden,
  oneOf,
  required,
  statusFieldRules,
  struct,
  textThat,
  unlessEmpty,
} from "../../objects/rules.ts";
import { listOf } from "../shared/fields.ts";
import { labels, qualifiedName, subdomain } from "../shared/formats.ts";
import { cidrBlock, ipAddress, readIp } from "../shared/ip-fields.ts";
import { portNumber } from "./pods/ports.ts";

const policy = oneOf(["Cluster", "Local"]);
const dayMax = 86_400;
const ofBalancers = "may only be used when `type` is 'LoadBalancer'";

/** By its type, or by addresses that somebody else brings here. */
export function isReachedFromOutside(spec: JsonObject | Draft): boolean {
  const { type } = spec;
  if (type === "NodePort" || type === "LoadBalancer") return true;
  return type === "ClusterIP" && ((spec["externalIPs"] ?? []) as readonly string[]).length > 0;
}

const seconds = between(1, dayMax, `must be greater than 0 and less than ${dayMax}`);

export const affinity = struct(
  { selector: labels, sessionAffinity: required(oneOf(["ClientIP", "None"])) },
  caseOf("sessionAffinity", {
    ClientIP: { "sessionAffinityConfig.clientIP": struct({ timeoutSeconds: { ...seconds, absent: 0 } }) },
  }),
);

const onlyOfBalancers = forbidden(ofBalancers);

/** Balancers, and where traffic from outside and from inside may go. */
export const traffic = struct(
  caseOf(
    "type",
    { LoadBalancer: { loadBalancerClass: qualifiedName } },
    { allocateLoadBalancerNodePorts: onlyOfBalancers, loadBalancerClass: onlyOfBalancers },
  ),
  fromOutside,
  { internalTrafficPolicy: policy, trafficDistribution: oneOf(["PreferClose"]) },
);

function fromOutside(spec: JsonObject, at: Place): void {
  const { externalTrafficPolicy: outside = "", healthCheckNodePort: port = 0 } = spec;
  if (isReachedFromOutside(spec)) at.judge("externalTrafficPolicy", outside, required(policy));
  else if (outside !== "") {
    at.of("externalTrafficPolicy").invalid(outside, "may only be set for externally-accessible services");
  }
  if (port === 0) return; // one that is needed is given out
  if (spec["type"] === "LoadBalancer" && outside === "Local") at.judge("healthCheckNodePort", port, portNumber);
  else {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    at.of("healthCheckNodePort").invalid(port, detail);
  }
}

const rangeAnnotations = [
  "service.beta.svc.io/load-balancer-source-ranges",
  "service.beta.kubernetes.io/load-balancer-source-ranges",
];

const range = (text: string, at: Place): void => cidrBlock.judge(text.trim() as never, at);
const ranges = each(range);
const rangesInText = eachUnnumbered(range);

/** Who may come through the balancer: by the field, or by the annotation that was there before it. */
export function sourceRanges(service: JsonObject, at: Place): void {
  const { type, loadBalancerSourceRanges: list = [] } = (service["spec"] ?? {}) as JsonObject;
  const { annotations } = metadataOf(service);
  const annotation = rangeAnnotations.find((name) => annotations?.[name] !== undefined);
  if ((list as readonly string[]).length > 0) {
    const field = at.of("spec", "LoadBalancerSourceRanges"); // as the real server names it
    if (type !== "LoadBalancer") field.forbidden(ofBalancers);
    ranges.judge(list as never, field);
  } else if (annotation !== undefined) {
    const place = at.of("metadata", "annotations", [annotation]);
    if (type !== "LoadBalancer") place.forbidden(ofBalancers);
    const text = (annotations?.[annotation] ?? "").trim();
    if (text !== "") rangesInText.judge(text.split(",") as never, place);
  }
}

export const ingressOf = (service: JsonObject | Draft): readonly JsonObject[] =>
  listOf((((service["status"] ?? {}) as JsonObject)["loadBalancer"] ?? {}) as JsonObject, "ingress");

const ipMode = oneOf(["Proxy", "VIP"]);
const noAddress = textThat((name) => readIp(name) === undefined, "must be a DNS name, not an IP address");

const ingress = struct(
  { ip: unlessEmpty(ipAddress) },
  ({ ip = "", ipMode: mode }: JsonObject, at) => {
    if (ip === "" && mode !== undefined) at.of("ipMode").forbidden("may not be specified when `ip` is not set");
    else if (ip !== "" && mode === undefined) at.of("ipMode").required("must be specified when `ip` is set");
    else at.judge("ipMode", mode, ipMode);
  },
  { hostname: unlessEmpty(all(subdomain, noAddress)) },
);

/** The status of a balanced service: where its balancer is. */
export const balancerStatus = statusFieldRules((service: JsonObject, at) => {
  const list = ingressOf(service);
  const { type } = (service["spec"] ?? {}) as JsonObject;
  if (type === "LoadBalancer") at.judge("status.loadBalancer.ingress", list, each(ingress));
  else if (list.length > 0) {
    at.of("status.loadBalancer.ingress").forbidden('may only be used when `spec.type` is "LoadBalancer"');
  }
});

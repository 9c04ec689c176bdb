import { svcDialect } from "../../../wire/dialect.ts";
import { expect, it } from "vitest";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint } from "../../objects/objects.fixture.ts";
import { validateCreate } from "../../objects/validation.ts";

const services = endpoint("v1/services");
const texts = (fields: JsonObject): readonly string[] => {
  const body = { metadata: { name: "s" }, spec: { ports: [{ port: 80 }], ...fields } };
  return validateCreate(create(body, services), services.strategy).map(({ field, message }) => `${field}: ${message}`);
};

it.each([
  {},
  { clusterIP: "None" },
  { type: "NodePort", externalTrafficPolicy: "Local" },
  { externalIPs: ["192.0.2.1", "2001:db8::1"], externalTrafficPolicy: "Local" },
  { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_400 } } },
])("%j is a service", (fields) => expect(texts(fields as JsonObject)).toEqual([]));

const wrong: readonly (readonly [JsonObject, string])[] = [
  [
    { type: "NodePort", clusterIP: "None" },
    "clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort",
  ],
  [{ externalTrafficPolicy: "Local" }, 'externalTrafficPolicy: Invalid value: "Local": may only be set for externally'],
  [{ type: "NodePort", externalTrafficPolicy: "Q" }, 'externalTrafficPolicy: Unsupported value: "Q"'],
  [{ internalTrafficPolicy: "Q" }, 'internalTrafficPolicy: Unsupported value: "Q"'],
  [
    { externalIPs: ["x"], externalTrafficPolicy: "Local" },
    'externalIPs[0]: Invalid value: "x": must be a valid IP address',
  ],
  [{ ipFamilyPolicy: "Z" }, 'ipFamilyPolicy: Unsupported value: "Z"'],
  [{ ipFamilies: ["IPv4", "IPv4"] }, 'ipFamilies[1]: Duplicate value: "IPv4"'],
  [{ selector: { a: "b c" } }, 'selector: Invalid value: "b c"'],
  [{ allocateLoadBalancerNodePorts: true }, "allocateLoadBalancerNodePorts: Forbidden: may only be used when"],
  [
    { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    "sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0",
  ],
  [{ trafficDistribution: "Z" }, 'trafficDistribution: Unsupported value: "Z": supported values: "PreferClose"'],
  [{ loadBalancerClass: "a.b/c" }, "loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
  [
    { type: "LoadBalancer", loadBalancerClass: "a b" },
    'loadBalancerClass: Invalid value: "a b": name part must consist',
  ],
  [
    { type: "LoadBalancer", loadBalancerSourceRanges: [" 10.0.0.0/8", "10.0.0.0/40"] },
    'LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.0/40": must be a valid CIDR value',
  ],
  [{ healthCheckNodePort: 30_000 }, "healthCheckNodePort: Invalid value: 30000: may only be set when `type`"],
  [
    { externalIPs: ["127.0.0.1"], externalTrafficPolicy: "Local" },
    'externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback',
  ],
  [{ clusterIP: "foo" }, 'clusterIPs[0]: Invalid value: "foo": must be a valid IP address'],
  [
    { clusterIPs: ["10.0.0.1"] },
    'clusterIPs: Invalid value: []string{"10.0.0.1"}: must be empty when `clusterIP` is not',
  ],
  [
    { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
    'clusterIPs: Invalid value: []string{"10.0.0.2"}: first value must match',
  ],
  [
    { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "10.0.0.2"], ipFamilyPolicy: "PreferDualStack" },
    'clusterIPs: Invalid value: []string{"10.0.0.1", "10.0.0.2"}: may specify no more than one IP for each IP family',
  ],
  [
    { ipFamilies: ["IPv4"], clusterIP: "::1" },
    'clusterIPs[0]: Invalid value: "::1": expected an IPv4 value as indicated by',
  ],
  [{ clusterIP: "2001:db8::1" }, 'ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  [{ type: "ExternalName", externalName: "a_b" }, 'externalName: Invalid value: "a_b": a lowercase RFC 1123 subdomain'],
  [
    { type: "ExternalName", externalName: "a", ipFamilyPolicy: "SingleStack" },
    "ipFamilyPolicy: Forbidden: may not be set for",
  ],
  [{ ports: [{ port: 80, appProtocol: "a b" }] }, 'ports[0].appProtocol: Invalid value: "a b"'],
];

it.each(wrong)("%j is refused", (fields, text) => {
  expect(texts(fields)).toEqual([expect.stringContaining(`spec.${text}`)]);
});

it("Affinity to nobody has no settings", () => {
  const spec = { ports: [{ port: 80 }], sessionAffinityConfig: { clientIP: {} } };
  expect(create({ metadata: { name: "s" }, spec }, services)["spec"]).not.toHaveProperty("sessionAffinityConfig");
});

it("A balancer is somewhere, and only a balanced service has one", () => {
  const status = (type: string, ingress: JsonObject): readonly string[] => {
    const service = { spec: { type }, status: { loadBalancer: { ingress: [ingress] } } };
    const causes: Cause[] = [];
    services.strategy.rules.validateStatus?.(service, service, causes, svcDialect);
    return causes.map(({ field, message }) => `${field}: ${message}`.replace("status.loadBalancer.ingress", "it"));
  };
  expect(status("LoadBalancer", { ip: "1.2.3.4", ipMode: "VIP" })).toEqual([]);
  expect(status("ClusterIP", { ip: "1.2.3.4", ipMode: "VIP" })).toEqual([
    'it: Forbidden: may only be used when `spec.type` is "LoadBalancer"',
  ]);
  expect(status("LoadBalancer", { hostname: "1.2.3.4", ipMode: "VIP" })).toEqual([
    "it[0].ipMode: Forbidden: may not be specified when `ip` is not set",
    'it[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ]);
});

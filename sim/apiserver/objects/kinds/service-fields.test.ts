import { expect, it } from "vitest";
import type { JsonObject } from "../../http-message.ts";
import { create, endpoint } from "../object-fixtures.ts";
import { validateCreate } from "../validation.ts";

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
  [
    { sessionAffinityConfig: { clientIP: {} } },
    "sessionAffinityConfig: Forbidden: must not be set when session affinity",
  ],
];

it.each(wrong)("%j is refused", (fields, text) => {
  expect(texts(fields)).toEqual([expect.stringContaining(`spec.${text}`)]);
});

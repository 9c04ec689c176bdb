import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";
import { printerOf } from "../../apiserver/answers/table.ts";

const texts = (resource: string, spec: JsonObject, metadata: JsonObject = { name: "a" }): readonly string[] => {
  const at = endpoint(`networking.svc.io/v1/${resource}`);
  return validateCreate(create({ metadata, spec }, at), at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );
};
const steps = (resource: string, spec: JsonObject, next: JsonObject, name = "a"): readonly string[] => {
  const at = endpoint(`networking.svc.io/v1/${resource}`);
  const live = create({ metadata: { name }, spec }, at);
  return validateUpdate(update({ ...live, spec: next }, live, at), live, at.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );
};

const backend = { service: { name: "web", port: { number: 80 } } };
const rule = (path: JsonObject, host = "a.example.com"): JsonObject => ({
  rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend, ...path }] } }],
});

it.each<[JsonObject, readonly string[]]>([
  [{ defaultBackend: backend }, []],
  [rule({}), []],
  [rule({ pathType: "ImplementationSpecific", path: "" }), []],
  [{}, ["spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified"]],
  [{ rules: [{ http: { paths: [] } }] }, ["spec.rules[0].http.paths: Required value"]],
  [
    rule({ path: "a//b/..", pathType: "Exact" }),
    ["must be an absolute path", "must not contain '//'", "cannot end with '/..'"].map(
      (why) => `spec.rules[0].http.paths[0].path: Invalid value: "a//b/..": ${why}`,
    ),
  ],
  [
    rule({ pathType: "Other" }),
    [
      'spec.rules[0].http.paths[0].pathType: Unsupported value: "Other": supported values: "Exact", "ImplementationSpecific", "Prefix"',
    ],
  ],
  [
    { defaultBackend: { service: { name: "web" } } },
    ["spec.defaultBackend.service: Required value: port name or number is required"],
  ],
  [{ defaultBackend: {} }, ['spec.defaultBackend: Invalid value: "": resource or service backend is required']],
])("an ingress leads somewhere: %j", (spec, causes) => {
  expect(texts("ingresses", spec)).toEqual(causes);
});

it("hosts are names, and may begin with an asterisk", () => {
  expect(texts("ingresses", rule({}, "*.example.com"))).toEqual([]);
  expect(texts("ingresses", rule({}, "a.*.com"))[0]).toContain("a wildcard DNS-1123 subdomain must start with");
  expect(texts("ingresses", rule({}, "10.0.0.1"))).toEqual([
    'spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
  ]);
});

it("a class is named once", () => {
  const metadata = { name: "a", annotations: { "svc.io/ingress.class": "b" } };
  expect(texts("ingresses", { ...rule({}), ingressClassName: "c" }, metadata)).toEqual([
    'annotations.svc.io/ingress.class: Invalid value: "b": can not be set when the class field is also set',
  ]);
});

it("a class's controller stays, and its parameters are of the cluster unless they say otherwise", () => {
  const at = endpoint("networking.svc.io/v1/ingressclasses");
  const parameters = { kind: "K", name: "n" };
  expect(create({ metadata: { name: "a" }, spec: { controller: "x.io/c", parameters } }, at)).toMatchObject({
    spec: { parameters: { scope: "Cluster" } },
  });
  expect(steps("ingressclasses", { controller: "x.io/c" }, { controller: "x.io/d" })).toEqual([
    'spec.controller: Invalid value: "x.io/d": field is immutable',
  ]);
  expect(texts("ingressclasses", { controller: "x", parameters: { ...parameters, scope: "Namespace" } })).toEqual([
    'spec.controller: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")',
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ]);
});

it("a network policy says which way, and TCP where it does not say what", () => {
  const at = endpoint("networking.svc.io/v1/networkpolicies");
  const made = (spec: JsonObject): JsonObject => create({ metadata: { name: "a" }, spec }, at);
  expect(made({ podSelector: {} })).toMatchObject({ spec: { policyTypes: ["Ingress"] } });
  expect(made({ podSelector: {}, egress: [{ ports: [{ port: 53 }] }] })).toMatchObject({
    spec: { policyTypes: ["Ingress", "Egress"], egress: [{ ports: [{ port: 53, protocol: "TCP" }] }] },
  });
  expect(
    texts("networkpolicies", {
      podSelector: {},
      policyTypes: ["Both"],
      ingress: [
        {
          ports: [{ port: 80, endPort: 70 }, { port: "http", endPort: 90 }, { endPort: 1 }],
          from: [
            {},
            { podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } },
            { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16", "10.0.0.0/8", "11.0.0.0/16", "x"] } },
          ],
        },
      ],
    }),
  ).toEqual([
    "spec.ingress[0].ports[0].endPort: Invalid value: 70: must be greater than or equal to `port`",
    "spec.ingress[0].ports[1].endPort: Invalid value: 90: may not be specified when `port` is non-numeric",
    "spec.ingress[0].ports[2].endPort: Invalid value: 1: may not be specified when `port` is not specified",
    "spec.ingress[0].from[0]: Required value: must specify a peer",
    "spec.ingress[0].from[1]: Forbidden: may not specify both ipBlock and another peer",
    'spec.ingress[0].from[2].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    'spec.ingress[0].from[2].ipBlock.except[2]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
    'spec.ingress[0].from[2].ipBlock.except[3]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    'spec.policyTypes[0]: Unsupported value: "Both": supported values: "Egress", "Ingress"',
  ]);
});

it("ranges of services are one or two, of different families, and stay", () => {
  expect(texts("servicecidrs", { cidrs: ["10.0.0.0/16", "fd00::/64"] })).toEqual([]);
  expect(texts("servicecidrs", { cidrs: [] })).toEqual(["spec.cidrs: Required value: at least one CIDR required"]);
  expect(texts("servicecidrs", { cidrs: ["10.0.0.0/16", "10.1.0.0/16"] })[0]).toContain("no more than one IP for each");
  expect(steps("servicecidrs", { cidrs: ["10.0.0.0/16"] }, { cidrs: ["10.1.0.0/16"] })).toHaveLength(1);
});

it("an address is called by itself, and somebody has it", () => {
  const spec = { parentRef: { resource: "services", namespace: "default", name: "web" } };
  expect(texts("ipaddresses", spec, { name: "10.0.0.7" })).toEqual([]);
  expect(texts("ipaddresses", { parentRef: { name: "web" } })).toEqual([
    'metadata.name: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    "spec.parentRef.resource: Required value",
  ]);
  expect(steps("ipaddresses", spec, { parentRef: { ...spec.parentRef, name: "other" } }, "10.0.0.7")).toHaveLength(1);
});

it("shows in tables what people look for", () => {
  const cells = (kind: string, object: JsonObject): readonly unknown[] => printerOf(kind).row(object, 0).cells;
  const hosts = ["a", "b", "c", "d"].map((host) => ({ host: `${host}.example.com` }));
  expect(
    cells("Ingress", {
      metadata: { name: "i" },
      spec: { rules: hosts, tls: [{}] },
      status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }, { hostname: "lb" }] } },
    }),
  ).toEqual([
    "i",
    "<none>",
    "a.example.com,b.example.com,c.example.com + 1 more...",
    "1.2.3.4,lb",
    "80, 443",
    "<unknown>",
  ]);
  expect(
    cells("NetworkPolicy", { metadata: { name: "p" }, spec: { podSelector: { matchLabels: { a: "b" } } } }),
  ).toEqual(["p", "a=b", "<unknown>"]);
});

import { expect, it } from "vitest";
import type { JsonObject } from "../../../contract/http-message.ts";
import { containerCauses } from "./pods.fixture.ts";

const causes = (spec: JsonObject): readonly string[] => containerCauses({}, spec);

it("A pod with a resolver of its own says which", () => {
  expect(causes({ dnsPolicy: "None" })).toEqual([
    "spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
  ]);
  expect(causes({ dnsPolicy: "None", dnsConfig: {} })).toEqual([
    "spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None",
  ]);
  expect(causes({ dnsPolicy: "None", dnsConfig: { nameservers: ["1.2.3.4"] } })).toEqual([]);
});

it("Resolvers are a few addresses, search paths are domains", () => {
  expect(causes({ dnsConfig: { nameservers: ["1", "::1", "1.1.1.1", "2.2.2.2"] } })).toEqual([
    'spec.dnsConfig.nameservers: Invalid value: []string{"1", "::1", "1.1.1.1", "2.2.2.2"}: must not have more than 3 nameservers',
    'spec.dnsConfig.nameservers[0]: Invalid value: "1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]);
  expect(causes({ dnsConfig: { searches: ["a.b.", "A"], options: [{ name: "x" }, { value: "y" }] } })).toEqual([
    expect.stringContaining('spec.dnsConfig.searches[1]: Invalid value: "A": a lowercase RFC 1123 subdomain'),
    "spec.dnsConfig.options[1]: Required value: must not be empty",
  ]);
});

it("Aliases are addresses and names", () => {
  expect(causes({ hostAliases: [{ ip: "1.2.3.4", hostnames: ["a.b"] }] })).toEqual([]);
  expect(causes({ hostAliases: [{ ip: "x", hostnames: ["a_b"] }] })).toEqual([
    expect.stringContaining('spec.hostAliases[0].ip: Invalid value: "x"'),
    expect.stringContaining('spec.hostAliases[0].hostnames[0]: Invalid value: "a_b"'),
  ]);
});

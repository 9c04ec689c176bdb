import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";

const nodes = endpoint("v1/nodes");
const node = (spec: JsonObject): JsonObject => ({ metadata: { name: "n" }, spec });

it("A taint has a key and an effect, the two together once", () => {
  const texts = (...taints: JsonObject[]): readonly string[] =>
    validateCreate(create(node({ taints }), nodes), nodes.strategy).map(({ field, message }) => `${field}: ${message}`);
  const taint = { key: "a", effect: "NoSchedule" };
  expect(texts(taint, { key: "a", value: "b", effect: "NoExecute" })).toEqual([]);
  expect(texts({ key: "a b", effect: "X" })).toEqual([
    expect.stringContaining('metadata.taints[0].key: Invalid value: "a b"'),
    'metadata.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ]);
  expect(texts(taint, taint)).toEqual([
    'metadata.taints[1]: Duplicate value: core.Taint{Key:"a", Value:"", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
  ]);
});

it("What was given to a node stays: its range of addresses, and who provides it", () => {
  const live = create(node({ providerID: "p" }), nodes);
  const texts = (spec: JsonObject): readonly string[] => {
    const body = { metadata: { name: "n", resourceVersion: "1" }, spec };
    return validateUpdate(update(body, live, nodes), live, nodes.strategy).map(({ field }) => field ?? "");
  };
  expect(texts({ providerID: "p", podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] })).toEqual([]);
  expect(texts({ providerID: "q" })).toEqual(["spec.providerID"]);
});

it("A node's amounts, networks and addresses are what they are called", () => {
  const at = endpoint("v1/nodes");
  const node = (spec: JsonObject, status: JsonObject = {}): JsonObject => ({ metadata: { name: "n" }, spec, status });
  const made = (body: JsonObject): readonly string[] =>
    validateCreate(create(body, at), at.strategy).map(({ field, message }) => `${field}: ${message}`);
  expect(made(node({ podCIDRs: ["10.0.0.0/24", "2001:db8::/64"] }, { capacity: { cpu: "1", "a.b/c": "2" } }))).toEqual(
    [],
  );
  expect(made(node({ podCIDRs: ["x"] }, { allocatable: { cpu: "-1" } }))).toEqual([
    'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
    'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ]);
  expect(made(node({ podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] }))).toEqual([
    'spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one CIDR for each IP family',
  ]);
  const live = create(node({}), at);
  const address = { type: "InternalIP", address: "1.2.3.4" };
  const after = update({ ...live, status: { addresses: [address, address] } }, live, at, { subresource: "status" });
  expect(validateUpdate(after, live, at.strategy, "status").map(({ message }) => message)).toEqual([
    'Duplicate value: core.NodeAddress{Type:"InternalIP", Address:"1.2.3.4"}',
  ]);
});

import { expect, it } from "vitest";
import type { JsonObject } from "../../http-message.ts";
import { create, endpoint, noFaults, update } from "../object-fixtures.ts";
import { validateCreate, validateUpdate } from "../validation.ts";

const nodes = endpoint("v1/nodes");
const node = (spec: JsonObject): JsonObject => ({ metadata: { name: "n" }, spec });

it("A taint has a key and an effect, the two together once", () => {
  const texts = (...taints: JsonObject[]): readonly string[] =>
    validateCreate(create(node({ taints }), nodes), nodes.strategy).map(({ field, message }) => `${field}: ${message}`);
  const taint = { key: "a", effect: "NoSchedule" };
  expect(texts(taint, { key: "a", value: "b", effect: "NoExecute" })).toEqual([]);
  expect(texts({ key: "a b", effect: "X" })).toEqual([
    expect.stringContaining('spec.taints[0].key: Invalid value: "a b"'),
    'spec.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ]);
  expect(texts(taint, taint)).toEqual([
    'spec.taints[1]: Duplicate value: core.Taint{Key:"a", Value:"", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
  ]);
});

it("What was given to a node stays: its range of addresses, and who provides it", () => {
  const live = create(node({ providerID: "p" }), nodes);
  const texts = (spec: JsonObject): readonly string[] => {
    const body = { metadata: { name: "n", resourceVersion: "1" }, spec };
    return validateUpdate(update(body, live, nodes), live, nodes.strategy, noFaults).map(({ field }) => field ?? "");
  };
  expect(texts({ providerID: "p", podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] })).toEqual([]);
  expect(texts({ providerID: "q" })).toEqual(["spec.providerID"]);
});

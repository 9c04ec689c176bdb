import { expect, it } from "vitest";
import { givenTo, judgeGiven } from "./service-law.ts";

const one = { address: "10.0.0.1", port: 30_001 };
const other = { address: "10.0.0.2", port: 30_002 };

it("reads what a service was given", () => {
  expect(givenTo({ spec: { clusterIP: "10.0.0.1", ports: [{ port: 80, nodePort: 30_001 }] } })).toEqual(one);
  expect(givenTo({ spec: { clusterIP: "None", ports: [{ port: 80 }] } })).toEqual({
    address: undefined,
    port: undefined,
  });
});

it("a service has what its type has, keeps it, and shares it with nobody", () => {
  expect(judgeGiven("NodePort", one, undefined, [other])).toBeUndefined();
  expect(judgeGiven("NodePort", one, one, [other])).toBeUndefined();
  expect(judgeGiven("ClusterIP", { ...one, port: undefined }, one, [other])).toBeUndefined();
  expect(judgeGiven("headless", { address: undefined, port: undefined }, undefined, [])).toBeUndefined();
});

it.each([
  ["no address", judgeGiven("ClusterIP", { address: undefined, port: undefined }, undefined, [])],
  ["no port", judgeGiven("NodePort", { ...one, port: undefined }, undefined, [])],
  ["a port that is left over", judgeGiven("ClusterIP", one, one, [])],
  ["an address of what has none", judgeGiven("headless", { ...one, port: undefined }, undefined, [])],
  ["another's address", judgeGiven("ClusterIP", { ...other, port: undefined }, undefined, [other])],
  ["another's port", judgeGiven("NodePort", { ...one, port: other.port }, undefined, [other])],
  ["another address than before", judgeGiven("NodePort", { ...one, address: "10.0.0.3" }, one, [other])],
  ["another port than before", judgeGiven("NodePort", { ...one, port: 30_003 }, one, [other])],
])("rejects %s", (_what, violation) => {
  expect(violation).toBeDefined();
});

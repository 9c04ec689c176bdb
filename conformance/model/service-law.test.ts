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

it("rejects what is missing, left over, another's or not what it was", () => {
  const nothing = { address: undefined, port: undefined };
  expect(judgeGiven("ClusterIP", nothing, undefined, [])).toBeDefined();
  expect(judgeGiven("NodePort", { ...one, port: undefined }, undefined, [])).toBeDefined();
  expect(judgeGiven("ClusterIP", one, one, [])).toBeDefined();
  expect(judgeGiven("headless", { ...one, port: undefined }, undefined, [])).toBeDefined();
  expect(judgeGiven("ClusterIP", { ...other, port: undefined }, undefined, [other])).toBeDefined();
  expect(judgeGiven("NodePort", { ...one, port: other.port }, undefined, [other])).toBeDefined();
  expect(judgeGiven("NodePort", { ...one, address: "10.0.0.3" }, one, [other])).toBeDefined();
  expect(judgeGiven("NodePort", { ...one, port: 30_003 }, one, [other])).toBeDefined();
});

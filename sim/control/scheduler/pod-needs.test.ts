import fc from "fast-check";
import { expect, it } from "vitest";
import { seal } from "../../objects/seal.ts";
import type { Pod } from "../shared/stored.ts";
import { podNeeds } from "./pod-needs.ts";

const amounts = fc.record(
  { cpu: fc.constantFrom("50m", "1", "2500m"), memory: fc.constantFrom("32Mi", "1Gi"), "a.b/c": fc.constantFrom("1") },
  { requiredKeys: [] },
);
const containers = fc.array(fc.record({ name: fc.constant("c"), resources: fc.record({ requests: amounts }) }), {
  maxLength: 3,
});
const specs = fc.record(
  { containers, initContainers: containers, overhead: amounts },
  { requiredKeys: ["containers"] },
);

it("what pods of one spec ask for is the same as of specs of their own", () => {
  fc.assert(
    fc.property(specs, (spec) => {
      const podOf = (name: string, its: object): Pod =>
        ({ metadata: { name, uid: name }, spec: its }) as unknown as Pod;
      const shared = seal(structuredClone(spec));
      const needs = [spec, shared, shared].map((its, at) => podNeeds(podOf(`pod-${at}`, its)));
      const told = needs.map(({ requests, scoredCpu, scoredMemory }) => [[...requests], scoredCpu, scoredMemory]);
      expect(told[1]).toEqual(told[0]);
      expect(told[2]).toEqual(told[0]);
    }),
    { seed: 9, numRuns: 300 },
  );
});

import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Cause } from "../../../contract/errors.ts";
import { create, endpoint } from "../../../objects/objects.fixture.ts";
import { Place } from "../../../objects/place.ts";
import { svcDialect } from "../../../../wire/dialect.ts";
import { resources as judge } from "./resources.ts";
import { containerCauses } from "./pods.fixture.ts";

/** Judged alone: in a pod, what is limited is requested as well. */
const resources = (limits: JsonObject, requests: JsonObject): readonly string[] => {
  const causes: Cause[] = [];
  judge({ limits, requests }, new Place(causes, svcDialect, undefined, "resources"));
  return causes.map(({ field, message }) => `${field}: ${message}`);
};

it("A container asks for no more than its limit", () => {
  expect(resources({ cpu: "1", memory: "1Gi" }, { cpu: "1000m", memory: "512Mi" })).toEqual([]);
  expect(resources({ cpu: "1" }, { cpu: "1001m" })).toEqual([
    'resources.requests: Invalid value: "1001m": must be less than or equal to cpu limit of 1',
  ]);
  expect(resources({}, { memory: "-1" })).toEqual([
    'resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

it("Resources are the standard ones, or somebody's, by whole numbers that cannot be promised twice", () => {
  expect(resources({ "example.com/gpu": "2", "ephemeral-storage": "1Gi" }, { "example.com/gpu": "2" })).toEqual([]);
  expect(resources({ foo: "1" }, {})).toEqual([
    'resources.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
    'resources.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
  ]);
  expect(resources({ pods: "1" }, {})).toEqual([
    'resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers',
  ]);
  expect(resources({ "example.com/gpu": "2" }, { "example.com/gpu": "1" })).toEqual([
    'resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
  ]);
  expect(resources({}, { "example.com/gpu": "1" })).toEqual([
    "resources.limits: Required value: Limit must be set for non overcommitable resources",
  ]);
  expect(resources({ "example.com/gpu": "500m" }, {})).toEqual([
    'resources.limits[example.com/gpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}: must be an integer',
  ]);
});

it("What a pod limits it requests, and both are judged", () => {
  expect(containerCauses({ resources: { limits: { pods: "1" } } })).toEqual([
    'resources.limits[pods]: Invalid value: "pods": must be a standard resource for containers',
    'resources.requests[pods]: Invalid value: "pods": must be a standard resource for containers',
  ]);
});

it("What is limited and not requested is requested by default, in order, whatever it is called", () => {
  const pods = endpoint("v1/pods");
  const name = fc.constantFrom("a", "b", "c/d", "__proto__", "constructor", "10", "9");
  const amounts = fc.dictionary(name, fc.constantFrom("1", "2"));
  fc.assert(
    fc.property(amounts, amounts, (limits, requests) => {
      const containers = [{ name: "c", image: "i", resources: { limits, requests } }];
      const made = create({ metadata: { name: "p" }, spec: { containers } }, pods) as unknown as PodOf;
      const { requests: requested = {} } = made.spec.containers[0]?.resources ?? {};
      const expected = new Map([...Object.entries(limits), ...Object.entries(requests)]);
      expect(new Map(Object.entries(requested))).toEqual(expected);
      expect(Object.keys(requested).filter(isNoIndex)).toEqual([...expected.keys()].filter(isNoIndex).sort());
    }),
  );
});

interface PodOf {
  readonly spec: { readonly containers: readonly { readonly resources?: { readonly requests?: JsonObject } }[] };
}
const isNoIndex = (key: string): boolean => !/^[0-9]+$/.test(key);

const claim = (name: string) => ({ name, resourceClaimName: "c" });

it("Huge pages come with memory or cpu; claims are the pod's", () => {
  expect(resources({ "hugepages-2Mi": "2Mi" }, {})).toEqual(["resources: Forbidden: HugePages require cpu or memory"]);
  expect(resources({ "hugepages-2Mi": "2Mi", cpu: "1" }, {})).toEqual([]);
  expect(containerCauses({ resources: { claims: [{ name: "a" }] } })).toEqual([
    'resources.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty',
  ]);
  expect(
    containerCauses(
      { resources: { claims: [{ name: "a", request: "r" }, { name: "a" }] } },
      { resourceClaims: [claim("a")] },
    ),
  ).toEqual(['resources.claims[1]: Duplicate value: "a"']);
  expect(resources({ "hugepages-2Mi": "3Mi", cpu: "1" }, {})).toEqual([
    'resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
  ]);
  expect(containerCauses({ resources: { claims: [{ name: "a" }] } }, { resourceClaims: [claim("a")] })).toEqual([]);
});

it("A claim of the pod is one that is there, or made from a template", () => {
  expect(
    containerCauses({}, { resourceClaims: [{ name: "a" }, { ...claim("a"), resourceClaimTemplateName: "t" }] }),
  ).toEqual([
    "spec.resourceClaims[0]: Invalid value: core.PodResourceClaim{}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
    'spec.resourceClaims[1].name: Duplicate value: "a"',
    "spec.resourceClaims[1]: Invalid value: core.PodResourceClaim{}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
  ]);
});

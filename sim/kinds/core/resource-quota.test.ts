import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";

const quotas = endpoint("v1/resourcequotas");
const quota = (spec: JsonObject): JsonObject => ({ metadata: { name: "a" }, spec });
const texts = (spec: JsonObject): readonly string[] =>
  validateCreate(create(quota(spec), quotas), quotas.strategy).map(({ field, message }) => `${field}: ${message}`);

it("limits what a quota can count, by amounts that exist", () => {
  const hard = {
    pods: "3",
    "requests.cpu": "1500m",
    "limits.memory": "1Gi",
    "services.nodeports": "0",
    "count/deployments.apps": "2",
    "requests.example.com/gpu": "1",
    "hugepages-2Mi": "1Gi",
  };
  expect(texts({ hard })).toEqual([]);
  expect(texts({ hard: { pods: "1500m", cpu: "-1", "count/jobs.batch": "500m" } })).toEqual([
    'spec.hard[count/jobs.batch]: Invalid value: resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}: must be an integer',
    'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'spec.hard[pods]: Invalid value: resource.Quantity{i:resource.int64Amount{value:1500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1500m", Format:"DecimalSI"}: must be an integer',
  ]);
  expect(texts({ hard: { gizmos: "1", storage: "1Gi" } })).toEqual([
    'spec.hard[gizmos]: Invalid value: "gizmos": must be a standard resource type or fully qualified',
    'spec.hard[gizmos]: Invalid value: "gizmos": must be a standard resource for quota',
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
  ]);
});

it("has scopes that fit what is limited, and each other", () => {
  expect(texts({ hard: { pods: "1" }, scopes: ["BestEffort", "NotTerminating"] })).toEqual([]);
  expect(texts({ hard: { cpu: "1", secrets: "1" }, scopes: ["BestEffort"] })).toEqual(
    Array(2).fill('spec.scopes: Invalid value: []string{"BestEffort"}: unsupported scope applied to resource'),
  );
  expect(texts({ scopes: ["Sometimes"] })).toEqual([
    'spec.scopes: Invalid value: []string{"Sometimes"}: unsupported scope',
  ]);
  expect(texts({ scopes: ["Terminating", "NotTerminating"] })).toEqual([
    'spec.scopes: Invalid value: []string{"Terminating", "NotTerminating"}: conflicting scopes',
  ]);
});

it("selects by scope with operators that the scope has", () => {
  const selecting = (...matchExpressions: JsonObject[]): JsonObject => ({ scopeSelector: { matchExpressions } });
  expect(texts(selecting({ scopeName: "PriorityClass", operator: "In", values: ["high"] }))).toEqual([]);
  expect(texts(selecting({ scopeName: "Terminating", operator: "Exists" }))).toEqual([]);
  const path = "spec.scopeSelector.matchExpressions";
  expect(texts(selecting({ scopeName: "PriorityClass", operator: "In" }))).toEqual([
    `${path}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
  ]);
  expect(texts(selecting({ scopeName: "PriorityClass", operator: "Exists", values: ["x"] }))).toEqual([
    `${path}.values: Invalid value: []string{"x"}: must be no value when \`operator\` is 'Exist' or 'DoesNotExist' for scope selector`,
  ]);
  expect(texts(selecting({ scopeName: "Terminating", operator: "Near" }))).toEqual([
    expect.stringContaining(
      `${path}.operator: Invalid value: "Near": must be 'Exists' when scope is any of ResourceQuotaScopeTerm`,
    ),
    `${path}.operator: Invalid value: "Near": not a valid selector operator`,
  ]);
});

it("keeps its scopes for good, in whatever order", () => {
  const live = create(quota({ scopes: ["BestEffort", "Terminating"] }), quotas);
  const step = (...scopes: string[]): readonly string[] => {
    const metadata = { name: "a", namespace: "ns", resourceVersion: "1" };
    const next = update({ ...quota({ scopes }), metadata }, live, quotas);
    return validateUpdate(next, live, quotas.strategy).map(({ message }) => message);
  };
  expect(step("Terminating", "BestEffort")).toEqual([]);
  expect(step("Terminating")).toEqual(['Invalid value: []string{"Terminating"}: field is immutable']);
});

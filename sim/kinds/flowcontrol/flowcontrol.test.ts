import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint } from "../../objects/objects.fixture.ts";
import { validateCreate } from "../../objects/validation.ts";

const group = "flowcontrol.apiserver.svc.io/v1";
const made = (resource: string, spec: JsonObject): JsonObject =>
  create({ metadata: { name: "a" }, spec }, endpoint(`${group}/${resource}`));
const texts = (resource: string, spec: JsonObject): readonly string[] =>
  validateCreate(made(resource, spec), endpoint(`${group}/${resource}`).strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

const level = { priorityLevelConfiguration: { name: "workload-low" } };
const everybody = [{ kind: "Group", group: { name: "system:authenticated" } }];
const all = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }];

it("A flow schema comes a thousandth, and names its level", () => {
  expect(made("flowschemas", level)).toMatchObject({ spec: { matchingPrecedence: 1000 } });
  expect(texts("flowschemas", { ...level, rules: [{ subjects: everybody, resourceRules: all }] })).toEqual([]);
  expect(texts("flowschemas", { ...level, matchingPrecedence: 1 })).toEqual([
    "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
  ]);
  expect(texts("flowschemas", { matchingPrecedence: 20_000, distinguisherMethod: { type: "ByMoon" } })).toEqual([
    "spec.matchingPrecedence: Invalid value: 20000: must not be greater than 10000",
    'spec.distinguisherMethod.type: Unsupported value: "ByMoon": supported values: "ByNamespace", "ByUser"',
    "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
  ]);
});

it("A rule is about somebody and about something", () => {
  expect(texts("flowschemas", { ...level, rules: [{ subjects: [] }] })).toEqual([
    "spec.rules[0].subjects: Required value: subjects must contain at least one value",
    "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
  ]);
  const subjects = [{ kind: "User", group: { name: "g" } }, { kind: "Robot" }];
  const nonResourceRules = [{ verbs: ["*", "get"], nonResourceURLs: ["healthz"] }];
  expect(texts("flowschemas", { ...level, rules: [{ subjects, nonResourceRules }] })).toEqual([
    "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
    "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
    'spec.rules[0].subjects[1].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"',
    `spec.rules[0].nonResourceRules[0].verbs: Invalid value: []string{"*", "get"}: if '*' is present, must not specify other verbs`,
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "healthz": must start with slash',
  ]);
});

it("A level that limits says how; its queues are filled in", () => {
  const limited = { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } };
  expect(made("prioritylevelconfigurations", limited)).toMatchObject({
    spec: {
      limited: {
        nominalConcurrencyShares: 30,
        lendablePercent: 0,
        limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
      },
    },
  });
  expect(texts("prioritylevelconfigurations", limited)).toEqual([]);
  expect(texts("prioritylevelconfigurations", { type: "Limited" })).toEqual([
    "spec.limited: Required value: must not be empty when type is Limited",
  ]);
  expect(texts("prioritylevelconfigurations", { type: "Some" })).toEqual([
    'spec.type: Unsupported value: "Some": supported values: "Exempt", "Limited"',
  ]);
});

it("A hand of queues is dealt by 60 bits", () => {
  const dealt = (queues: number, handSize: number): readonly string[] =>
    texts("prioritylevelconfigurations", {
      type: "Limited",
      limited: { limitResponse: { type: "Queue", queuing: { queues, handSize } } },
    });
  expect(dealt(512, 6)).toEqual([]);
  expect(dealt(128, 9)).toEqual([
    "spec.limited.limitResponse.queuing.handSize: Invalid value: 9: required entropy bits of deckSize 128 and handSize 9 should not be greater than 60",
  ]);
  expect(dealt(4, 5)).toEqual([
    "spec.limited.limitResponse.queuing.handSize: Invalid value: 5: should not be greater than queues (4)",
  ]);
  expect(dealt(10_000_000, 10_000_000)[0]).toContain("required entropy bits");
});

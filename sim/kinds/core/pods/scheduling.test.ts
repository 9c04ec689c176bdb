import { expect, it } from "vitest";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { containerCauses } from "./pods.fixture.ts";

const spec = (fields: JsonObject): readonly string[] =>
  containerCauses({}, fields).map((text) => text.replace(/^spec\./, ""));
const tolerations = (...list: Json[]): readonly string[] => spec({ tolerations: list });

it("A toleration says what it tolerates", () => {
  expect(tolerations({ operator: "Exists" }, { key: "a", value: "b", effect: "NoSchedule" })).toEqual([]);
  expect(tolerations({ value: "b" }, { key: "a", tolerationSeconds: 3 }, { key: "a", operator: "Maybe" })).toEqual([
    'tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    "tolerations[1].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
    'tolerations[2].operator: Unsupported value: "Maybe": supported values: "Equal", "Exists"',
  ]);
  expect(tolerations({ key: "a", operator: "Exists", value: "b", effect: "Now" })).toEqual([
    'tolerations[0].operator: Invalid value: core.Toleration{Key:"a", Operator:"Exists", Value:"b", Effect:"Now", TolerationSeconds:(*int64)(nil)}: value must be empty when `operator` is \'Exists\'',
    'tolerations[0].effect: Unsupported value: "Now": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ]);
});

it("Affinity names terms, and the part of the cluster that counts", () => {
  const affinity = (fields: JsonObject): readonly string[] => spec({ affinity: fields });
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  expect(affinity({ nodeAffinity: { [required]: { nodeSelectorTerms: [] } } })).toEqual([
    `affinity.nodeAffinity.${required}.nodeSelectorTerms: Required value: must have at least one node selector term`,
  ]);
  expect(affinity({ podAntiAffinity: { [required]: [{ topologyKey: "zone" }] } })).toEqual([]);
  expect(affinity({ podAffinity: { [required]: [{ topologyKey: "" }] } })[0]).toBe(
    `affinity.podAffinity.${required}[0].topologyKey: Required value: can not be empty`,
  );
});

it("Spreading, gates and selectors are judged field by field", () => {
  expect(spec({ topologySpreadConstraints: [{ maxSkew: 0, whenUnsatisfiable: "Maybe" }] })).toEqual([
    "topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    "topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
    'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Maybe": supported values: "DoNotSchedule", "ScheduleAnyway"',
  ]);
  expect(spec({ schedulingGates: [{ name: "a" }, { name: "a" }] })).toEqual([
    'schedulingGates[1]: Duplicate value: "a"',
  ]);
  expect(spec({ readinessGates: [{ conditionType: "a b" }] })[0]).toContain("readinessGates[0].conditionType: Invalid");
  expect(spec({ nodeSelector: { a: "b c" } })[0]).toContain('nodeSelector: Invalid value: "b c"');
});

it("Wishes weigh from one to a hundred, and keys of a pod's own narrow a selector", () => {
  const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const term = { topologyKey: "zone", labelSelector: {}, matchLabelKeys: ["a"], mismatchLabelKeys: ["a"] };
  const affinity = {
    nodeAffinity: { [preferred]: [{ weight: 101, preference: { matchExpressions: [{ key: "a", operator: "Z" }] } }] },
    podAffinity: { [preferred]: [{ weight: 1, podAffinityTerm: term }] },
  };
  expect(containerCauses({}, { affinity })).toEqual([
    `spec.affinity.nodeAffinity.${preferred}[0].weight: Invalid value: 101: must be in the range 1-100`,
    `spec.affinity.nodeAffinity.${preferred}[0].preference.matchExpressions[0].operator: Invalid value: "Z": not a valid selector operator`,
    `spec.affinity.podAffinity.${preferred}[0].podAffinityTerm.matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys`,
  ]);
});

it("A spreading is said once, and a number of domains is for those that must be kept", () => {
  const spread = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {} };
  const topologySpreadConstraints = [
    { ...spread, minDomains: 2 },
    { ...spread, matchLabelKeys: ["a"], nodeTaintsPolicy: "Z" },
  ];
  expect(
    containerCauses({}, { topologySpreadConstraints }).map((text) =>
      text.replace("spec.topologySpreadConstraints", "it"),
    ),
  ).toEqual([
    'it[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, ScheduleAnyway}"',
    "it[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    'it[1].nodeTaintsPolicy: Unsupported value: "Z": supported values: "Honor", "Ignore"',
  ]);
});

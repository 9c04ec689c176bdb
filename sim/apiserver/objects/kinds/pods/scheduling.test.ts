import { expect, it } from "vitest";
import type { Json, JsonObject } from "../../../http-message.ts";
import { containerCauses } from "./fixtures.ts";

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

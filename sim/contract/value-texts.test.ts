import { expect, it } from "vitest";
import { kubernetesProfile, profiles } from "./profile.ts";
import { inWordsOf } from "./value-texts.ts";

const told = (message: string, profile = profiles["kubernetes-1.36"]): string | undefined =>
  inWordsOf(profile, [{ reason: "FieldValueInvalid", message, field: "f" }])[0]?.message;

it.each([
  ["0x0: must be specified for an update", "0: must be specified for an update"],
  ['"null": exactly one', "null: exactly one"],
  ['[]string{"Some"}: supported', '["Some"]: supported'],
  ['map[string]string{"a":"b", "c: d":"}"}: no', '{"a":"b","c: d":"}"}: no'],
  ['map[string]interface {}{"name":"x", "n":1}: no', '{"name":"x","n":1}: no'],
  [
    'core.ObjectReference{Kind:"Pod", Name:"q", UID:""}: field is immutable',
    '{"Kind":"Pod","Name":"q","UID":""}: field is immutable',
  ],
  ["2026-01-02 00:00:00.000001 +0000 UTC: field is immutable", '"2026-01-02T00:00:00.000001Z": field is immutable'],
  ["[]int32(nil): at least one", "null: at least one"],
  ["[]int32{2, 1}: must be ordered", "[2,1]: must be ordered"],
  ['intstr.IntOrString{Type:1, IntVal:0, StrVal:"half"}: no', '"half": no'],
  ['intstr.IntOrString{Type:0, IntVal:-1, StrVal:""}: no', "-1: no"],
  [
    'resource.Quantity{i:resource.int64Amount{value:2000, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"2", Format:"DecimalSI"}: no',
    '"2": no',
  ],
  ["policy.PodDisruptionBudgetSpec{}: both", "{}: both"],
  ['"a: b": no', '"a: b": no'],
  ["7: no", "7: no"],
  ["some words: no", "some words: no"],
  ["[]string{broken: no", "[]string{broken: no"],
])("writes %s as %s", (before, after) => {
  expect(told(`Invalid value: ${before}`)).toBe(`Invalid value: ${after}`);
  expect(told(`Invalid value: ${before}`, kubernetesProfile)).toBe(`Invalid value: ${before}`);
});

it("counts what is too long in bytes", () => {
  expect(told('Invalid value: "xx": must be no more than 63 characters')).toBe(
    'Invalid value: "xx": must be no more than 63 bytes',
  );
});

it("does not follow nesting without an end", () => {
  const deep = `${"[]a{".repeat(5000)}${"}".repeat(5000)}`;
  expect(told(`Invalid value: ${deep}: no`)).toBe(`Invalid value: ${deep}: no`);
});

import { describe, expect, it } from "vitest";
import { otherFile, withoutConsequences } from "./wrong-files.ts";

const wanted = {
  version: "scenarios/v1",
  fields: ["apiVersion", "name", "seed", "until", "clients"],
  required: ["apiVersion", "name", "until", "clients"],
};
const pools = { version: undefined, fields: ["pools"], required: ["pools"] };

describe("another file than the one that is wanted", () => {
  it("is told in one line, and as what it is where that can be seen", () => {
    const scenario = "a scenario, for `touchstone run`, with apiVersion: scenarios/v1";
    expect(otherFile({ name: "a", version: "1", scripts: {}, bin: {} }, wanted)).toEqual({
      text: `this is something else: expected ${scenario}`,
    });
    const pod = { apiVersion: "v1", kind: "Pod", metadata: {}, spec: {} };
    expect(otherFile(pod, wanted)?.text).toBe(`this is of kind Pod: expected ${scenario}`);
    const chaos = { apiVersion: "chaos/v1", name: "a", faults: [] };
    for (const file of [wanted, pools])
      expect(otherFile(chaos, file)).toEqual({
        field: "apiVersion",
        text: "apiVersion: this is a plan of chaos, for `touchstone serve --chaos`",
      });
    expect(otherFile({ name: "a" }, pools)?.text).toBe("this is something else: expected pools");
  });

  it("is none that says what it is, that has most of its fields, or that has them misspelt", () => {
    expect(otherFile({ apiVersion: "scenarios/v1", a: 1, b: 2, c: 3 }, wanted)).toBeUndefined();
    expect(otherFile({ apiVersion: "scenarios/v2", name: "a", until: "1s", x: 1 }, wanted)).toBeUndefined();
    expect(otherFile({ nam: "a", untill: "1s", cliens: [] }, wanted)).toBeUndefined();
    for (const value of [{}, [], "text", null, undefined]) expect(otherFile(value, wanted)).toBeUndefined();
  });
});

it("what only follows from a misspelt field is left out, and nothing else", () => {
  const value = { rows: [{ untill: 1 }, { at: 1 }], seed: "x" };
  const unknown = { path: ["rows", 0], code: "unrecognized_keys", keys: ["untill"] };
  const missing = { path: ["rows", 0, "until"], code: "invalid_type" };
  const silent = { path: ["rows", 0], code: "custom" };
  const others = [
    { path: ["rows", 0, "name"], code: "invalid_type" },
    { path: ["rows", 1, "until"], code: "invalid_type" },
    { path: ["rows", 1], code: "custom" },
    { path: ["seed"], code: "invalid_type" },
  ];
  const fieldsAt = () => ["until", "name"];
  expect(withoutConsequences([silent, missing, unknown, ...others], value, fieldsAt)).toEqual([unknown, ...others]);
  const strange = { ...unknown, keys: ["zzzzzzz"] };
  expect(withoutConsequences([silent, missing, strange], value, fieldsAt)).toEqual([silent, missing, strange]);
});

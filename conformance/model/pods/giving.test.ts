import { expect, it } from "vitest";
import { expanded, filesOf, type GivingProgram, variablesOf } from "./giving.ts";

const program = (more: Partial<GivingProgram> = {}): GivingProgram => ({
  objects: [
    { kind: "ConfigMap", name: "one", data: { A: "1", B: "$(A)" } },
    { kind: "Secret", name: "two", data: { A: "2" } },
  ],
  labels: {},
  sources: [],
  variables: [],
  args: [],
  limits: { milliCpu: 1500, memoryMi: 64 },
  volume: undefined,
  ...more,
});
const from = (object: string, prefix = "", isOptional = false) => ({ object, prefix, isOptional });
const valuesOf = (more: Partial<GivingProgram>): unknown => {
  const values = variablesOf(program(more), { "metadata.name": "pod" });
  return values === "waits" ? values : Object.fromEntries(values);
};

it.each([
  ["$(A)", "1"],
  ["$(A)$(A)x", "11x"],
  ["$(B)", "$(B)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$$$$", "$$"],
  ["$", "$"],
  ["$(A", "$(A"],
  ["$x $", "$x $"],
])("%s is expanded to %s", (text, told) => expect(expanded(text, new Map([["A", "1"]]))).toBe(told));

it("variables come from whole objects first, the last of a name counting, and from the pod's own list after them", () => {
  expect(valuesOf({ sources: [from("one"), from("two"), from("two", "P_")] })).toEqual({ A: "2", B: "$(A)", P_A: "2" });
  expect(
    valuesOf({
      sources: [from("one")],
      variables: [
        { name: "C", is: "text", value: "$(A)$(D)" },
        { name: "A", is: "field", path: "metadata.name" },
        { name: "D", is: "text", value: "$(A)" },
      ],
    }),
  ).toEqual({ A: "pod", B: "$(A)", C: "1$(D)", D: "pod" });
});

it("amounts are told by their divisor, rounded up", () => {
  const told = (resource: "limits.cpu" | "limits.memory", divisor: string) =>
    valuesOf({ variables: [{ name: "A", is: "resource", resource, divisor }] });
  expect(told("limits.cpu", "1")).toEqual({ A: "2" });
  expect(told("limits.cpu", "1m")).toEqual({ A: "1500" });
  expect(told("limits.memory", "1Mi")).toEqual({ A: "64" });
});

it("what is missing is waited for, unless it is optional", () => {
  const key = (name: string, isOptional: boolean) =>
    ({ name: "A", is: "key", object: name, key: "none", isOptional }) as const;
  expect(valuesOf({ sources: [from("three")] })).toBe("waits");
  expect(valuesOf({ sources: [from("three", "", true)] })).toEqual({});
  expect(valuesOf({ variables: [key("one", false)] })).toBe("waits");
  expect(valuesOf({ variables: [key("one", true)] })).toEqual({});
});

it("a volume has its items, or everything", () => {
  expect(filesOf(program())).toEqual({});
  expect(filesOf(program({ volume: { object: "one", items: ["A"] } }))).toEqual({ "as-A": "1" });
  expect(filesOf(program({ volume: { object: "one", items: undefined } }))).toEqual({ A: "1", B: "$(A)" });
  expect(filesOf(program({ volume: { object: "one", items: ["none"] } }))).toBe("waits");
});

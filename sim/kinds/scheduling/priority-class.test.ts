import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint, update } from "../../objects/objects.fixture.ts";
import { validateCreate, validateUpdate } from "../../objects/validation.ts";
import { systemPriorityClasses } from "./priority-class.ts";

const classes = endpoint("scheduling.svc.io/v1/priorityclasses");
const texts = (name: string, fields: JsonObject): readonly string[] =>
  validateCreate(create({ metadata: { name }, ...fields }, classes), classes.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

it("A class has a value below the system's, and may preempt unless it says otherwise", () => {
  expect(texts("a", { value: 1_000_000_000 })).toEqual([]);
  expect(create({ metadata: { name: "a" }, value: 1 }, classes)["preemptionPolicy"]).toBe("PreemptLowerPriority");
  expect(texts("a", { value: 1_000_000_001 })).toEqual([
    "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
  ]);
  expect(texts("a", { value: 1, preemptionPolicy: "Z" })[0]).toContain('Unsupported value: "Z"');
});

it("The system's names are for the system's classes", () => {
  for (const { metadata, ...fields } of systemPriorityClasses) {
    expect(texts((metadata as { name: string }).name, fields as JsonObject)).toEqual([]);
  }
  const start = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only";
  expect(texts("system-x", { value: 1 })).toEqual([`${start}. error: system-x is not a known system priority class`]);
  expect(texts("system-node-critical", { value: 1 })).toEqual([
    `${start}. error: value of system-node-critical PriorityClass must be 2000001000`,
  ]);
});

it("A value stays what it is", () => {
  const live = create({ metadata: { name: "a" }, value: 1 }, classes);
  const change = (fields: JsonObject): readonly string[] => {
    const body = { metadata: { name: "a", resourceVersion: "1" }, value: 1, ...fields };
    return validateUpdate(update(body, live, classes), live, classes.strategy).map(({ field }) => field ?? "");
  };
  expect(change({ description: "b" })).toEqual([]);
  expect(change({ value: 2 })).toEqual(["value"]);
  expect(change({ preemptionPolicy: "Never" })).toEqual(["preemptionPolicy"]);
});

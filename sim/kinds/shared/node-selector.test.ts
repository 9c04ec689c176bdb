import { expect, it } from "vitest";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { judgeAt } from "../../objects/place.ts";
import { preferredNodes, requiredNodes } from "./node-selector.ts";

const expression = (fields: JsonObject, judgesValues = true): readonly string[] => {
  const causes: Cause[] = [];
  const term = { matchExpressions: [{ key: "a", ...fields }] };
  if (judgesValues) judgeAt(requiredNodes, { nodeSelectorTerms: [term] }, "t", causes);
  else judgeAt(preferredNodes, term, "t", causes);
  return causes.map(({ field, message }) => `${field}: ${message}`.replace(/^.*matchExpressions\[0\]\./, ""));
};

it("Operators take the values that they can judge", () => {
  expect(expression({ operator: "In", values: ["b"] })).toEqual([]);
  expect(expression({ operator: "Gt", values: ["1", "2"] })).toEqual([
    "values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
  ]);
  expect(expression({ operator: "Exists", values: ["1"] })[0]).toContain("values: Forbidden");
  expect(expression({ operator: "Z" })).toEqual(['operator: Invalid value: "Z": not a valid selector operator']);
  expect(expression({ operator: "In", values: ["a b"] })[0]).toContain('values[0]: Invalid value: "a b"');
  expect(expression({ operator: "In", values: ["a b"] }, false)).toEqual([]);
});

it("A node is chosen by one name, and a selector has a term", () => {
  const causes: Cause[] = [];
  judgeAt(preferredNodes, { matchFields: [{ key: "spec.x", operator: "In", values: ["a", "b"] }] }, "t", causes);
  expect(causes.map(({ field }) => field)).toEqual(["t.matchFields[0].values", "t.matchFields[0].key"]);
  const none: Cause[] = [];
  judgeAt(requiredNodes, {}, "s", none);
  expect(none).toEqual([
    {
      reason: "FieldValueRequired",
      message: "Required value: must have at least one node selector term",
      field: "s.nodeSelectorTerms",
    },
  ]);
});

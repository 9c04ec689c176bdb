import fc from "fast-check";
import { expect, it } from "vitest";
import { isSelectorError, parseLabelSelector } from "../../../wire/selectors.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { inTurns } from "../../expressions/pace.ts";
import { Place } from "../../objects/place.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { matchesTemplate } from "./pod-selector.ts";

function causesOf(spec: JsonObject): readonly Cause[] {
  const causes: Cause[] = [];
  matchesTemplate(spec, new Place(causes, kubernetesProfile.dialect, undefined));
  return causes;
}

const requirement = fc.record({
  key: fc.constantFrom("a", "b", "c/d", "not a key", ""),
  operator: fc.constantFrom("In", "NotIn", "Exists", "DoesNotExist"),
  values: fc.array(fc.constantFrom("", "x", "y", "a value"), { maxLength: 3 }),
});

it("a selector that is read in parts matches what it matches at once", () => {
  fc.assert(
    fc.property(
      fc.array(requirement, { maxLength: 200 }),
      fc.dictionary(fc.constantFrom("a", "b", "c/d"), fc.constantFrom("", "x", "y")),
      (expressions, labels) => {
        const selector = { matchLabels: {}, matchExpressions: expressions };
        const read = parseLabelSelector(selectorText(selector));
        const matches = isSelectorError(read) || read.empty || read.matches(labels);
        expect(causesOf({ selector, template: { metadata: { labels } } }).length).toBe(matches ? 0 : 1);
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});

it("a selector of many requirements is read in many turns", () => {
  const matchExpressions = Array.from({ length: 60_000 }, (_, at) => ({ key: `k${at}`, operator: "DoesNotExist" }));
  const spec = { selector: { matchExpressions }, template: { metadata: { labels: { k59999: "" } } } };
  const turns = inTurns(() => causesOf(spec));
  let turnCount = 1;
  for (let { done, value } = turns.next(); ; { done, value } = turns.next(), turnCount++) {
    if (done !== true) continue;
    expect(value).toEqual(causesOf(spec));
    expect((value as readonly Cause[]).length).toBe(1);
    break;
  }
  expect(turnCount).toBeGreaterThan(7); // three, when it was read in one part
});

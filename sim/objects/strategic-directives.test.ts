import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { inTurns } from "../expressions/pace.ts";
import { added, withoutDirectives, withoutNulls } from "./strategic-directives.ts";

/** What shall be left, copied member by member. */
function plainly(value: Json, takesNulls: boolean): Json | undefined {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item) => plainly(item, takesNulls)).filter((item) => item !== undefined);
  }
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, "$patch") && !(takesNulls && value["$patch"] === null)) return undefined;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const left = takesNulls && item === null ? undefined : plainly(item, takesNulls);
    return left === undefined ? [] : [[key, left] as const];
  });
  return Object.fromEntries(kept) as Json;
}

const values = fc.letrec<{ readonly value: Json; readonly map: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, "a", 1, true),
    tie("map"),
    fc.array(tie("value"), { maxLength: 3 }) as fc.Arbitrary<Json>,
  ),
  map: fc.dictionary(fc.constantFrom("a", "b", "c", "$patch"), tie("value"), { maxKeys: 3 }) as fc.Arbitrary<Json>,
})).value;

it("what is new is stored without nulls and without directives, be it copied or not", () => {
  fc.assert(
    fc.property(values, (value) => {
      const sent = structuredClone(value) as Json;
      expect(withoutDirectives(withoutNulls(value))).toEqual(plainly(value, true));
      expect(withoutDirectives(value)).toEqual(plainly(value, false));
      expect(added(value)).toEqual(plainly(value, true));
      expect(value).toEqual(sent);
    }),
    { seed: 7, numRuns: 1_000 },
  );
});

it("what has neither is not copied", () => {
  const value = { a: [{ b: "c" }, "d"] };
  expect(withoutDirectives(withoutNulls(value))).toBe(value);
  expect(withoutDirectives(value)).toBe(value);
  expect(added(value)).toBe(value);
});

it("what is large is looked at and cleaned in turns", () => {
  const many = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`k${at}`, { a: at === 0 ? null : "b" }]));
  const cleaning = inTurns(() => added(many as Json));
  let turns = 1;
  let step = cleaning.next();
  for (; step.done !== true; step = cleaning.next()) turns++;
  expect(turns).toBe(3);
  expect(step.value).toEqual(plainly(many as Json, true));
});

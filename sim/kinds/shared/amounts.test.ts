import { expect, it } from "vitest";
import { svcDialect } from "../../../wire/dialect.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json } from "../../contract/http-message.ts";
import { all, fieldRules } from "../../objects/rules.ts";
import { amount, isNothing, partOfWhole } from "./amounts.ts";

const judge = fieldRules({ a: all(amount, partOfWhole) });
const texts = (a: Json): readonly string[] => {
  const causes: Cause[] = [];
  judge({ a }, causes, svcDialect);
  return causes.map(({ message }) => message);
};

it("An amount is a count or a share of at most the whole", () => {
  expect([0, 7, "0%", "100%"].flatMap(texts)).toEqual([]);
  expect(texts(-1)).toEqual(["Invalid value: -1: must be greater than or equal to 0"]);
  expect(texts("200%")).toEqual([
    'Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"200%"}: must not be greater than 100%',
  ]);
  expect(texts("half")[0]).toContain("a valid percent string must be a numeric string");
  expect([0, "0%", 1, "1%"].map(isNothing)).toEqual([true, true, false, false]);
});

import { expect, it } from "vitest";
import { z } from "zod";
import { inPlainWords, ruleOrMissing } from "./plain-words.ts";

const rule = "expected a name of lower-case letters";
const shape = z.object({
  name: z.string({ error: ruleOrMissing(rule) }).regex(/^[a-z]+$/, { error: rule }),
  size: z.union([z.int(), z.string()]),
  rate: z.union([z.literal("none"), z.object({ perSecond: z.int() })]).optional(),
  effect: z.enum(["a", "b"]).optional(),
  code: z
    .string()
    .regex(/^\dxx$/)
    .optional(),
});

const told = (value: unknown): readonly string[] =>
  shape
    .safeParse(value, { error: inPlainWords })
    .error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];

it("what is missing is told as that, whatever rule it would have to follow", () => {
  expect(told({})).toEqual([`name: is missing: ${rule}`, "size: is missing: expected a number or a text"]);
  expect(told({ name: 3, size: 1 })).toEqual([`name: ${rule}`]);
  expect(told({ name: "A", size: 1 })).toEqual([`name: ${rule}`]);
});

it("a word that must be there is told as missing, with those that may be", () => {
  const error = z.object({ effect: z.enum(["a", "b"]) }).safeParse({}, { error: inPlainWords }).error;
  expect(error?.issues.map(({ message }) => message)).toEqual(["is missing: expected one of a, b"]);
});

it("no value is told in the words of the reader of schemas", () => {
  expect(told({ name: "a", size: [] })).toEqual(["size: expected a number or a text, not a list"]);
  expect(told({ name: "a", size: 1, effect: "c" })).toEqual(["effect: expected one of a, b"]);
  expect(told({ name: "a", size: 1, code: "4x" })).toEqual(["code: expected a text that matches /^\\dxx$/"]);
  expect(told({ name: "a", size: 1, rate: 7 })).toEqual(["rate: expected none or fields, not a number"]);
  expect(told({ name: "a", size: 1, rate: "some" })).toEqual(["rate: expected none or fields"]);
  expect(told({ name: "a", size: 1, rate: {} })).toEqual(["rate: perSecond: is missing: expected a number"]);
  expect(told(7)).toEqual([": expected fields, not a number"]);
});

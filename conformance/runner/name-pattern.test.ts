import { describe, expect, it } from "vitest";
import { areaOf, namePattern } from "./name-pattern.ts";

describe("name patterns", () => {
  it.each([
    ["watch.reliable", "watch.reliable", true],
    ["watch.reliable", "watch-reliable", false],
    ["watch", "watch.reliable", false],
    ["watch.*", "watch.reliable", true],
    ["*-gone", "expiry.watch-gone", true],
    ["*-gone", "expiry.watch-goner", false],
    ["a*c", "ac", true],
    ["a+", "aa", false],
    ["*", "", true],
  ])("%s on %s is %s", (word, name, matches) => {
    expect(namePattern(word)(name)).toBe(matches);
  });

  it("knows the area of a requirement", () => {
    expect(areaOf("field-validation.strict")).toBe("field-validation");
  });
});

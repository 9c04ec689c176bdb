import { describe, expect, it } from "vitest";
import { calledForFailures, isCalledFor } from "./called-for-failures.fixture.ts";
import { profiles } from "../contract/profile.ts";
import { TestBed } from "./test-bed.fixture.ts";

describe.each([profiles.svc, profiles.kubernetes])("a failure under $name", (profile) => {
  it.each(calledForFailures.map((row) => [row.when, row] as const))("when %s", (_, { ask, text, profiles: named }) => {
    const bed = new TestBed({ profile });
    const { status, text: told } = ask(bed);
    if (named.includes(profile.name)) {
      expect([status, told]).toEqual([500, expect.stringMatching(text)]);
      expect(isCalledFor(profile.name, told)).toBe(true);
    } else expect(status, told).toBeLessThan(500);
  });

  it("is not called for by any other text", () => {
    expect(isCalledFor(profile.name, "Internal error occurred: cannot read properties of undefined")).toBe(false);
  });
});

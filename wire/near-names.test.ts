import { describe, expect, it } from "vitest";
import { didYouMean, nearNames } from "./near-names.ts";

describe("near names", () => {
  it.each([
    ["evry", ["every", "until", "name"], ["every"]],
    ["compct", ["crash", "compact", "cut"], ["compact"]],
    ["parttiion", ["partition", "heal"], ["partition"]],
    ["informer.convergs", ["informer.converges", "watch.ordered"], ["informer.converges"]],
    ["banana", ["partition", "heal"], []],
    ["x", ["at", "by"], []],
    ["AT", ["at"], ["at"]],
  ])("%s", (name, known, near) => expect(nearNames(name, known)).toEqual(near));

  it("answers nothing for what is far too long to be a misspelling", () => {
    expect(nearNames("x".repeat(1_000_000), ["x".repeat(1_000_000)])).toEqual([]);
    expect(didYouMean("zzz", ["every"])).toBe("");
    expect(didYouMean("evry", ["every"])).toBe("; did you mean every?");
  });
});

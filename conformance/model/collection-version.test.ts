import { describe, expect, it } from "vitest";
import { type Happening, judgeGoesOn, judgeListVersions } from "./collection-version.ts";
import { list, log } from "./hand-written.fixture.ts";

const listed = (version: string, ...items: string[]): Happening => ({
  did: "list",
  list: list(version, ...items),
  fresh: true,
  what: "all",
});
const wrote = (version?: string): Happening => ({ did: "write", version });

describe("judgeListVersions", () => {
  it.each<[string, Happening[]]>([
    [
      "versions of the moments",
      [wrote("1"), listed("1", "a@1"), wrote("2"), listed("2", "a@1", "b@2"), wrote(), listed("3", "a@1")],
    ],
    ["versions of others' moments", [wrote("1"), listed("7", "a@1"), listed("9", "a@1")]],
    ["one state twice at one version", [wrote("1"), listed("1", "a@1"), listed("1", "a@1")]],
    ["a write that changed nothing", [wrote("1"), listed("1", "a@1"), wrote("1"), listed("1", "a@1")]],
    [
      "an old list where any will do",
      [wrote("1"), listed("1", "a@1"), wrote(), { ...listed("1", "a@1"), fresh: false } as Happening],
    ],
    ["two selections at one version", [listed("5", "a@1"), { ...listed("5"), what: "red" } as Happening]],
  ])("accepts %s", (_, happenings) => {
    expect(judgeListVersions(happenings)).toBeUndefined();
  });

  it.each<[string, Happening[]]>([
    [
      "the newest item's version after a deletion",
      [wrote("1"), wrote("2"), listed("2", "a@1", "b@2"), wrote(), listed("1", "a@1")],
    ],
    ["the version of an earlier write", [wrote("1"), wrote("2"), listed("1", "a@1")]],
    ["the version of a list from before a change", [listed("5"), wrote("6"), listed("5")]],
    [
      "the newest of what was selected",
      [wrote("1"), listed("1", "a@1"), wrote("2"), { ...listed("1", "a@1"), what: "red" } as Happening],
    ],
    [
      "two states at one version",
      [{ ...listed("1", "a@1"), fresh: false } as Happening, { ...listed("1"), fresh: false } as Happening],
    ],
  ])("rejects %s", (_, happenings) => {
    expect(judgeListVersions(happenings)).toBeDefined();
  });
});

describe("judgeGoesOn", () => {
  it("accepts what follows the list", () => {
    expect(judgeGoesOn(list("3", "a@1", "b@2"), log("~a@4", "-b@5", "+b@6#2"))).toBeUndefined();
  });

  it.each([
    ["what the list shows", ["+b@2"]],
    ["what the list shows, as a change", ["~b@2"]],
    ["the end of what it does not show", ["-c@3"]],
    ["the beginning of what it shows", ["+a@4#2"]],
  ])("rejects %s", (_, written) => {
    expect(judgeGoesOn(list("3", "a@1", "b@2"), log(...written))).toBeDefined();
  });
});

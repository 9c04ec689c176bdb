import { describe, expect, it } from "vitest";
import { judgeOther } from "./impersonation.ts";

const everybody = "system:authenticated";
const robot = "system:serviceaccount:n:robot";

describe("judgeOther", () => {
  it.each([
    ["a user", { username: "jane", group: undefined }, ["jane", everybody]],
    ["a user in a group", { username: "jane", group: "dev" }, ["jane", everybody, "dev"]],
    [
      "a service account",
      { username: robot, group: undefined },
      [robot, everybody, "system:serviceaccounts", "system:serviceaccounts:n"],
    ],
    ["a service account in another group alone", { username: robot, group: "dev" }, [robot, "dev", everybody]],
  ])("accepts %s", (_, other, [username = "", ...groups]) => {
    expect(judgeOther(other, { username, groups })).toBeUndefined();
  });

  it.each([
    ["the caller itself", ["admin", "system:masters", everybody]],
    ["a group of the caller's", ["jane", "dev", "system:masters", everybody]],
    ["a group too few", ["jane", everybody]],
    ["one who is in no group of all", ["jane", "dev"]],
  ])("rejects %s", (_, [username = "", ...groups]) => {
    expect(judgeOther({ username: "jane", group: "dev" }, { username, groups })).toBeDefined();
  });

  it("rejects nobody", () => {
    expect(judgeOther({ username: "jane", group: "dev" }, undefined)).toBeDefined();
  });
});

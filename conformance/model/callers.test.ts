import { expect, it } from "vitest";
import { callerIn, judgeCaller } from "./callers.ts";

const jane = { username: "jane", groups: ["system:authenticated"] };

it("accepts the user that was expected, in further groups too", () => {
  const answered = { status: { userInfo: { username: "jane", groups: ["more", "system:authenticated"] } } };
  expect(judgeCaller(jane, callerIn(answered, "userInfo"))).toBeUndefined();
});

it.each([
  ["nobody", { status: {} }],
  ["a user without a name", { status: { userInfo: { username: "", groups: jane.groups } } }],
  ["another user", { status: { userInfo: { ...jane, username: "joe" } } }],
  ["a user outside its group", { status: { userInfo: { username: "jane" } } }],
])("rejects %s", (_what, answered) => {
  expect(judgeCaller(jane, callerIn(answered, "userInfo"))).toBeDefined();
});

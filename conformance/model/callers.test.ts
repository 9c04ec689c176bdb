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

it("reads nobody where no user is told", () => {
  for (const answered of [undefined, {}, { status: "Success" }, { status: { userInfo: { username: 7 } } }]) {
    expect(callerIn(answered as never, "userInfo")).toBeUndefined();
  }
  expect(callerIn({ status: { userInfo: { username: "" } } }, "userInfo")).toBeUndefined();
  expect(judgeCaller(jane, undefined)?.actual).toBe("no user");
  expect(judgeCaller(jane, { ...jane, username: "joe" })?.actual).toBe("joe in system:authenticated");
});

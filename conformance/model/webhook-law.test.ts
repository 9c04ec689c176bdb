import { describe, expect, it } from "vitest";
import {
  type AdmittedWrite,
  judgeReinvocation,
  judgeReviews,
  judgeWebhookWarnings,
  type ModelWebhook,
  refusing,
  type ToldReview,
  warningOf,
} from "./webhook-law.ts";

const webhook = (parts: Partial<ModelWebhook> = {}): ModelWebhook => ({
  name: "w",
  operations: ["CREATE", "DELETE"],
  team: "red",
  does: "allow",
  failurePolicy: "Fail",
  ...parts,
});
const write: AdmittedWrite = { operation: "CREATE", resource: "configmaps", name: "a", teams: ["red"], dryRun: true };
const review: ToldReview = {
  webhook: "w",
  operation: "CREATE",
  resource: "configmaps",
  namespace: "n",
  name: "a",
  dryRun: true,
  team: "red",
  oldTeam: undefined,
};

describe("refusing", () => {
  it("knows who refuses", () => {
    const [deny, broken] = [webhook({ does: "deny" }), webhook({ does: "broken" })];
    expect(refusing([webhook(), deny], write)).toBe(deny);
    expect(refusing([webhook({ does: "broken", failurePolicy: "Ignore" }), broken], write)).toBe(broken);
  });

  it.each([
    ["another operation", { ...write, operation: "UPDATE" }],
    ["another resource", { ...write, resource: "podtemplates" }],
    ["another team", { ...write, teams: ["blue"] }],
  ] as const)("does not concern %s", (_what, other) => {
    expect(refusing([webhook({ does: "deny" })], other)).toBeUndefined();
  });
});

it("each webhook that was asked has its warning told, and no other", () => {
  const webhooks = [webhook(), webhook({ name: "v", team: "blue" }), webhook({ name: "x", does: "broken" })];
  const judge = (...warnings: string[]) => judgeWebhookWarnings(webhooks, write, warnings);
  expect(judge(warningOf({ name: "w" }), "of something else")).toBeUndefined();
  expect(judge()).toBeDefined();
  expect(judge(warningOf({ name: "w" }), warningOf({ name: "v" }))).toBeDefined();
});

it("who wants to be asked again is, after a change alone", () => {
  const again = webhook({ again: true });
  const stamp = webhook({ name: "s", does: "stamp" });
  expect(judgeReinvocation([again, stamp], write, [review, review])).toBeUndefined();
  expect(judgeReinvocation([again, stamp], write, [review])).toBeDefined();
  expect(judgeReinvocation([stamp, again], write, [review])).toBeUndefined();
  expect(judgeReinvocation([webhook(), stamp], write, [review])).toBeUndefined();
  expect(judgeReinvocation([again, webhook({ name: "s" })], write, [review])).toBeUndefined();
});

describe("judgeReviews", () => {
  it("accepts those that are concerned, each told what is asked", () => {
    expect(judgeReviews([webhook(), webhook({ name: "v", team: "blue" })], write, "n", [review])).toBeUndefined();
    expect(judgeReviews([webhook({ does: "broken", failurePolicy: "Ignore" })], write, "n", [])).toBeUndefined();
    const denied = [webhook({ does: "deny" }), webhook({ name: "v" })];
    expect(judgeReviews(denied, write, "n", [review])).toBeUndefined(); // nobody need be asked after a refusal
  });

  it("knows which object is before and which after", () => {
    const judge = (operation: "UPDATE" | "DELETE", teams: string[], told: Partial<ToldReview>) =>
      judgeReviews([webhook({ operations: ["UPDATE", "DELETE"] })], { ...write, operation, teams }, "n", [
        { ...review, operation, ...told },
      ]);
    expect(judge("UPDATE", ["blue", "red"], { team: "red", oldTeam: "blue" })).toBeUndefined();
    expect(judge("UPDATE", ["blue", "red"], { team: "blue", oldTeam: "red" })).toBeDefined();
    expect(judge("UPDATE", ["blue", "red"], { team: "red", oldTeam: undefined })).toBeDefined();
    expect(judge("DELETE", ["red"], { team: undefined, oldTeam: "red" })).toBeUndefined();
    expect(judge("DELETE", ["red"], { team: "red", oldTeam: "red" })).toBeDefined();
  });

  it.each<[string, ToldReview[]]>([
    ["nobody asked", []],
    ["a dry run told as a real one", [{ ...review, dryRun: false }]],
    ["another operation told", [{ ...review, operation: "UPDATE" }]],
    ["no object told", [{ ...review, team: undefined }]],
    ["the new object told as the old", [{ ...review, oldTeam: "red" }]],
    ["somebody asked whom nobody knows", [review, { ...review, webhook: "x" }]],
    ["somebody asked whom it does not concern", [review, { ...review, webhook: "v" }]],
  ])("rejects %s", (_what, told) => {
    expect(judgeReviews([webhook(), webhook({ name: "v", team: "blue" })], write, "n", told)).toBeDefined();
  });
});

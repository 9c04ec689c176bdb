import { describe, expect, it } from "vitest";
import { type Answered, type Grant, isGranted, judgeGrant, judgeReview } from "./access.ts";

const grants: readonly Grant[] = [
  { verbs: ["get", "list"], resources: ["configmaps"], names: [] },
  { verbs: ["*"], resources: ["pods/status"], names: ["a"] },
  { verbs: ["watch"], resources: ["*"], names: [] },
];
const ask = (verb: string, resource: string, name = "") => ({ verb, resource, name });

describe("isGranted", () => {
  it.each([
    ["what a rule names", ask("list", "configmaps"), true],
    ["another verb", ask("create", "configmaps"), false],
    ["another resource", ask("get", "secrets", "a"), false],
    ["a verb on any resource", ask("watch", "secrets"), true],
    ["any verb on a named object", ask("patch", "pods/status", "a"), true],
    ["another name", ask("patch", "pods/status", "b"), false],
    ["no name where one is needed", ask("list", "pods/status"), false],
    ["the resource of a subresource", ask("get", "pods", "a"), false],
  ] as const)("knows %s", (_what, asked, granted) => {
    expect(isGranted(grants, asked)).toBe(granted);
  });
});

describe("what came of it", () => {
  const answered = (granted: boolean, reviewed: boolean, status: number): Answered => ({
    ask: ask("get", "configmaps", "a"),
    namespace: "n",
    granted,
    reviewed,
    status,
  });

  it("accepts reviews and answers that agree with the grants", () => {
    for (const lawful of [answered(true, true, 404), answered(true, true, 200), answered(false, false, 403)]) {
      expect(judgeReview(lawful) ?? judgeGrant(lawful)).toBeUndefined();
    }
    expect(judgeReview(answered(false, false, 401))).toBeUndefined();
  });

  it("rejects a review that doing it belies", () => {
    expect(judgeReview(answered(true, true, 403))).toBeDefined();
    expect(judgeReview(answered(true, false, 200))).toBeDefined();
    expect(judgeReview(answered(true, true, 401))).toBeDefined();
  });

  it("rejects answers that the grants belie", () => {
    expect(judgeGrant(answered(true, true, 403))).toBeDefined();
    expect(judgeGrant(answered(false, true, 404))).toBeDefined();
    expect(judgeGrant(answered(false, false, 401))).toBeDefined();
    expect(judgeGrant(answered(true, true, 401))).toBeDefined();
  });
});

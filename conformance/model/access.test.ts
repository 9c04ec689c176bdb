import { describe, expect, it } from "vitest";
import { type Answered, type Grant, isCovered, isGranted, judgeGrant, judgeReview } from "./access.ts";

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

it("what is held covers what is wanted only when it covers each part of it", () => {
  const held = [
    { verbs: ["get", "list"], resources: ["pods"], names: [] },
    { verbs: ["*"], resources: ["configmaps"], names: ["a"] },
  ];
  const want = (verbs: string[], resources: string[], names: string[] = []) =>
    isCovered(held, [{ verbs, resources, names }]);
  expect(want(["get"], ["pods"])).toBe(true);
  expect(want(["get"], ["pods"], ["a"])).toBe(true);
  expect(want(["*"], ["configmaps"], ["a"])).toBe(true);
  expect(want(["get", "delete"], ["pods"])).toBe(false);
  expect(want(["get"], ["pods", "pods/status"])).toBe(false);
  expect(want(["get"], ["configmaps"])).toBe(false);
  expect(want(["get"], ["configmaps"], ["a", "b"])).toBe(false);
  expect(want(["*"], ["pods"])).toBe(false);
});

import { describe, expect, it } from "vitest";
import { judgeInside, type RequestInside } from "./namespace-life.ts";

const seen = (
  verb: RequestInside["verb"],
  phase: RequestInside["phase"],
  status: number,
  ...causes: string[]
): RequestInside => ({ verb, phase, status, causes });

describe("the life of a namespace", () => {
  it("accepts work while it lives, changes while it goes, and nothing afterwards", () => {
    const history = [
      seen("create", "Active", 201),
      seen("create", "Active", 200),
      seen("create", "Active", 202),
      seen("delete", "Active", 200),
      seen("patch", "Active", 200),
      seen("create", "Terminating", 403, "NamespaceTerminating"),
      seen("patch", "Terminating", 200),
      seen("delete", "Terminating", 202),
      seen("list", "Terminating", 200),
      seen("create", "absent", 404),
      seen("get", "absent", 404),
      seen("list", "absent", 200),
    ];
    expect(judgeInside(history)).toBeUndefined();
  });

  it.each([
    ["a create while it goes", seen("create", "Terminating", 201)],
    ["a refusal that does not say why", seen("create", "Terminating", 403)],
    ["a change refused while it goes", seen("patch", "Terminating", 403, "NamespaceTerminating")],
    ["a create where there is no namespace", seen("create", "absent", 201)],
    ["a list refused where there is no namespace", seen("list", "absent", 404)],
    ["a change that creates", seen("patch", "Active", 201)],
    ["a change that is only accepted", seen("patch", "Active", 202)],
    ["a deletion that creates", seen("delete", "Active", 201)],
    ["a create refused while it lives", seen("create", "Active", 403)],
  ])("rejects %s", (_what, request) => {
    expect(judgeInside([seen("list", "Active", 200), request])).toBeDefined();
  });
});

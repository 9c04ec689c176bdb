import { describe, expect, it } from "vitest";
import { log, object } from "./hand-written.fixture.ts";
import { judgeReplay, judgeSameState, stateOf } from "./replay.ts";

describe("replay to list", () => {
  const before = [object("a@1"), object("b@2")];
  const events = log("~a@3", "-b@4", "+c@5");

  it("Replay - the list has what the events made - accepts", () => {
    expect(judgeReplay(before, events, [object("a@3"), object("c@5")])).toBeUndefined();
  });
  it("Replay - list items need not repeat kind and apiVersion - accepts", () => {
    const { kind: _kind, apiVersion: _apiVersion, ...bare } = object("c@5");
    expect(judgeReplay(before, events, [object("a@3"), bare])).toBeUndefined();
  });
  it("Replay - a deletion was not delivered - rejects", () => {
    expect(judgeReplay(before, log("~a@3", "+c@5"), [object("a@3"), object("c@5")])?.expected).toContain("n/b at 2");
  });
  it("Replay - a change was not delivered - rejects", () => {
    expect(judgeReplay(before, log("-b@4", "+c@5"), [object("a@3"), object("c@5")])).toBeDefined();
  });
  it("Replay - the list has an object that no event made - rejects", () => {
    expect(judgeReplay(before, events, [object("a@3"), object("c@5"), object("d@6")])?.actual).toContain("n/d");
  });
  it("Replay - same version, other content - rejects", () => {
    const other = { ...object("c@5"), data: { version: "forged" } };
    expect(judgeReplay(before, events, [object("a@3"), other])).toBeDefined();
  });
  it("Replay - same name, another life - rejects", () => {
    expect(judgeReplay([], log("+a@1"), [object("a@1#2")])).toBeDefined();
  });
});

describe("one state", () => {
  const judge = (...written: readonly string[]) =>
    judgeSameState(stateOf([object("a@1"), object("b@2")]), stateOf(written.map((each) => object(each))), {
      expected: "the list",
      actual: "the events",
    });

  it("Same state - in another order - accepts", () => expect(judge("b@2", "a@1")).toBeUndefined());
  it("Same state - one is missing - rejects", () => expect(judge("a@1")?.actual).toContain("n/b is missing"));
  it("Same state - one is too many - rejects", () => expect(judge("a@1", "b@2", "c@3")?.actual).toContain("n/c"));
  it("Same state - another version - rejects", () => expect(judge("a@1", "b@3")).toBeDefined());
  it("Same state - another life - rejects", () => expect(judge("a@1", "b@2#2")).toBeDefined());
});

import { describe, expect, it } from "vitest";
import { log, object } from "./hand-written.ts";
import { judgeReplay } from "./replay.ts";

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

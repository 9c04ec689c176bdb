import { describe, expect, it } from "vitest";
import type { WatchEvent } from "../client/types.ts";
import { log, object, write } from "./hand-written.fixture.ts";
import { stateOf } from "./replay.ts";
import { isEndMark, judgeEndMark, judgeMoment, placeKnownAt, placeOfVersion } from "./streaming.ts";

const base = stateOf([object("a@1")]);
const history = log("~a@2", "+b@3", "-a@4", "+c@5");

describe("placeKnownAt", () => {
  const writes = [
    write("put", "a@2", [1, 2]),
    write("create", "b@3", [3, 4]),
    write("delete", "a@4", [5, 6]),
    write("create", "c@5", [7, undefined]),
    write("create", "b@9", [1, 2], { status: 409 }),
    write("delete", "a@4", [1, 2], { status: 409 }),
  ];

  it("counts up to the last write that was acknowledged before", () => {
    expect([2, 3, 5, 7, 99].map((began) => placeKnownAt(history, writes, began))).toEqual([0, 1, 2, 3, 3]);
  });

  it("tells the end of one object from that of another", () => {
    const ends = log("+a@1", "-a@2", "+b@3", "-b@4");
    expect(placeKnownAt(ends, [write("delete", "a@", [1, 2])], 5)).toBe(2);
  });

  it("knows the place of a version, and none of one that is no change's", () => {
    expect(["3", "5", "1"].map((version) => placeOfVersion(history, version))).toEqual([2, 4, 0]);
  });
});

describe("judgeMoment", () => {
  it.each([
    ["the first moment allowed", ["+a@2", "+b@3"]],
    ["a later one", ["+b@3"]],
    ["the last one, told in changes", ["+a@1", "+b@3", "-a@4", "+c@5"]],
  ])("accepts %s", (_, told) => {
    expect(judgeMoment(base, history, 2, log(...told))).toBeUndefined();
  });

  it.each([
    ["an earlier moment", ["+a@2"]],
    ["nothing at all", []],
    ["objects of two moments", ["+a@2", "+b@3", "+c@5"]],
  ])("rejects %s", (_, told) => {
    expect(judgeMoment(base, history, 2, log(...told))?.expected).toContain("at least 2");
  });
});

describe("judgeEndMark", () => {
  const added: WatchEvent = { type: "ADDED", object: {} };
  const mark: WatchEvent = {
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "5", annotations: { "example/end": "true" } } },
  };
  const bare: WatchEvent = { type: "BOOKMARK", object: { metadata: { resourceVersion: "6" } } };
  const judge = (events: WatchEvent[], allowed: boolean) => judgeEndMark(events, "example/end", allowed);

  it("accepts one mark where bookmarks are allowed, and none where not", () => {
    expect(judge([added, mark, added, bare], true)).toBeUndefined();
    expect(judge([added, added], false)).toBeUndefined();
    expect([added, mark, bare].map((event) => isEndMark(event, "example/end"))).toEqual([false, true, false]);
    const denied = { metadata: { annotations: { "example/end": "false" } } };
    expect(isEndMark({ type: "BOOKMARK", object: denied }, "example/end")).toBe(false);
    expect(isEndMark({ ...mark, type: "ADDED" }, "example/end")).toBe(false);
  });

  it.each([
    ["no mark", [added, bare], true],
    ["a second mark", [added, mark, mark], true],
    ["a bookmark before the mark", [bare, mark], true],
    ["a mark that nobody allowed", [added, mark], false],
    ["a bookmark that nobody allowed", [added, bare], false],
  ])("rejects %s", (_, events, allowed) => {
    expect(judge(events, allowed)).toBeDefined();
  });
});

import { describe, expect, it } from "vitest";
import { event, log, object } from "./hand-written.fixture.ts";
import type { LogEvent } from "./history.ts";
import { everything, type Filter, judgeSameEvents, judgeStreamAgainstLog, project } from "./projection.ts";
import { stateOf } from "./replay.ts";

const red = { labels: { team: "red" } };
const isRed: Filter = (made) => made.metadata.labels?.["team"] === "red";
const shown = (events: readonly LogEvent[]) => events.map(({ type, version }) => `${type} ${version}`);

describe("projection", () => {
  it("shows objects appear and vanish as they start and stop to match", () => {
    const story = [
      event("+a@1"),
      event("~a@2", red),
      event("~a@3", red),
      event("~a@4"),
      event("~a@5", red),
      event("-a@6", red),
    ];
    expect(shown(project(new Map(), story, isRed))).toEqual([
      "ADDED 2",
      "MODIFIED 3",
      "DELETED 4",
      "ADDED 5",
      "DELETED 6",
    ]);
  });

  it("takes a second life for another object", () => {
    const story = [event("+a@1", red), event("-a@2", red), event("+a@3#2")];
    expect(shown(project(new Map(), story, isRed))).toEqual(["ADDED 1", "DELETED 2"]);
  });

  it("knows what matched before the log began", () => {
    const base = stateOf([object("a@1", red), object("b@2")]);
    expect(shown(project(base, log("~a@3", "-b@4"), isRed))).toEqual(["DELETED 3"]);
  });

  const expected = log("+a@1", "~a@2", "-a@3");
  it("Same events - the same - accepts", () => {
    expect(judgeSameEvents(expected, log("+a@1", "~a@2", "-a@3"))).toBeUndefined();
  });
  const different: readonly [situation: string, ...events: string[]][] = [
    ["one missing in the middle", "+a@1", "-a@3"],
    ["one missing at the end", "+a@1", "~a@2"],
    ["one too many", "+a@1", "~a@2", "-a@3", "+a@4#2"],
    ["two in another order", "~a@2", "+a@1", "-a@3"],
    ["another type", "+a@1", "+a@2", "-a@3"],
    ["the version of an earlier state", "+a@1", "~a@2", "-a@2"],
    ["another object", "+a@1", "~b@2", "-a@3"],
    ["another life", "+a@1", "~a@2#2", "-a@3"],
  ];
  for (const [situation, ...events] of different) {
    it(`Same events - ${situation} - rejects`, () => expect(judgeSameEvents(expected, log(...events))).toBeDefined());
  }
});

describe("a stream against the log", () => {
  const base = stateOf([object("b@1")]);
  const story = log("+a@2", "~a@3", "-a@4", "+c@5");

  it("Start - after a version, exactly the rest - accepts", () => {
    expect(judgeStreamAgainstLog(base, story, { after: "3" }, everything, log("-a@4", "+c@5"))).toBeUndefined();
  });
  it("Start - after the version of an object from before the log - accepts", () => {
    expect(judgeStreamAgainstLog(base, story, { after: "1" }, everything, story)).toBeUndefined();
  });
  it("Start - the change that made the version comes again - rejects", () => {
    expect(judgeStreamAgainstLog(base, story, { after: "3" }, everything, log("~a@3", "-a@4", "+c@5"))).toBeDefined();
  });
  it("Start - the first change after the version is missing - rejects", () => {
    expect(judgeStreamAgainstLog(base, story, { after: "3" }, everything, log("+c@5"))).toBeDefined();
  });
  it("Start - a state that fits two places, and the stream fits the later - accepts", () => {
    // {b} is the state before a came and after it went.
    expect(judgeStreamAgainstLog(base, story, { state: base }, everything, log("+c@5"))).toBeUndefined();
    expect(judgeStreamAgainstLog(base, story, { state: base }, everything, story)).toBeUndefined();
  });
  it("Start - a state that fits two places, and the stream fits neither - rejects", () => {
    expect(judgeStreamAgainstLog(base, story, { state: base }, everything, log("-a@4", "+c@5"))).toBeDefined();
  });
  it("Start - after the first change - accepts; after the last, nothing - accepts", () => {
    expect(judgeStreamAgainstLog(base, story, { after: "2" }, everything, log("~a@3", "-a@4", "+c@5"))).toBeUndefined();
    const whole = stateOf([object("b@1"), object("c@5")]);
    expect(judgeStreamAgainstLog(base, story, { state: whole }, everything, [])).toBeUndefined();
  });
  it("Start - after the version of one of several from before the log - accepts", () => {
    const several = stateOf([object("b@1"), object("d@0")]);
    expect(judgeStreamAgainstLog(several, story, { after: "0" }, everything, story)).toBeUndefined();
  });
  it.each([
    ["with an object more", ["b@1", "d@9"]],
    ["with another version", ["b@7"]],
    ["without any object", []],
  ])("Start - a state that the log never had, %s - rejects", (_what, written) => {
    const state = stateOf(written.map((each) => object(each)));
    expect(judgeStreamAgainstLog(base, story, { state }, everything, story)?.expected).toContain("a start");
  });
  it("Start - a version that the log never had - rejects", () => {
    expect(judgeStreamAgainstLog(base, story, { after: "77" }, everything, [])?.expected).toContain("77");
  });
});

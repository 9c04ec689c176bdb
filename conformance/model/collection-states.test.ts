import { describe, expect, it } from "vitest";
import { changesFrom, judgeShown, judgeWatched, type Member, type Members, type Shown } from "./collection-states.ts";

const member = (key: string, version: string, team?: string): Member => ({
  key,
  version,
  labels: team === undefined ? {} : { team },
});
const state = (...members: readonly Member[]): Members => new Map(members.map((each) => [each.key, each]));
const all = (): boolean => true;
const red = ({ labels }: Member): boolean => labels["team"] === "red";

// a appears red, b appears blue, a turns blue, b goes.
const a1 = member("a", "1", "red");
const b2 = member("b", "2", "blue");
const a3 = member("a", "3", "blue");
const states = [state(), state(a1), state(a1, b2), state(a3, b2), state(a3)];
const told = (...words: readonly string[]): Shown[] =>
  words.map((word) => {
    const [type = "", key = "", version = ""] = word.split(" ");
    return { type, key, version };
  });

describe("what a list shows", () => {
  const judge = (places: readonly number[], chosen: typeof red, ...shown: readonly Member[]) =>
    judgeShown(
      places.map((place) => states[place] as Members),
      chosen,
      shown,
    )?.what;

  it("is one of the states that it may show", () => {
    expect(judge([2], all, a1, b2)).toBeUndefined();
    expect(judge([0, 1, 2], all)).toBeUndefined();
    expect(judge([3], red)).toBeUndefined();
  });

  it.each<readonly [string, string | undefined]>([
    ["unknown", judge([2], all, a3, b2)],
    ["missing", judge([2], all, a1)],
    ["twice", judge([2], all, a1, a1)],
    ["not chosen", judge([2], red, a1, b2)],
    ["missing", judge([2, 3], all)],
  ])("rejects what is %s", (expected, what) => expect(what).toBe(expected));
});

describe("what a watch tells", () => {
  const judge = (from: readonly number[], isInitial: boolean, chosen: typeof red, ...words: readonly string[]) => {
    const { mismatch, isWhole } = judgeWatched(states, { from, isInitial, chosen }, told(...words));
    return mismatch?.what ?? isWhole;
  };

  it("is each change of what is chosen", () => {
    expect(changesFrom(states, 0, red)).toEqual([
      { type: "ADDED", key: "a", version: "1" },
      { type: "DELETED", key: "a", version: "3" },
    ]);
    expect(judge([1], false, all, "ADDED b 2", "MODIFIED a 3", "DELETED b 4")).toBe(true);
    expect(judge([2], true, all, "ADDED b 2", "ADDED a 1", "MODIFIED a 3", "DELETED b 4")).toBe(true);
    expect(judge([0, 1, 2], true, red, "ADDED a 1", "DELETED a 3")).toBe(true);
    expect(judge([1], false, all, "ADDED b 2")).toBe(false); // the rest is to come
  });

  it.each<readonly [string, string | boolean]>([
    ["missing", judge([1], false, all, "MODIFIED a 3")],
    ["missing", judge([1], false, all, "ADDED b 2", "DELETED b 4")],
    ["order", judge([1], false, all, "MODIFIED b 2")],
    ["not chosen", judge([1], false, red, "ADDED b 2")],
    ["unknown", judge([1], false, red, "DELETED a 1")],
    ["twice", judge([3], false, all, "DELETED b 4", "DELETED b 4")],
    ["beginning", judge([2], true, all, "ADDED a 1", "MODIFIED b 2")],
    ["beginning", judge([2], true, all, "ADDED a 3", "ADDED b 2")],
  ])("rejects what is %s", (expected, what) => expect(what).toBe(expected));
});

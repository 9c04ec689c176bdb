import { describe, expect, it } from "vitest";
import {
  applied,
  type Fields,
  isSameState,
  judgeConflicts,
  judgeFields,
  nothingOwned,
  type Owned,
  updated,
} from "./ownership.ts";

const fields = (values: Record<string, string>): Fields => new Map(Object.entries(values));
const owners = (state: Owned) =>
  Object.fromEntries([...state.owners].map(([owner, paths]) => [owner, [...paths].join("")]));

/** alpha applies x=1 and y=1, then the editor sets y=2. */
const shared = updated(
  applied(nothingOwned, "alpha", fields({ x: "1", y: "1" })).next,
  "editor",
  fields({ x: "1", y: "2" }),
);

describe("the model of ownership", () => {
  it("gives a write what it changes, and takes it from the others", () => {
    expect(owners(shared)).toEqual({ alpha: "x", editor: "y" });
    expect(owners(updated(shared, "editor", fields({ y: "2" })))).toEqual({ alpha: "", editor: "y" });
  });

  it("knows conflicts by value, whoever owns the field, and force takes it over", () => {
    const { conflicts, next } = applied(shared, "beta", fields({ x: "1", y: "3" }));
    expect(conflicts).toEqual([{ owner: "editor", path: "y" }]);
    expect(owners(next)).toEqual({ alpha: "x", editor: "", beta: "xy" });
    expect(Object.fromEntries(next.live)).toEqual({ x: "1", y: "3" });
  });

  it("removes what its only owner leaves out", () => {
    expect(applied(shared, "alpha", fields({ x: "1" })).shared).toEqual([]); // nobody else owns it
    expect(applied(shared, "beta", fields({ x: "1", y: "3" })).shared).toEqual(["x"]); // y is changed, and so not shared
    const both = applied(shared, "beta", fields({ x: "1" }));
    expect(both.shared).toEqual(["x"]);
    expect(applied(both.next, "alpha", fields({})).removed).toEqual([]);
    const alone = applied(shared, "alpha", fields({ z: "1" }));
    expect(alone.removed).toEqual(["x"]);
    expect(Object.fromEntries(alone.next.live)).toEqual({ y: "2", z: "1" });
  });

  it("sees when nothing changes, and when an owner does", () => {
    expect(isSameState(shared, applied(shared, "alpha", fields({ x: "1" })).next)).toBe(true);
    expect(isSameState(shared, applied(shared, "beta", fields({ x: "1" })).next)).toBe(false);
    const turned = { live: fields({ y: "2", x: "1" }), owners: new Map([...shared.owners].toReversed()) };
    expect(isSameState(shared, turned)).toBe(true);
    expect(isSameState(shared, { ...turned, live: fields({ y: "2", x: "3" }) })).toBe(false);
  });
});

describe("judgeFields", () => {
  it("accepts the same values in any order, and rejects one too many, too few or other", () => {
    const expected = fields({ a: "1", b: "2" });
    expect(judgeFields(expected, fields({ b: "2", a: "1" }))).toBeUndefined();
    for (const actual of [{ a: "1" }, { a: "1", b: "3" }, { a: "1", b: "2", c: "" }]) {
      expect(judgeFields(expected, fields(actual as Record<string, string>))).toBeDefined();
    }
  });
});

describe("judgeConflicts", () => {
  const conflicts = [
    { owner: "alpha Apply", path: ".data.x" },
    { owner: "editor Update", path: ".data.x" },
  ];
  const cause = (manager: string, field = ".data.x") => ({
    reason: "FieldManagerConflict",
    message: `conflict with "${manager}" using v1`,
    field,
  });

  it("accepts a cause for each", () => {
    expect(judgeConflicts(conflicts, [cause("editor"), cause("alpha")])).toBeUndefined();
    expect(judgeConflicts(conflicts.toReversed(), [cause("alpha"), cause("editor")])).toBeUndefined();
  });

  it("rejects a cause too few, of another field, of another manager and of another reason", () => {
    for (const causes of [
      [],
      [cause("alpha")],
      [cause("alpha"), cause("editor", ".data.y")],
      [cause("alpha"), cause("beta")],
      [cause("alpha"), { ...cause("editor"), reason: "FieldValueInvalid" }],
    ]) {
      expect(judgeConflicts(conflicts, causes)).toBeDefined();
    }
  });
});

import { describe, expect, it } from "vitest";
import { fieldSelectorText, isSelected, type LabelTerm, labelSelectorText } from "./selection.ts";

const object = { name: "a", namespace: "n", labels: { team: "red", size: "10", bare: "" } };
const chosen = (...terms: LabelTerm[]) => isSelected(object, terms, []);

describe("isSelected", () => {
  it("chooses by every operator", () => {
    expect(chosen({ op: "=", key: "team", value: "red" }, { op: "==", key: "bare", value: "" })).toBe(true);
    expect(chosen({ op: "in", key: "team", values: ["blue", "red"] })).toBe(true);
    expect(chosen({ op: "exists", key: "bare" }, { op: "absent", key: "none" })).toBe(true);
    expect(chosen({ op: ">", key: "size", value: "9" }, { op: "<", key: "size", value: "11" })).toBe(true);
    expect(isSelected(object, [], [{ field: "metadata.name", op: "=", value: "a" }])).toBe(true);
    expect(isSelected(object, [], [{ field: "metadata.namespace", op: "!=", value: "m" }])).toBe(true);
    expect(isSelected(object, [], [{ field: "metadata.namespace", op: "=", value: "n" }])).toBe(true);
  });

  it("lets negations hold for an object without the label", () => {
    expect(chosen({ op: "!=", key: "none", value: "x" }, { op: "notin", key: "none", values: ["x"] })).toBe(true);
    expect(chosen({ op: "notin", key: "team", values: ["blue"] })).toBe(true);
  });

  it("leaves out what does not match, by every operator", () => {
    expect(chosen({ op: "=", key: "team", value: "re" })).toBe(false);
    expect(chosen({ op: "!=", key: "team", value: "red" })).toBe(false);
    expect(chosen({ op: "in", key: "none", values: [""] })).toBe(false);
    expect(chosen({ op: "in", key: "team", values: ["blue"] })).toBe(false);
    expect(chosen({ op: "notin", key: "team", values: ["red"] })).toBe(false);
    expect(chosen({ op: "exists", key: "none" })).toBe(false);
    expect(chosen({ op: "absent", key: "bare" })).toBe(false);
    expect(chosen({ op: ">", key: "size", value: "10" })).toBe(false);
    expect(chosen({ op: "<", key: "size", value: "10" })).toBe(false);
    expect(chosen({ op: "<", key: "team", value: "10" })).toBe(false);
    expect(chosen({ op: "<", key: "bare", value: "10" })).toBe(false);
    expect(chosen({ op: "<", key: "none", value: "10" })).toBe(false);
    expect(isSelected(object, [], [{ field: "metadata.namespace", op: "=", value: "a" }])).toBe(false);
    expect(isSelected(object, [], [{ field: "metadata.name", op: "!=", value: "a" }])).toBe(false);
  });

  it("wants all terms to hold, and is not taken in by inherited names", () => {
    expect(chosen({ op: "exists", key: "team" }, { op: "exists", key: "none" })).toBe(false);
    expect(chosen({ op: "exists", key: "constructor" })).toBe(false);
  });
});

it("writes terms as selectors spell them", () => {
  expect(
    labelSelectorText([
      { op: "notin", key: "a", values: ["b", "c"] },
      { op: "absent", key: "d" },
      { op: "!=", key: "e", value: "f" },
    ]),
  ).toBe("a notin (b,c),!d,e!=f");
  expect(
    labelSelectorText([
      { op: "exists", key: "a" },
      { op: "in", key: "b", values: ["c"] },
    ]),
  ).toBe("a,b in (c)");
  expect(
    fieldSelectorText([
      { field: "metadata.name", op: "=", value: "a" },
      { field: "metadata.namespace", op: "!=", value: "b" },
    ]),
  ).toBe("metadata.name=a,metadata.namespace!=b");
  expect(fieldSelectorText([{ field: "metadata.name", op: "==", value: "a" }])).toBe("metadata.name==a");
});

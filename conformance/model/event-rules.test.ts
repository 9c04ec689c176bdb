import { describe, expect, it } from "vitest";
import { brokenField, differingField, isSelected, openRule, reportOf } from "./event-rules.ts";

const event = {
  eventTime: "2026-01-01T00:00:00.000001Z",
  action: "Binding",
  reason: "Scheduled",
  type: "Normal",
  reportingController: "example.com/c",
  reportingInstance: "c-1",
  note: "é".repeat(512),
  regarding: { kind: "Pod", name: "p" },
};
const series = (count: number | undefined, lastObservedTime: string | undefined) => ({
  ...event,
  series: { count, lastObservedTime },
});
const time = "2026-01-01T00:00:02.000000Z";

describe("brokenField", () => {
  it("accepts what document 2 asks for", () => {
    expect(brokenField(event)).toBeUndefined();
    expect(brokenField({ ...event, action: "a".repeat(128), note: "" })).toBeUndefined();
    expect(brokenField({ ...event, type: "Warning" })).toBeUndefined();
    expect(brokenField({ ...event, series: null })).toBeUndefined();
    expect(brokenField(series(2, time))).toBeUndefined();
  });

  it.each([
    ["eventTime", { ...event, eventTime: undefined }],
    ["action", { ...event, action: "" }],
    ["action", { ...event, action: "a".repeat(129) }],
    ["reason", { ...event, reason: undefined }],
    ["type", { ...event, type: "" }],
    ["reportingController", { ...event, reportingController: "" }],
    ["reportingInstance", { ...event, reportingInstance: "i".repeat(129) }],
    ["note", { ...event, note: `${event.note}é` }],
    ["series", series(3, undefined)],
    ["series", series(undefined, time)],
    ["series", { ...event, series: "2" }],
    ["series", { ...event, series: { count: "3", lastObservedTime: time } }],
    ["note", { ...event, note: "n".repeat(1025) }],
  ])("rejects a wrong %s", (field, wrong) => {
    expect(brokenField(wrong)).toBe(field);
  });
});

it("knows what the documents leave open", () => {
  expect(openRule({ ...event, type: "Odd" })).toBe("events.type-known");
  expect(openRule(series(1, time))).toBe("events.series-count");
  expect(openRule(series(2, time))).toBeUndefined();
  expect(openRule({ ...event, deprecatedCount: 2 })).toBe("events.deprecated-unset");
  expect(openRule({ ...event, deprecatedCount: 0, deprecatedSource: {} })).toBeUndefined();
  expect(openRule(event)).toBeUndefined();
});

describe("the two forms", () => {
  const core = { ...event, involvedObject: event.regarding, message: event.note, reportingComponent: "example.com/c" };
  const coreAlone = { ...core, regarding: undefined, note: undefined, reportingController: undefined, count: 0 };

  it("accepts two forms of one report", () => {
    expect(differingField(reportOf(event, "own"), reportOf(coreAlone, "core"))).toBeUndefined();
  });

  it("takes what is empty for nothing, and fields in any order", () => {
    const empty = { related: {}, series: null, action: "", deprecatedCount: 0, note: undefined };
    expect(reportOf({ ...empty, reason: "Seen" }, "own")).toStrictEqual({ reason: "Seen" });
    const turned = { ...event, regarding: { name: "p", kind: "Pod" } };
    expect(differingField(reportOf(event, "own"), reportOf(turned, "own"))).toBeUndefined();
  });

  it("rejects forms that say different things", () => {
    expect(differingField(reportOf(event, "own"), reportOf({ ...coreAlone, message: "else" }, "core"))).toBe("note");
    const other = { ...coreAlone, involvedObject: { kind: "Pod", name: "q" } };
    expect(differingField(reportOf(event, "own"), reportOf(other, "core"))).toBe("regarding");
    expect(differingField(reportOf(event, "own"), reportOf({ ...coreAlone, count: 3 }, "core"))).toBe(
      "deprecatedCount",
    );
  });
});

describe("isSelected", () => {
  it("compares the value at the path, and nothing with the empty text", () => {
    expect(isSelected(event, "regarding.name", "p")).toBe(true);
    expect(isSelected(event, "regarding.name", "q")).toBe(false);
    expect(isSelected(event, "regarding.uid", "")).toBe(true);
    expect(isSelected(event, "related.name", "")).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import { judgeNamed, judgeWarnings, warningTexts } from "./field-warnings.ts";

const first = '299 - "unknown field \\"metadata.zzMeta\\""';
const second = '299 - "duplicate field \\"data.zzTwice\\""';

describe("warningTexts", () => {
  it("reads items that come alone, repeated or joined, and takes the backslashes off", () => {
    const both = ['unknown field "metadata.zzMeta"', 'duplicate field "data.zzTwice"'];
    expect(warningTexts({})).toEqual([]);
    expect(warningTexts({ warning: first })).toEqual(both.slice(0, 1));
    expect(warningTexts({ warning: [first, second] })).toEqual(both);
    expect(warningTexts({ warning: `${first}, ${second}` })).toEqual(both);
    expect(warningTexts({ warning: `${first} "Sat, 25 Aug 2012 23:34:45 GMT"` })).toEqual(both.slice(0, 1));
  });

  it("does not overlook what is no item", () => {
    expect(warningTexts({ warning: "unknown field zzTop" })).toEqual(["(not a warning item)"]);
  });
});

describe("judgeWarnings", () => {
  it("accepts one item for each field, in any order, and none for none", () => {
    expect(judgeWarnings(["zzTwice", "zzMeta"], warningTexts({ warning: [first, second] }))).toBeUndefined();
    expect(judgeWarnings([], [])).toBeUndefined();
  });

  it("rejects a field without an item, an item without a field, two for one, and one for two", () => {
    const texts = warningTexts({ warning: [first, second] });
    expect(judgeWarnings(["zzMeta", "zzTwice", "zzTop"], texts)).toBeDefined();
    expect(judgeWarnings(["zzMeta"], texts)).toBeDefined();
    expect(judgeWarnings(["zzMeta"], [texts[0] as string, texts[0] as string])).toBeDefined();
    expect(judgeWarnings(["zzMeta", "zzTwice"], [texts.join(", ")])).toBeDefined();
  });

  it("does not take a longer name for the field's", () => {
    expect(judgeWarnings(["zzTop"], ['unknown field "zzTopmost"'])).toBeDefined();
  });
});

describe("judgeNamed", () => {
  it("accepts a message that names all", () => {
    const message = 'strict decoding error: unknown field "zzTop", unknown field "metadata.zzMeta"';
    expect(judgeNamed(["zzTop", "zzMeta"], message)).toBeUndefined();
  });

  it("rejects a message that names the first only, or that only repeats the document", () => {
    expect(judgeNamed(["zzTop", "zzMeta"], 'unknown field "zzTop"')).toBeDefined();
    expect(judgeNamed(["zzTop"], 'Invalid value: "{\\"zzTop\\":1}": no good')).toBeDefined();
  });
});

import { describe, expect, it } from "vitest";
import type { ApiList } from "../client/types.ts";
import { list, object } from "./hand-written.fixture.ts";
import {
  judgeConstantVersion,
  judgeEnd,
  judgeKeyOrder,
  judgePageSizes,
  judgeRemainingAbsent,
  judgeRemainingExact,
  judgeSnapshot,
} from "./page-law.ts";
import { stateOf } from "./replay.ts";

const page = (made: ApiList, fields: Partial<ApiList>): ApiList => ({ ...made, ...fields });
const first = page(list("9", "a@1", "b@2"), { continueToken: "t", remainingItemCount: 1 });
const last = list("9", "c@3");
const snapshot = stateOf([object("a@1"), object("b@2"), object("c@3")]);

describe("pages", () => {
  it("Pages - one snapshot in two pieces - accepts", () => {
    const pages = [first, last];
    expect(judgePageSizes(pages, 2)).toBeUndefined();
    expect(judgeConstantVersion(pages)).toBeUndefined();
    expect(judgeSnapshot(pages, snapshot)).toBeUndefined();
    expect(judgeEnd(pages, false)).toBeUndefined();
    expect(judgeRemainingAbsent(pages, false)).toBeUndefined();
    expect(judgeRemainingExact(pages)).toBeUndefined();
  });
  it("Page sizes - one item too many - rejects", () => {
    expect(judgePageSizes([first, last], 1)?.actual).toBe("2");
  });
  it("Constant version - a later page of a later version - rejects", () => {
    expect(judgeConstantVersion([first, list("10", "c@3")])?.actual).toContain("10");
  });
  it("Snapshot - an item lost between two pages - rejects", () => {
    expect(judgeSnapshot([first, list("9")], snapshot)?.expected).toContain("n/c");
  });
  it("Snapshot - an item on two pages - rejects", () => {
    expect(judgeSnapshot([first, list("9", "b@2", "c@3")], snapshot)?.expected).toContain("once");
  });
  it("Snapshot - an item that came after the first page - rejects", () => {
    expect(judgeSnapshot([first, list("9", "c@3", "d@10")], snapshot)?.actual).toContain("n/d");
  });
  it("Snapshot - an item in its later state - rejects", () => {
    expect(judgeSnapshot([first, list("9", "c@10")], snapshot)).toBeDefined();
  });
  it("End - a token that leads to an empty page - rejects", () => {
    expect(judgeEnd([first, page(last, { continueToken: "t" }), list("9")], false)).toBeDefined();
  });
  it("End - an empty last page of a list with a selector - accepts", () => {
    expect(judgeEnd([first, page(last, { continueToken: "t" }), list("9")], true)).toBeUndefined();
  });
  it("End - one page without anything - accepts; a second one without anything - rejects", () => {
    expect(judgeEnd([list("9")], false)).toBeUndefined();
    expect(judgeEnd([first, list("9")], false)).toBeDefined();
  });
  it("End - no end in sight - rejects", () => {
    expect(judgeEnd([first, first, first], true)).toBeDefined();
  });
  it("Remaining - left out everywhere - accepts", () => {
    const silent = [page(first, { remainingItemCount: undefined }), last];
    expect(judgeRemainingExact(silent)).toBeUndefined();
    expect(judgeRemainingAbsent(silent, false)).toBeUndefined();
  });
  it("Remaining - with a selector, or on the last page - rejects", () => {
    expect(judgeRemainingAbsent([first, last], true)?.expected).toContain("selector");
    expect(judgeRemainingAbsent([first, page(last, { remainingItemCount: 0 })], false)?.expected).toContain(
      "last page",
    );
  });
  it("Remaining - a count of something else - rejects", () => {
    expect(judgeRemainingExact([page(first, { remainingItemCount: 2 }), last])?.expected).toContain(
      "remainingItemCount 1",
    );
  });
});

describe("key order", () => {
  const inNamespace = (namespace: string, name: string) => object(`${name}@1`, { namespace });
  it("Key order - by bytes of namespace and name, where - comes before / - accepts", () => {
    const items = [
      inNamespace("a-b", "z"),
      inNamespace("a", "a"),
      inNamespace("a", "a-0"),
      inNamespace("a", "a.b"),
      inNamespace("a", "a0"),
    ];
    expect(judgeKeyOrder(items)).toBeUndefined();
  });
  it("Key order - by insertion - rejects", () => {
    expect(judgeKeyOrder([object("b@1"), object("a@2")])?.expected).toContain("n/a before n/b");
  });
  it("Key order - one key twice - rejects", () => {
    expect(judgeKeyOrder([object("a@1"), object("a@1")])).toBeDefined();
  });
});

import { describe, expect, it } from "vitest";
import { log, read, write } from "./hand-written.fixture.ts";
import { judgeRegisters } from "./register.ts";

const story = log("+a@1", "~a@2", "-a@3");
const create = write("create", "a@1", [1, 2]);
const patch = write("patch", "a@2", [5, 8]);
const remove = write("delete", "a@", [11, 12]);
const writes = [create, patch, remove];

describe("registers: writes", () => {
  it("Compare-and-set - from the version before - accepts", () => {
    expect(judgeRegisters(story, [create, { ...patch, demanded: "1" }, remove], [])).toBeUndefined();
  });
  it("Compare-and-set - without a change, from its own version - accepts", () => {
    expect(judgeRegisters(log("+a@1"), [create, write("put", "a@1", [3, 4], { demanded: "1" })], [])).toBeUndefined();
  });
  it("Compare-and-set - from an older version - rejects", () => {
    const stale = write("put", "a@9", [9, 10], { demanded: "1" });
    expect(judgeRegisters(log("+a@1", "~a@2", "~a@9"), [create, patch, stale], [])?.expected).toContain(
      "only from version 1",
    );
  });
  it("Compare-and-set - two from one version - rejects", () => {
    const both = [write("put", "a@2", [3, 8], { demanded: "1" }), write("put", "a@4", [3, 8], { demanded: "1" })];
    expect(judgeRegisters(log("+a@1", "~a@2", "~a@4"), [create, ...both], [])).toBeDefined();
  });
  it("Refusal 409 - the version had gone on by then - accepts", () => {
    expect(
      judgeRegisters(story, [...writes, write("put", "a@", [6, 9], { demanded: "1", status: 409 })], []),
    ).toBeUndefined();
  });
  it("Refusal 409 - the version was current all the while - rejects", () => {
    expect(
      judgeRegisters(story, [...writes, write("put", "a@", [3, 4], { demanded: "1", status: 409 })], []),
    ).toBeDefined();
  });
  it("Refusal 409 - a patch that demanded nothing - rejects", () => {
    expect(judgeRegisters(story, [...writes, write("patch", "a@", [6, 7], { status: 409 })], [])?.expected).toContain(
      "demanded no version",
    );
  });
  it("Refusal 409 of a create - the name was taken at some moment - accepts", () => {
    expect(judgeRegisters(story, [...writes, write("create", "a@", [3, 4], { status: 409 })], [])).toBeUndefined();
  });
  it("Refusal 409 of a create - the name was free - rejects", () => {
    expect(judgeRegisters(story, [...writes, write("create", "a@", [20, 21], { status: 409 })], [])).toBeDefined();
  });
  it("Refusal 404 - while it existed - rejects", () => {
    expect(judgeRegisters(story, [...writes, write("delete", "a@", [9, 10], { status: 404 })], [])).toBeDefined();
  });
  it("Refusal 404 - during its deletion - accepts", () => {
    expect(judgeRegisters(story, [...writes, write("delete", "a@", [11, 13], { status: 404 })], [])).toBeUndefined();
  });
  it("Lost answers - a deletion that may have come at any time later excuses a 404 - accepts", () => {
    const lost = write("delete", "a@", [3, undefined]);
    const after = write("patch", "a@", [20, 21], { status: 404 });
    expect(judgeRegisters(log("+a@1", "-a@3"), [create, lost, after], [])).toBeUndefined();
  });
  it("Other refusals - are not the register's question - accepts", () => {
    expect(judgeRegisters(story, [...writes, write("put", "a@", [3, 4], { status: 422 })], [])).toBeUndefined();
  });
});

describe("registers: of several objects", () => {
  const two = log("+a@1", "+b@2", "~a@3", "-b@4");
  const ofTwo = [
    create,
    write("create", "b@2", [3, 4]),
    write("put", "a@3", [5, 6], { demanded: "1" }),
    write("delete", "b@", [7, 8]),
  ];
  it("Several - each by itself - accepts", () => {
    const seen = [read("a@1", [3, 4]), read("b@", [1, 2], true), read("b@2", [5, 6]), read("b@", [9, 10], true)];
    expect(judgeRegisters(two, ofTwo, seen)).toBeUndefined();
    const absent = write("delete", "b@", [9, 10], { status: 404 }); // that a is there does not matter
    expect(judgeRegisters(two, [...ofTwo, absent], [])).toBeUndefined();
  });
  it("Several - the second is read after its deletion - rejects", () => {
    expect(judgeRegisters(two, ofTwo, [read("a@3", [7, 8]), read("b@2", [9, 10])])).toBeDefined();
  });
});

describe("registers: reads", () => {
  it.each([["the write first"], ["the write that changed nothing first"]])(
    "Read - absent after a write that a later one repeats without a change, %s - rejects",
    (order) => {
      const both = [create, write("put", "a@1", [5, 6])];
      const told = order === "the write first" ? both : both.toReversed();
      expect(judgeRegisters(log("+a@1"), told, [read("a@", [3, 4], true)])).toBeDefined();
      expect(judgeRegisters(log("+a@1"), told, [read("a@1", [3, 4])])).toBeUndefined();
    },
  );
  it("Read - the state before or after a write under way - accepts", () => {
    expect(judgeRegisters(story, writes, [read("a@1", [6, 7]), read("a@2", [6, 7])])).toBeUndefined();
  });
  it("Read - a state that an acknowledged write had replaced - rejects", () => {
    expect(judgeRegisters(story, writes, [read("a@1", [9, 10])])?.actual).toContain("it shows 1");
  });
  it("Read - a state that was not yet written - rejects", () => {
    expect(judgeRegisters(story, writes, [read("a@2", [3, 4])])).toBeDefined();
  });
  it("Read - a version that never was - rejects", () => {
    expect(judgeRegisters(story, writes, [read("a@7", [9, 10])])).toBeDefined();
  });
  it("Read - 404 before the create and after the deletion - accepts", () => {
    expect(
      judgeRegisters(
        story,
        [write("create", "a@1", [5, 6]), patch, remove],
        [read("a@", [1, 2], true), read("a@", [13, 14], true)],
      ),
    ).toBeUndefined();
  });
  it("Read - 404 between them - rejects", () => {
    expect(judgeRegisters(story, writes, [read("a@", [9, 10], true)])).toBeDefined();
  });
  it("Two reads - the new state, then the old one while the write is under way - rejects", () => {
    const slow = { ...patch, ended: 20 };
    const forth = [read("a@1", [6, 7]), read("a@2", [8, 9])];
    expect(judgeRegisters(log("+a@1", "~a@2"), [create, slow], forth)).toBeUndefined();
    const back = [read("a@2", [6, 7]), read("a@1", [8, 9])];
    expect(judgeRegisters(log("+a@1", "~a@2"), [create, slow], back)).toBeDefined();
  });
  it("Two reads at the same time - the new state and the old one - accepts", () => {
    const both = [read("a@2", [6, 9]), read("a@1", [7, 8])];
    expect(judgeRegisters(log("+a@1", "~a@2"), [create, { ...patch, ended: 20 }], both)).toBeUndefined();
  });
  it("Lost answers - read, then absent again although nothing was deleted - rejects", () => {
    const lost = write("create", "a@1", [3, undefined]);
    const reads = [read("a@1", [10, 11]), read("a@", [20, 21], true)];
    expect(judgeRegisters(log("+a@1"), [lost], reads)?.actual).toContain("it shows");
    expect(judgeRegisters(log("+a@1"), [lost], reads.toReversed().slice(1))).toBeUndefined();
  });
  it("Lost answers - absent between two reads of one life - rejects; after it, the lost deletion - accepts", () => {
    const lost = [write("create", "a@1", [1, undefined]), write("delete", "a@", [2, undefined])];
    const absentAt = (began: number) => read("a@", [began, began + 1], true);
    const seen = [read("a@1", [10, 11]), read("a@1", [30, 31])];
    expect(judgeRegisters(log("+a@1", "-a@2"), lost, [...seen, absentAt(20)])).toBeDefined();
    expect(judgeRegisters(log("+a@1", "-a@2"), lost, [...seen, absentAt(5), absentAt(40)])).toBeUndefined();
  });
  it("Lost answers - a refused compare-and-set has seen the lost write, a later read has not - rejects", () => {
    const lost = write("patch", "a@2", [3, undefined]);
    const refused = write("put", "a@", [6, 7], { demanded: "1", status: 409 });
    const two = log("+a@1", "~a@2");
    expect(judgeRegisters(two, [create, lost, refused], [read("a@2", [8, 9])])).toBeUndefined();
    expect(judgeRegisters(two, [create, lost], [read("a@1", [8, 9])])).toBeUndefined();
    expect(judgeRegisters(two, [create, lost, refused], [read("a@1", [8, 9])])).toBeDefined();
  });
  it("Lost answers - absent after a second life was read - rejects; before it - accepts", () => {
    const lost = [
      write("create", "a@1", [1, undefined]),
      write("delete", "a@", [2, undefined]),
      write("create", "a@3#2", [3, undefined]),
    ];
    const absentAt = (began: number) => read("a@", [began, began + 1], true);
    const lives = log("+a@1", "-a@2", "+a@3#2");
    expect(judgeRegisters(lives, lost, [read("a@3#2", [6, 7]), absentAt(8)])).toBeDefined();
    expect(judgeRegisters(lives, lost, [read("a@3#2", [6, 7]), absentAt(4)])).toBeUndefined();
  });
  it("Lost answers - absent before the first life was read, although it was made by then - rejects", () => {
    const lost = [
      create,
      write("delete", "a@", [3, undefined]),
      write("create", "a@3#2", [4, undefined]),
      write("delete", "a@", [5, undefined]),
    ];
    const lives = log("+a@1", "-a@2", "+a@3#2", "-a@4#2");
    const absentAt = (began: number) => read("a@", [began, began + 1], true);
    expect(judgeRegisters(lives, lost, [read("a@1", [8, 9]), absentAt(6)])).toBeDefined();
    expect(judgeRegisters(lives, lost, [read("a@1", [8, 9]), absentAt(10)])).toBeUndefined();
  });
  it("Lost answers - refused for the new version, then for the old one - rejects; the other way round - accepts", () => {
    const lost = write("patch", "a@2", [3, undefined]);
    const refused = (demanded: string, began: number) =>
      write("put", "a@", [began, began + 1], { demanded, status: 409 });
    const two = log("+a@1", "~a@2");
    expect(judgeRegisters(two, [create, lost, refused("1", 6), refused("2", 8)], [])).toBeDefined();
    expect(judgeRegisters(two, [create, lost, refused("2", 6), refused("1", 8)], [])).toBeUndefined();
  });
});
